"""The text of one answer as it streams in: cleaned, cut into clauses, and queued to be spoken."""

from collections.abc import Sequence

from voice.frames import AnswerTextFrame
from voice.language import Language
from voice.llm.answer.clauses import ClauseSplitter
from voice.llm.policy.situation import RequestState
from voice.llm.streamed.clause_queue import ClauseQueue
from voice.llm.streamed.cleaner import AnswerCleaner, Piece, Retraction
from voice.llm.streamed.written_calls import WrittenCall


class StreamedText:
    """Releases text clause by clause, and notes in the request's state when its first token and clause came.

    An unfinished clause cannot be spoken yet, and a stream that breaks inside a clause must not leave half a sentence.

    Args:
        state: that of the request.
        language: that of the answer.
        tools: names of the tools whose calls may stand in the text.
        withholds: see `AnswerCleaner`.
    """

    def __init__(
        self,
        state: RequestState,
        *,
        language: Language = "en",
        tools: frozenset[str] = frozenset(),
        withholds: bool = False,
    ) -> None:
        self._state = state
        self._language: Language = language
        self._splitter = self._new_splitter()
        self.cleaner = AnswerCleaner(tools=tools, withholds=withholds)
        self.calls: list[WrittenCall] = []
        """The tool calls that stood in the text."""
        self.text = ""
        """All its words so far."""
        self._given = 0
        self.speakable = ClauseQueue()

    def feed(self, text: str, now: float) -> bool:
        """Add text that arrived; returns whether it brought the first token or completed a clause."""
        return self._take_in(self.cleaner.feed(text), now)

    def end(self, now: float) -> None:
        """The stream ended: what is left is a clause."""
        self._take_in(self.cleaner.flush(), now)
        last = self._splitter.flush()
        if self._state.clauses or last:
            self._give(len(self.text), [last] if last else [], now)

    def add_clause(self, clause: str, now: float) -> None:
        """Add a clause that is known to be whole and clean."""
        self.text += f"{clause} "
        self._give(len(self.text), [clause], now)

    def _new_splitter(self) -> ClauseSplitter:
        state = self._state
        begun = state.continues is not None or state.opens or bool(state.clauses)
        return ClauseSplitter(begun=begun, language=self._language)

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
        """Drop the last words, as far as they were not taken to be spoken: they were thought."""
        taken = self._given - len(self.speakable.text)
        kept = self.text[taken : max(taken, len(self.text) - length)]
        self._state.clauses -= self.speakable.drop_words()
        self.text, self._given = self.text[:taken], taken
        self._splitter = self._new_splitter()
        if not self._state.clauses:
            self._state.first_token = self._state.first_clause = None
        if kept:
            self._add_words(kept, now)

    def _add_words(self, text: str, now: float) -> bool:
        progress = False
        if self._state.first_token is None and text.strip():
            self._state.first_token, progress = now, True
        if self._state.continues is not None and not self.text and not text[0].isspace():
            text = f" {text}"
        self.text += text
        if finished := self._splitter.feed(text):
            # The white space that follows the clause belongs to it, if it is there.
            until = len(self.text) - len(self._splitter.pending) + 1
            self._give(min(until, len(self.text)), finished, now)
        return progress or bool(finished)

    def _give(self, until: int, clauses: Sequence[str], now: float) -> None:
        """Release the text up to a position, with the clauses that it completes."""
        self._state.clauses += len(clauses)
        if clauses and self._state.first_clause is None:
            self._state.first_clause = now
        if text := self.text[self._given : until]:
            self.speakable.add(AnswerTextFrame(text, clauses=tuple(clauses)))
        self._given = until
