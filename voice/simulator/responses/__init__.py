"""The simulator's Responses wire, over a WebSocket."""
