"""The text of one answer as it streams in: cleaned, cut into clauses, and queued to be spoken."""

from collections.abc import Sequence

from pipecat.frames.frames import Frame

from voice.frames import AnswerTextFrame
from voice.language import Language
from voice.llm.answer.clauses import ClauseSplitter
from voice.llm.answer.introduction import Introduces, never, token_count
from voice.llm.policy.situation import RequestState
from voice.llm.streamed.cleaner import AnswerCleaner, Piece, Retraction
from voice.llm.streamed.written_calls import WrittenCall


class ClauseQueue:
    """A queue of whole clauses and of the answer's other frames, such as thoughts, in their order."""

    def __init__(self) -> None:
        self._pieces: list[Frame] = []
        self.begun = False
        """Whether any words were taken."""
        self._has_sentence = False

    def add(self, piece: Frame) -> None:
        """Add a piece at the end."""
        self._pieces.append(piece)

    def clear(self) -> None:
        """Drop everything not yet taken."""
        self._pieces = []

    def drop_words(self) -> int:
        """Drop the words not yet taken; returns how many clauses they completed."""
        dropped = sum(len(piece.clauses) for piece in self._pieces if isinstance(piece, AnswerTextFrame))
        self._pieces = [piece for piece in self._pieces if not isinstance(piece, AnswerTextFrame)]
        return dropped

    def take(self, *, first_sentence: bool = False) -> list[Frame]:
        """The pieces since the last call; on request, only those of the answer's first sentence."""
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
        """The words not yet taken."""
        return "".join(text for _, text in self._texts())

    @property
    def first_clause(self) -> str | None:
        """The first clause not yet taken."""
        pieces = (piece for piece in self._pieces if isinstance(piece, AnswerTextFrame))
        return next((clause for piece in pieces for clause in piece.clauses), None)

    def _texts(self) -> Sequence[tuple[int, str]]:
        """The texts, each with the number of pieces up to it."""
        return [(at, piece.text) for at, piece in enumerate(self._pieces, 1) if isinstance(piece, AnswerTextFrame)]


def ends_sentence(text: str) -> bool:
    """Whether a sentence ends with the text."""
    return text.rstrip("\"'”’) \n").endswith((".", "!", "?", "…"))


class StreamedText:
    """Releases text clause by clause, and records the times of the first token and clause in the request's state.

    An unfinished clause is held back, so that a stream that breaks inside it does not leave half a sentence.

    Args:
        state: that of the request.
        language: that of the answer.
        tools: names of the tools that the text may call.
        withholds: see `AnswerCleaner`.
        introduces: the seconds in which the rest of the clause must follow an introduction; None if that is not spoken
            alone.
    """

    def __init__(
        self,
        state: RequestState,
        *,
        language: Language = "en",
        tools: frozenset[str] = frozenset(),
        withholds: bool = False,
        introduces: Introduces = never,
    ) -> None:
        self._state = state
        self._language: Language = language
        self._introduces = introduces
        self._splitter = self._new_splitter()
        self.cleaner = AnswerCleaner(tools=tools, withholds=withholds)
        self.calls: list[WrittenCall] = []
        """The tool calls found in the text."""
        self.text = ""
        """All words so far."""
        self._given = 0
        self.speakable = ClauseQueue()

    def feed(self, text: str, now: float) -> bool:
        """Add text that arrived; returns whether it brought the first token or completed a clause."""
        return self._take_in(self.cleaner.feed(text), now)

    def end(self, now: float) -> None:
        """End the stream: the remaining text is a clause."""
        self._take_in(self.cleaner.flush(), now)
        last = self._splitter.flush()
        if self._state.clauses or last:
            self._give(len(self.text), [last] if last else [], now)

    def add_clause(self, clause: str, now: float) -> None:
        """Add a clause that is whole and clean."""
        self.text += f"{clause} "
        self._give(len(self.text), [clause], now)

    def _new_splitter(self) -> ClauseSplitter:
        state = self._state
        begun = state.continues is not None or state.opens or bool(state.clauses)
        return ClauseSplitter(begun=begun, language=self._language, goes_alone=self._goes_alone)

    def _goes_alone(self, text: str) -> bool:
        """Whether an introduction that has just arrived is spoken alone."""
        self._state.introduction = self._introduces(text)
        return self._state.introduction is not None

    def _take_in(self, pieces: Sequence[Piece], now: float) -> bool:
        progress = False
        for piece in pieces:
            match piece:
                case str():
                    progress |= self._add_words(piece, now)
                case Retraction():
                    self._retract(piece.length, now)
                case WrittenCall():
                    self.calls.append(piece)
        return progress

    def _retract(self, length: int, now: float) -> None:
        """Drop the last words, which were thoughts, unless they have been taken."""
        taken = self._given - len(self.speakable.text)
        kept = self.text[taken : max(taken, len(self.text) - length)]
        self._state.clauses -= self.speakable.drop_words()
        self.text, self._given = self.text[:taken], taken
        self._splitter = self._new_splitter()
        if not self._state.clauses:
            self._state.first_token = self._state.first_clause = self._state.introduction = None
        if kept:
            self._add_words(kept, now)

    def _add_words(self, text: str, now: float) -> bool:
        progress = False
        if self._state.first_token is None and text.strip():
            self._state.first_token, progress = now, True
        elif text.strip():
            self._state.tokens += token_count(text)
            self._state.last_token = now
        if self._state.continues is not None and not self.text and not text[0].isspace():
            text = f" {text}"
        self.text += text
        if finished := self._splitter.feed(text):
            # White space after the clause belongs to it.
            until = len(self.text) - len(self._splitter.pending) + 1
            self._give(min(until, len(self.text)), finished, now)
        return progress or bool(finished)

    def _give(self, until: int, clauses: Sequence[str], now: float) -> None:
        """Release the text up to a position, and the clauses that it completes."""
        self._state.clauses += len(clauses)
        if clauses and self._state.first_clause is None:
            self._state.first_clause = now
        elif clauses and self._state.introduction is not None and self._state.continued is None:
            self._state.continued = now
        if text := self.text[self._given : until]:
            self.speakable.add(AnswerTextFrame(text, clauses=tuple(clauses)))
        self._given = until
