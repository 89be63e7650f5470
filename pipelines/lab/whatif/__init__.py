"""`latency whatif`: what other language models and policies would make of the same turns."""
