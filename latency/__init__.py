"""Latency of turns, measured in recordings, and the limits on it: reads runs, never drives anything."""
