"""Several drafts of one answer: how they are asked for, checked and compared."""
