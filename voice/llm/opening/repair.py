"""Takes words that were said back openly where the answer contradicts them, and notes that. Pure."""

from collections.abc import Callable
from dataclasses import replace

from voice.frames import AnswerTextFrame
from voice.llm.opening.rules import REPAIR, contradicts, is_repair


class Repair:
    """Watches the first words of an answer that follows an opening, or the first sentence of a draft.

    Args:
        said: the words that were said.
        denied: whether what was said is contradicted by the first clause of the answer.
    """

    def __init__(self, said: str, *, denied: Callable[[str, str], bool] = contradicts) -> None:
        self._said, self._denied = said, denied
        self._begun = False
        self.words: str | None = None
        """The words that take them back; None when nothing does."""

    def apply(self, piece: AnswerTextFrame) -> AnswerTextFrame:
        """The piece, which begins with a repair if it is the first one and silently contradicts what was said."""
        if self._begun or not piece.clauses:
            return piece
        self._begun = True
        first, *rest = piece.clauses
        if is_repair(first):
            self.words = first
            return piece
        if not self._denied(self._said, first):
            return piece
        lead = len(piece.text) - len(piece.text.lstrip())
        text = f"{piece.text[:lead]}{REPAIR} {_inside(piece.text[lead:])}"
        self.words = f"{REPAIR} {_inside(first)}"
        return replace(piece, text=text, clauses=(self.words, *rest))


def _inside(text: str) -> str:
    """A sentence as it goes on after a first word."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    is_name = first.casefold() in ("i", "i'm", "i'll", "i've") or (first[1:] and first != first.capitalize())
    return text if is_name else text[:1].lower() + text[1:]
