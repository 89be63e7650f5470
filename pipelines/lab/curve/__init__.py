"""`latency curve`: the delay of a rule for the end of a turn, and the pauses that it cuts off."""
