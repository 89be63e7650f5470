"""What a server records of its calls while they last: turns, metrics and traces."""
