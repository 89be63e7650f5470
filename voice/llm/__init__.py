"""Language: the models that answer the user, and the tools that they may call."""

CONTEXT_TURNS = 60
"""Default length of the conversation given to a language model, in turns."""
TOOL_ROUNDS = 8
"""Default limit of rounds of tool calls in one turn: each is a new, billed request."""
ENGLISH_ONLY = frozenset(("relay", "best_of", "draft_verify"))
"""Policies that judge drafts or openings by their words, in English only."""
ROUTING = frozenset(("routed", "adaptive"))
"""Policies that classify turns by the caller's words, in English only."""
