"""The patterns for the difficulty of a turn, from `checkable.toml` and `careful.toml`. English only.

The listener can check the answer to a checkable utterance at once; only a whole utterance can match. Careful words show
that an error would matter; turns that they miss are open, never easy.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import cast

from voice.llm.routing.difficulty import Difficulty

_NUMBER = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|"
    r"eigh|nine)ty|hundred|thousand|million|half|quarter|third|dozen)"
)
_DOMAINS: tuple[Difficulty, ...] = ("health", "money", "law")
_TASKS: tuple[Difficulty, ...] = ("steps", "numbers")

Pattern = tuple[Difficulty, re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class CarefulWords:
    """The patterns of `careful.toml`, compiled.

    Parameters:
        domains: subjects in which every word counts, those that may hurt somebody first.
        tasks: tasks in which a mistake goes unnoticed; not applied to small commands.
        harmless: harmless sayings with serious words.
    """

    domains: tuple[Pattern, ...]
    tasks: tuple[Pattern, ...]
    harmless: re.Pattern[str]


@cache
def careful_words() -> CarefulWords:
    """The patterns of careful words; read and compiled once."""
    table = _table("careful.toml")

    def compiled(name: str) -> re.Pattern[str]:
        joined = "|".join(table[name]).replace("NUMBER", _NUMBER)
        return re.compile(rf"(?<![\w'])(?:{joined})(?![\w'])")

    domains, tasks = (tuple((name, compiled(name)) for name in names) for names in (_DOMAINS, _TASKS))
    return CarefulWords(domains, tasks, compiled("harmless"))


@cache
def checkable_utterances() -> tuple[Pattern, ...]:
    """The patterns for each kind of whole utterance, in the order of trial."""
    kinds = _table("checkable.toml").items()
    return tuple((cast(Difficulty, kind), re.compile("|".join(f"(?:{one})" for one in ones))) for kind, ones in kinds)


def _table(name: str) -> dict[str, list[str]]:
    return tomllib.loads(resources.files("voice.llm.routing").joinpath(name).read_text(encoding="utf-8"))
