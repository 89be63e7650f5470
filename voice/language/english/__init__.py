"""Everything that English adds: its phrases, abbreviations, turn words and reading rules."""
