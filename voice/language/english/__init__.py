"""The English language: phrases, abbreviations, turn words and reading rules."""
