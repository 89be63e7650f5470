"""The responder's skills: one module per group."""
