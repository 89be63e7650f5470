"""The simulator's Chat Completions wire."""
