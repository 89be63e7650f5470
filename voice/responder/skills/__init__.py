"""What the responder can do, a skill a module."""
