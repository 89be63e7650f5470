"""`latency whatif`: simulates the same turns with other language models and policies."""
