"""The languages that an agent speaks, and what it says of its own accord in each of them. Imports nothing heavy."""

from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "de"]
"""What `language` in a pipeline file may be (ISO 639-1)."""
NAMES: Mapping[str, str] = {"en": "English", "de": "German"}
"""Their names in English, by `Language`."""
