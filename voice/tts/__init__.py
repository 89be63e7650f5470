"""Speech: cutting text into clauses that can be spoken, and speaking them."""
