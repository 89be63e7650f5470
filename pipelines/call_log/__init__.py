"""Records calls while they last: turns, metrics and traces."""
