"""The embedded backend: answers known kinds of requests without a language model, and really does what it says."""

RESPONDER = "responder"
"""Its name among the tiers of a report."""
