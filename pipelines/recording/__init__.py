"""`voice record`: recordings of a person's own voice, made by reading prompts."""

from pathlib import Path

PROMPTS = Path(__file__).with_name("prompts.txt")
"""The prompts, one a line, if the user has none."""
