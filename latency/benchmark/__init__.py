"""The figures of a benchmark: our agent beside others, and the worth of each of its parts."""
