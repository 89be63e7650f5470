"""OpenAI's protocols, Chat Completions and Responses, on connections that are opened before they are needed."""
