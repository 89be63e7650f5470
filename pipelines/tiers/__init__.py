"""The tiers of a pipeline: their table in its file, and the service that asks them under a policy."""
