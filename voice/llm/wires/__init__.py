"""How a language model is reached: over Chat Completions, Responses or Anthropic's Messages, or in this process.

What servers send is read tolerantly into a few typed events, the same for every protocol.
"""
