"""How a call goes on when nobody speaks, how it ends, and what is kept of its words."""

STILL_THERE = "Are you still there?"
"""What a caller who says nothing is asked. Here, so that settings are read without importing pipecat."""
