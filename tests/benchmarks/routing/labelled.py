"""Utterances with a person's labels of difficulty, and how often the rules agree with them.

The list was written before the rules and has two halves; the rules were written from the tuning half alone. List and
rules have the same author, so the test half shows whether the rules carry over to other words, not how other people
speak. The indirect utterances were written after the rules, to show the limits of rules by words.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from voice.llm.routing.assess import assess
from voice.llm.routing.difficulty import DIFFICULTIES, SIDES, Difficulty, Side, side_of

Part = Literal["tuning", "test", "indirect"]
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True, slots=True)
class Utterance:
    """A caller's utterance.

    Parameters:
        difficulty: the class that a person gave it.
        text: the caller's words.
        part: its part of the lists.
        asked: the agent's words just before; None at the beginning of a call.
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
    """The half of a list for an utterance, by a hash of its words, so that a new line moves no other one."""
    return "test" if hashlib.sha256(text.casefold().encode()).digest()[0] & 1 else "tuning"


def _read(file: str, part: Part | None) -> list[Utterance]:
    lines = Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines()
    return [_parsed(line, part) for line in lines if line.strip() and not line.startswith("#")]


def _parsed(line: str, part: Part | None) -> Utterance:
    difficulty, _, rest = line.partition(":")
    if difficulty not in DIFFICULTIES:
        raise ValueError(f'"{line}" begins with no difficulty; there are {", ".join(DIFFICULTIES)}')
    text, _, asked = rest.partition("|")
    words = text.strip()
    return Utterance(difficulty, words, part or half_of(words), asked.strip() or None)


@dataclass(frozen=True, slots=True)
class Confusion:
    """The confusion matrix of a person's routing and the rules'.

    Parameters:
        counts: the number of utterances by (a person's side, the rules' side).
        wrong: the utterances that the rules routed differently, each with the rules' class.
    """

    counts: Counter[tuple[Side, Side]]
    wrong: tuple[tuple[Utterance, Difficulty], ...]

    def row(self, side: Side) -> tuple[int, ...]:
        """How many utterances of a person's side the rules sent to each of `SIDES`."""
        return tuple(self.counts[side, sent] for sent in SIDES)

    def share(self, side: Side, *sent: Side) -> float | None:
        """The share of a person's side that the rules sent to one of the sides `sent`; None without utterances."""
        of = sum(self.row(side))
        return sum(self.counts[side, one] for one in sent) / of if of else None


def confusion(utterances: Iterable[Utterance]) -> Confusion:
    """Compare the rules with a person."""
    found = [(one, assess(one.text, asked=one.asked).difficulty) for one in utterances]
    sides = Counter((side_of(one.difficulty), side_of(by_rules)) for one, by_rules in found)
    wrong = tuple((one, by_rules) for one, by_rules in found if side_of(one.difficulty) != side_of(by_rules))
    return Confusion(sides, wrong)
