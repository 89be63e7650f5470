"""The catalogue of tiers in pipelines: which tiers can run here, and `voice tiers`."""
