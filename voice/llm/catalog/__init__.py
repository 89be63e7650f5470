"""The catalogue of tiers: which models can be bought at which speed, and the published figures of each."""
