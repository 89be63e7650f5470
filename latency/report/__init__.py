"""A run's figures, as data only."""
