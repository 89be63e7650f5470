"""`latency probe`: measures the user's tiers, and stores the figures in place of the published ones."""
