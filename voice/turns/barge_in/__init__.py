"""Speech during an answer: its meaning, and whether it stops the answer."""
