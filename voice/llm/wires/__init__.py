"""Access to a language model: over Chat Completions, Responses or Anthropic's Messages, or in this process.

Server output is parsed tolerantly into a few typed events, common to all protocols.
"""
