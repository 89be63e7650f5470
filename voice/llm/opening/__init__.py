"""Openings: what may be said while the answer is made, how it is asked for, and how an answer takes it back."""
