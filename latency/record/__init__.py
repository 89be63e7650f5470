"""What a run folder holds: turns with their marks, sessions, the run itself; written once, read by everything else."""
