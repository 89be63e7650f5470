"""The embedded backend: answers known kinds of requests without a language model, and carries them out."""

RESPONDER = "responder"
"""Its tier name in reports."""
