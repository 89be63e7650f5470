"""The tiers of a call: one language model to the pipeline, several inside, and changes to them during the call."""
