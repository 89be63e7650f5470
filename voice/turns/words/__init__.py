"""What the words before a silence, and the words over an answer, say: pure, with the words of each language."""
