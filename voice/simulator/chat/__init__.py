"""Chat Completions as the simulator speaks it."""
