"""OpenAI's Responses, on WebSockets opened in advance."""
