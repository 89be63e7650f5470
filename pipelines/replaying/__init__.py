"""`voice replay`: recorded conversations through a real server, into a run folder and a report."""
