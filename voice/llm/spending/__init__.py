"""Limits on the cost of calls: the caps, the sums, and the tier that answers once a cap is reached."""
