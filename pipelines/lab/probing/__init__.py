"""`latency probe`: measures the user's own tiers, and keeps the figures in place of the published ones."""
