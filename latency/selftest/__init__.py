"""`latency selftest`: recordings with known gaps, measured as every run is."""
