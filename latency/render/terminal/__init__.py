"""The report of a run for people, in a terminal or a pipe."""
