"""What the responder can do: one module per group of skills."""
