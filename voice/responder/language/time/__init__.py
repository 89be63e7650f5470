"""Times of day, days, durations and time zones in words."""
