"""The languages that an agent speaks, with its fixed phrases in each. Imports nothing heavy."""

from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "de"]
"""The values of `language` in a pipeline file (ISO 639-1)."""
NAMES: Mapping[str, str] = {"en": "English", "de": "German"}
"""Their names in English, by `Language`."""
