"""OpenAI's Responses, on WebSockets that are opened before they are needed."""
