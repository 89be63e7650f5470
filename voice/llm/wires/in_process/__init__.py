"""A language model in this process: a GGUF file, shared by all calls."""
