"""`latency measure` and `latency analyse`: any agent's latency, judged from the recording of a call alone."""
