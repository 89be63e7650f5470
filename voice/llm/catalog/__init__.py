"""The catalogue of tiers: the models on offer, their speeds and their published figures."""
