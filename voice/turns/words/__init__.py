"""What the words before a silence say about what follows. Pure, and for English only."""
