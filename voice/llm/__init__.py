"""Language: what answers the user, and the tools it may call."""
