"""`latency curve`: what a rule for the end of a turn costs in delay, and how many pauses it cuts off."""
