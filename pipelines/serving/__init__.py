"""Server processes: `voice serve` and `voice simulate`."""
