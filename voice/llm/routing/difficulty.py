"""The difficulty of a turn for a language model: classes by the consequences of a wrong answer. Values only."""

from dataclasses import dataclass
from typing import Literal, get_args

Difficulty = Literal[
    "small talk", "time", "repeat", "reply", "command",
    "open",
    "money", "health", "law", "numbers", "steps", "tool",
]  # fmt: skip
"""The classes of turns: five whose answer the listener can check at once, one for the rest, and six that need care."""
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
CHECKABLE: frozenset[Difficulty] = frozenset(DIFFICULTIES[:5])
"""Mistakes are noticed at once and cost only a repetition: a fast model may answer. A "reply" confirms or fills in
something harmless; a "command" can be undone."""
CAREFUL: frozenset[Difficulty] = frozenset(DIFFICULTIES[6:])
"""Mistakes may cost money, health or a right, go unnoticed (numbers, steps), or cannot be undone (a tool)."""
Side = Literal["fast", "open", "large"]
"""The routes: to the fast tier; to the large one if it is in time; to the large one in any case."""
SIDES: tuple[Side, ...] = get_args(Side)


@dataclass(frozen=True, slots=True)
class Assessment:
    """The difficulty of a turn, and the evidence for it.

    Parameters:
        difficulty: its class.
        evidence: the words that decided; "" if nothing did and the turn is open.
        asked: whether the agent's question decided, not the caller's reply.
    """

    difficulty: Difficulty
    evidence: str = ""
    asked: bool = False

    @property
    def is_checkable(self) -> bool:
        """Whether a fast model may answer alone."""
        return self.difficulty in CHECKABLE

    @property
    def needs_care(self) -> bool:
        """Whether the large model must answer."""
        return self.difficulty in CAREFUL


def side_of(difficulty: Difficulty) -> Side:
    """The route of a class."""
    return "fast" if difficulty in CHECKABLE else "large" if difficulty in CAREFUL else "open"
