"""What calls may cost: the caps, the sums that are held against them, and the tier that answers once one is reached."""
