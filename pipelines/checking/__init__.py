"""What a pipeline needs on this machine and whether it is there: files, keys, and language model servers."""
