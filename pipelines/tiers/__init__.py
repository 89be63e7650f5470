"""The tiers of a pipeline: their table in the file, and the service that asks them under a policy."""
