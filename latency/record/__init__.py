"""The content of a run folder: turns with their marks, sessions, the run itself; the only home of its formats."""
