"""The figures of a benchmark: our agent beside others, and what each of its parts is worth."""
