"""What became of each turn, judged from its recording and its marks."""
