"""Checks whether this machine has what a pipeline needs: files, keys and language model servers."""
