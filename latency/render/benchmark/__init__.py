"""A benchmark for people, as tables for each language model, and for programs, as JSON."""
