"""The German language: phrases, abbreviations, turn words and reading rules."""
