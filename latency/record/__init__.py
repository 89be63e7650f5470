"""The content of a run folder and its formats: turns with their marks, sessions, the run itself."""
