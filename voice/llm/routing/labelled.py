"""What callers say with the difficulty that a person gave it, to write the rules from and to test them.

The list was written before the rules and falls into two halves; the rules were written from the tuning half alone. Its
author is that of the rules, so the test half shows whether they carry over to other words, not how other people speak.
The indirect utterances were written after the rules, to show what rules by words miss.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, get_args

from voice.llm.routing.difficulty import DIFFICULTIES, Difficulty

Part = Literal["tuning", "test", "indirect"]
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True, slots=True)
class Utterance:
    """What a caller says.

    Parameters:
        difficulty: the class that a person gave it.
        text: the caller's words.
        part: which part of the lists it is in.
        asked: what the agent had said just before; None at the beginning of a call.
    """

    difficulty: Difficulty
    text: str
    part: Part
    asked: str | None = None


@cache
def utterances() -> tuple[Utterance, ...]:
    """All of them: the list in its two halves, and the indirect ones."""
    return *_read("utterances.txt", None), *_read("indirect.txt", "indirect")


def half_of(text: str) -> Part:
    """The half of a list in which an utterance is, by a hash of its words, so that a new line moves no other one."""
    return "test" if hashlib.sha256(text.casefold().encode()).digest()[0] & 1 else "tuning"


def _read(file: str, part: Part | None) -> list[Utterance]:
    lines = resources.files("voice.llm.routing").joinpath(file).read_text(encoding="utf-8").splitlines()
    return [_parsed(line, part) for line in lines if line.strip() and not line.startswith("#")]


def _parsed(line: str, part: Part | None) -> Utterance:
    difficulty, _, rest = line.partition(":")
    if difficulty not in DIFFICULTIES:
        raise ValueError(f'"{line}" begins with no difficulty; there are {", ".join(DIFFICULTIES)}')
    text, _, asked = rest.partition("|")
    words = text.strip()
    return Utterance(difficulty, words, part or half_of(words), asked.strip() or None)
