"""Language: what answers the user, and the tools it may call."""

CONTEXT_TURNS = 60
"""The longest conversation that a language model is given, in turns, unless set."""
TOOL_ROUNDS = 8
"""How often a model may call tools in one turn unless set: each time it is asked anew, and billed."""
