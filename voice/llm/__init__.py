"""Language: what answers the user, and the tools it may call."""

CONTEXT_TURNS = 60
"""The longest conversation that a language model is given, in turns, unless set."""
TOOL_ROUNDS = 8
"""How often a model may call tools in one turn unless set: each time it is asked anew, and billed."""
ENGLISH_ONLY = frozenset(("relay", "best_of", "draft_verify"))
"""Policies that judge drafts or openings by their words, which they know in English only."""
ROUTING = frozenset(("routed", "adaptive"))
"""Policies that tell turns apart by the caller's words, in English only."""
