"""What callers say with the difficulty that a person gave it, in two halves: one to write rules from, one to test them.

The list was written before the rules, and by the same author: the halves show whether the rules carry over to words
that they were not written from, not how other people speak.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, cast

from voice.llm.routing.difficulty import DIFFICULTIES, Difficulty

Half = Literal["tuning", "test"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """What a caller says.

    Parameters:
        difficulty: the class that a person gave it.
        text: the caller's words.
        asked: what the agent had said just before; None at the beginning of a call.
    """

    difficulty: Difficulty
    text: str
    asked: str | None = None

    @property
    def half(self) -> Half:
        """Which half it is in, by a hash of its words, so that a new line moves no other one."""
        return "test" if hashlib.sha256(self.text.casefold().encode()).digest()[0] & 1 else "tuning"


@cache
def utterances() -> tuple[Utterance, ...]:
    """The whole list."""
    lines = resources.files("voice.llm.routing").joinpath("utterances.txt").read_text(encoding="utf-8").splitlines()
    return tuple(_parsed(line) for line in lines if line.strip() and not line.startswith("#"))


def _parsed(line: str) -> Utterance:
    difficulty, _, rest = line.partition(":")
    if difficulty not in DIFFICULTIES:
        raise ValueError(f'"{line}" begins with no difficulty; there are {", ".join(DIFFICULTIES)}')
    text, _, asked = rest.partition("|")
    return Utterance(cast(Difficulty, difficulty), text.strip(), asked.strip() or None)
