"""Speech during an answer: what it means, and whether it stops the answer."""
