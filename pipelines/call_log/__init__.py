"""What is known of a call while it lasts: its turns, its figures in metrics and log, its traces."""
