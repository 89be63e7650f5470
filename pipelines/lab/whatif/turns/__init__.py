"""The turns that are held: those of a recorded run, or the usual ones."""
