"""The Responses WebSocket as the simulator speaks it."""
