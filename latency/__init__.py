"""Latency of turns, measured in recordings, and its limits: reads runs, and never drives a call."""
