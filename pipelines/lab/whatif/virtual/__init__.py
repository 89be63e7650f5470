"""Turns on a virtual clock: the real policies over requests that the simulator's latency models time."""
