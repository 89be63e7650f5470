"""How difficult a turn is, by what the caller said, and so which model may answer it. Pure."""
