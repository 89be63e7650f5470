"""Anthropic's Messages as a tier: streamed, at either speed, on open connections."""
