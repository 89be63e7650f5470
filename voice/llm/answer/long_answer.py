"""Divides a long answer into parts while it streams in. Pure.

The speaking time is estimated, as the text is not synthesised yet. The cut is the last end of a sentence before the
limit; a much longer sentence ("1, 2, 3, …") is cut at a clause.
"""

from dataclasses import dataclass, replace

from voice.llm.answer.clauses import CLOSERS, SECONDS_PER_CHARACTER, SENTENCE_MARKS

DIGIT = 5
"""The weight of a digit, in characters: with the embedded voice "1, 2, 3, … 20." (70 characters) takes 10.7 s, a
sentence of 101 letters 5.9 s."""
LEAST_REST = 0.2
"""The share of the limit below which the rest is spoken without asking."""
LEAST_PART = 0.5
"""The least share of the limit that a part must have before a question, even if the next sentence is long."""
RUN_ON = 1.5
"""The multiple of the limit at which a sentence is cut at a clause."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Streamed text and the clauses that it completes."""

    text: str
    clauses: tuple[str, ...] = ()


def speaking_seconds(text: str) -> float:
    """The approximate speaking time of a text."""
    return SECONDS_PER_CHARACTER * (len(text.strip()) + (DIGIT - 1) * sum(char.isdigit() for char in text))


class Part:
    """An answer, or the rest of one, as it streams in.

    Args:
        limit: seconds that are spoken before the caller is asked whether to go on.
        number: which part of its answer it is, from 1.
    """

    def __init__(self, limit: float, *, number: int = 1) -> None:
        self.number = number
        self._limit = limit
        self._seconds = 0.0
        self._at_border = False
        self._pending: list[Piece] = []
        """Text of an unfinished clause."""
        self._held = 0.0
        self._holds = self._whole = self._cut = self._released = False
        self.rest: list[Piece] = []
        """The pieces held back."""

    @property
    def asks(self) -> bool:
        """Whether to ask the caller whether to go on: enough text is held back."""
        return self._held >= LEAST_REST * self._limit and self._holds

    @property
    def can_go_on(self) -> bool:
        """Whether the rest of the answer has arrived in full."""
        return self.asks and self._whole

    def take(self, piece: Piece) -> list[Piece]:
        """Take the next text of the answer; returns the pieces to speak now."""
        return [spoken for single in _single(piece) for spoken in self._take(single)]

    def end(self) -> list[Piece]:
        """End the answer; returns the pieces still to be spoken."""
        self._whole = not self._cut
        pending, self._pending = self._pending, []
        if self.asks:
            self.rest += pending
            return []
        return [*self.release(), *pending]

    def release(self) -> list[Piece]:
        """Release the pieces held back, unless the caller is to be asked; called in a silence and at the answer's end.

        So a model slower than speech is never interrupted by the question.
        """
        if self.asks:
            return []
        released, self.rest = self.rest, []
        self._released, self._holds = self._released or bool(released), False
        return released

    def cut(self) -> None:
        """The answer is interrupted; no more text will come."""
        self._cut = self._cut or not self._whole

    def _take(self, piece: Piece) -> list[Piece]:
        if self._holds:
            self._hold(piece)
            return []
        if not piece.clauses:
            if not self._at_border:
                return [piece]
            self._pending.append(piece)
            return []
        (clause,) = piece.clauses
        seconds = self._seconds + speaking_seconds(clause)
        pieces, self._pending = [*self._pending, piece], []
        limit = self._limit if self._at_border else RUN_ON * self._limit
        if self._seconds >= LEAST_PART * self._limit and seconds > limit and not self._released:
            self._holds = True
            for held in pieces:
                self._hold(held)
            return []
        self._seconds = seconds
        self._at_border = clause.rstrip(CLOSERS)[-1:] in SENTENCE_MARKS
        return pieces

    def _hold(self, piece: Piece) -> None:
        self.rest.append(piece)
        self._held += sum(speaking_seconds(clause) for clause in piece.clauses)


def _single(piece: Piece) -> list[Piece]:
    """Split a piece into pieces of one clause each, as far as the clauses are found in its text."""
    single, at = list[Piece](), 0
    for clause, following in zip(piece.clauses, piece.clauses[1:], strict=False):
        found = piece.text.find(clause, at)
        end = piece.text.find(following, found + len(clause)) if found >= 0 else -1
        if end < 0:
            break
        single.append(Piece(piece.text[at:end], (clause,)))
        at = end
    left = piece.clauses[len(single) :]
    if len(left) <= 1:
        return [*single, Piece(piece.text[at:], left)]
    # Their positions are unknown: they stay together.
    return [*single, replace(piece, text=piece.text[at:], clauses=(" ".join(left),))]
