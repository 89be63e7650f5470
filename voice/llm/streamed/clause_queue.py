"""The pieces of an answer that are ready to be spoken, in order. Pure."""

from collections.abc import Sequence

from pipecat.frames.frames import Frame

from voice.frames import AnswerTextFrame


class ClauseQueue:
    """A queue of whole clauses and of the answer's other frames, such as thoughts, which keep their place."""

    def __init__(self) -> None:
        self._pieces: list[Frame] = []
        self.begun = False
        """Whether any words were taken."""
        self._has_sentence = False

    def add(self, piece: Frame) -> None:
        """Add a piece at the end."""
        self._pieces.append(piece)

    def clear(self) -> None:
        """Drop what was not taken."""
        self._pieces = []

    def drop_words(self) -> int:
        """Drop the words that were not taken; returns how many clauses they completed."""
        dropped = sum(len(piece.clauses) for piece in self._pieces if isinstance(piece, AnswerTextFrame))
        self._pieces = [piece for piece in self._pieces if not isinstance(piece, AnswerTextFrame)]
        return dropped

    def take(self, *, first_sentence: bool = False) -> list[Frame]:
        """The pieces since the last call; only those of the answer's first sentence if asked for."""
        until = len(self._pieces)
        if first_sentence:
            until = 0 if self._has_sentence else next((at for at, text in self._texts() if ends_sentence(text)), until)
        taken, self._pieces = self._pieces[:until], self._pieces[until:]
        texts = [piece.text for piece in taken if isinstance(piece, AnswerTextFrame)]
        self.begun = self.begun or bool(texts)
        self._has_sentence = self._has_sentence or any(map(ends_sentence, texts))
        return taken

    @property
    def text(self) -> str:
        """The words that were not taken yet."""
        return "".join(text for _, text in self._texts())

    @property
    def first_clause(self) -> str | None:
        """The first clause that was not taken yet."""
        pieces = (piece for piece in self._pieces if isinstance(piece, AnswerTextFrame))
        return next((clause for piece in pieces for clause in piece.clauses), None)

    def _texts(self) -> Sequence[tuple[int, str]]:
        """The texts, each with the number of pieces up to it."""
        return [(at, piece.text) for at, piece in enumerate(self._pieces, 1) if isinstance(piece, AnswerTextFrame)]


def ends_sentence(text: str) -> bool:
    """Whether a sentence ends with the text."""
    return text.rstrip("\"'”’) \n").endswith((".", "!", "?", "…"))
