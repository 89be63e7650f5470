"""OpenAI's Chat Completions, on connections that are kept open."""
