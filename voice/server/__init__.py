"""The server: WebSocket calls and health. It takes a session factory and knows no assembly."""
