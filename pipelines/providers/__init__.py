"""Providers of language models that a pipeline can name: settings, and how each is reached."""
