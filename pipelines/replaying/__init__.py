"""`voice replay`: plays recorded conversations to a real server, and writes a run folder and a report."""
