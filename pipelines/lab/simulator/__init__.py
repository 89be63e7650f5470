"""`voice simulate`: language model servers on loopback with the published latencies of real ones, and with faults."""
