"""A run's figures, data only."""
