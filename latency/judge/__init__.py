"""Judges turns: latency and cut-offs, barge-ins, the LLM budget, right answers, unexplained time."""
