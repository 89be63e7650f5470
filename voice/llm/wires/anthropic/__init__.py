"""Anthropic's Messages as a tier: streamed, at either speed, on connections that are kept open."""
