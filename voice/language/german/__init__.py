"""Everything that German adds: its phrases, abbreviations, turn words and reading rules."""
