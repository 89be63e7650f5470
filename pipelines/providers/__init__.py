"""Providers of language models that a pipeline can name: their settings and connections."""
