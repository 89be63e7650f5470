"""OpenAI's protocols: Chat Completions and Responses, on connections that are open before they are needed."""
