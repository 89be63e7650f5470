"""How difficult a turn is for a language model: classes by what a wrong answer would do. Values only."""

from dataclasses import dataclass
from typing import Literal, get_args

Difficulty = Literal[
    "small talk", "time", "repeat", "reply", "command",
    "open",
    "money", "health", "law", "numbers", "steps", "tool",
]  # fmt: skip
"""What a turn is about: five classes whose answer the listener can check at once, the rest, and six that need care."""
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
CHECKABLE: frozenset[Difficulty] = frozenset(DIFFICULTIES[:5])
"""A mistake is noticed at once and costs a repetition: a fast model may answer. A "reply" confirms or fills in
something harmless; a "command" can be taken back."""
CAREFUL: frozenset[Difficulty] = frozenset(DIFFICULTIES[6:])
"""A mistake may cost money, health or a right, is not noticed (numbers, steps), or cannot be undone (a tool)."""
Side = Literal["fast", "open", "large"]
"""Where a turn goes: to the fast tier; to the large one if it is in time; to the large one whatever happens."""
SIDES: tuple[Side, ...] = get_args(Side)


@dataclass(frozen=True, slots=True)
class Assessment:
    """How difficult a turn is, and what shows it.

    Parameters:
        difficulty: its class.
        evidence: the words that decided; "" when it is open because nothing did.
        asked: the agent's own question decided, and not the caller's reply to it.
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
    """Where a class goes."""
    return "fast" if difficulty in CHECKABLE else "large" if difficulty in CAREFUL else "open"
