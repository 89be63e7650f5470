"""Watches the event loop that serves all calls: how busy it is, and what blocked it."""
