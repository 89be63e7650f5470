"""The timing of simulated models: published latencies, faults, cached prefixes."""
