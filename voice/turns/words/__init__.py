"""The analysis of words before a silence and over an answer: pure, with word lists for each language."""
