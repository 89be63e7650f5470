"""Models that can be pulled by name: their table, their place on this machine, and their download."""
