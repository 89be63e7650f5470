"""Whole utterances whose answer the listener can check at once. English only; nothing is easy by a part of it."""

import re
import tomllib
from functools import cache
from importlib import resources
from typing import cast

from voice.llm.routing.difficulty import Difficulty


@cache
def whole() -> tuple[tuple[Difficulty, re.Pattern[str]], ...]:
    """The patterns of each kind (`checkable.toml`), in the order in which they are tried."""
    text = resources.files("voice.llm.routing").joinpath("checkable.toml").read_text(encoding="utf-8")
    kinds = tomllib.loads(text).items()
    return tuple((cast(Difficulty, kind), re.compile("|".join(f"(?:{one})" for one in ones))) for kind, ones in kinds)
