"""When a simulated model does what: published latencies, faults, cached prefixes."""
