"""Language: what answers the user, and the tools it may call."""

CONTEXT_TURNS = 60
"""The longest conversation that a language model is given, in turns, unless set."""
