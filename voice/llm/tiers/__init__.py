"""The tiers of a call: one language model to the pipeline, several inside, and what changes them in mid-call."""
