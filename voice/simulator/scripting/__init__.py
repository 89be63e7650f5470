"""What a simulated model says: answers, openings, verdicts."""
