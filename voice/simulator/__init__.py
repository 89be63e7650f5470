"""The simulator: language model servers on loopback with the published latencies and faults of the real ones."""
