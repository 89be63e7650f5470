"""Words that show that an error would matter. English only; what they miss is open, never easy."""

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
_DOMAINS = ("health", "money", "law")
_TASKS = ("steps", "numbers")

Pattern = tuple[Difficulty, re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class CarefulWords:
    """The patterns of `careful.toml`, compiled.

    Parameters:
        domains: subjects in which every word counts; what may hurt somebody comes first.
        tasks: tasks in which a mistake is not noticed; for words that are no small command.
        harmless: sayings whose words would sound serious.
    """

    domains: tuple[Pattern, ...]
    tasks: tuple[Pattern, ...]
    harmless: re.Pattern[str]


@cache
def careful_words() -> CarefulWords:
    """The patterns; read and compiled once."""
    text = resources.files("voice.llm.routing").joinpath("careful.toml").read_text(encoding="utf-8")
    table: dict[str, list[str]] = tomllib.loads(text)

    def compiled(name: str) -> Pattern:
        return cast(Difficulty, name), _whole_words(table[name])

    return CarefulWords(tuple(map(compiled, _DOMAINS)), tuple(map(compiled, _TASKS)), _whole_words(table["harmless"]))


def _whole_words(patterns: list[str]) -> re.Pattern[str]:
    joined = "|".join(patterns).replace("NUMBER", _NUMBER)
    return re.compile(rf"(?<![\w'])(?:{joined})(?![\w'])")
