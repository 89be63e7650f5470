"""Many callers at once: what was observed of them, and the figures that follow from it."""
