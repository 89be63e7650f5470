"""Server processes: calls served, turns observed and reported to the client."""
