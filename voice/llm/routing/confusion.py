"""How often the rules send an utterance where a person would; that counts, and not the exact class."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from voice.llm.routing.assess import assess
from voice.llm.routing.difficulty import CAREFUL, CHECKABLE, Difficulty
from voice.llm.routing.labelled import Utterance

Side = Literal["fast", "open", "large"]
"""Where a turn goes: to the fast tier; to the large one if it is in time; to the large one whatever happens."""
SIDES: tuple[Side, ...] = get_args(Side)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Utterances by where a person would send them and where the rules did.

    Parameters:
        counts: how many, by (a person's side, the rules' side).
        wrong: those that went elsewhere, each with the rules' class.
    """

    counts: Counter[tuple[Side, Side]]
    wrong: tuple[tuple[Utterance, Difficulty], ...]

    def row(self, side: Side) -> tuple[int, ...]:
        """How many of a person's side went to each of `SIDES`."""
        return tuple(self.counts[side, sent] for sent in SIDES)

    def share(self, side: Side, *sent: Side) -> float | None:
        """The share of a person's side that went to one of the sides `sent`; None without utterances."""
        of = sum(self.row(side))
        return sum(self.counts[side, one] for one in sent) / of if of else None


def side_of(difficulty: Difficulty) -> Side:
    """Where a class goes."""
    return "fast" if difficulty in CHECKABLE else "large" if difficulty in CAREFUL else "open"


def confusion(utterances: Iterable[Utterance]) -> Confusion:
    """Compare the rules with a person."""
    found = [(one, assess(one.text, asked=one.asked).difficulty) for one in utterances]
    sides = Counter((side_of(one.difficulty), side_of(by_rules)) for one, by_rules in found)
    wrong = tuple((one, by_rules) for one, by_rules in found if side_of(one.difficulty) != side_of(by_rules))
    return Confusion(sides, wrong)
