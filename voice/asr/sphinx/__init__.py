"""PocketSphinx: worker processes, the recogniser of a call, and its language model."""
