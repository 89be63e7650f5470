"""The catalogue of tiers in pipelines: what a tier's name stands for, and `voice tiers`."""
