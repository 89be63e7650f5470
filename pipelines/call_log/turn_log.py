"""Collects the instants and texts of each turn on the server, in order. Pure: times are passed in.

A turn opens when the user starts to speak or sends a typed turn, and lasts until the next one. Times are seconds on the
server's monotonic clock.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from latency.record.marks import Mark
from latency.record.requests import AnswerPart
from latency.record.turn import HEARING, CheckRecord, HangRecord, SmartTurnOpinion, SpeculationRecord
from pipelines.call_log.live_turn import LiveTurn, Stalls
from voice.frames import OverlapFrame, RequestsFrame, TurnEndFrame
from voice.turns.turn_follower import TurnFollower


class TurnLog(TurnFollower[LiveTurn]):
    """The turns of one call. A method returns a turn if it is to be reported.

    Args:
        tier: the name of the tier, for a model that does not report its requests in `RequestsFrame`s.
        models: the model of each tier.
        stalls: finds the event loop's stalls; None when the loop is not watched.
        speculates: whether answers are started before the commit.
        began: when the call began; earlier stalls concern other calls.
        synthesised: called with the seconds from an answer's first clause to its first sample, which deadlines
            include: once for each turn, and only if no phrase was spoken before the answer, which would wait for it.
    """

    def __init__(
        self,
        *,
        tier: str,
        models: Mapping[str, str] | None = None,
        stalls: Stalls | None = None,
        speculates: bool = False,
        began: float = -math.inf,
        synthesised: Callable[[float], None] = lambda _: None,
    ) -> None:
        self.tier = tier
        self._speculates = speculates
        self.models = models or {}
        self._stalls, self._synthesised = stalls, synthesised
        self._finished = began
        self._answered: dict[int, LiveTurn] = {}
        self.turn: LiveTurn | None = None
        self._speaking: LiveTurn | None = None
        """The turn that is being spoken while a typed one is answered; usually None."""
        self._sounding: LiveTurn | None = None
        """The turn whose answer was sent last; a new turn may have begun since."""
        self._count = 0
        self._overlapped: LiveTurn | None = None
        """The turn whose answer the caller speaks over, or last spoke over."""
        self._contexts: set[str] = set()
        """The TTS contexts that have spoken: a turn's answer is spoken in a new one."""
        self._undecided: list[Callable[[], None]] | None = None
        """The notes on speech that may become a turn; None if there is none."""

    def turn_opened(self, now: float) -> LiveTurn | None:
        """Open a turn; the previous one is over, and interrupted if the bot had not finished its answer."""
        before = self._over(now)
        self.turn, self._speaking = self._next(), None
        noted, self._undecided = self._undecided or [], None
        for note in noted:
            note()
        return before

    def typed(self, text: str, now: float) -> LiveTurn:
        """Add a typed turn, which is complete at once; speech under way becomes the turn after it."""
        if self.turn and not self.turn.final and Mark.TURN_COMMIT not in self.turn.marks:
            self._speaking = self.turn
        else:
            self._over(now)
        turn = self.turn = self._next()
        if self._speaking:
            turn.number, self._speaking.number = self._speaking.number, turn.number
        turn.typed, turn.heard = True, [text]
        turn.marks[Mark.TURN_COMMIT] = now
        return turn

    def _over(self, now: float) -> LiveTurn | None:
        """End the latest turn; returns it if it was open."""
        before = self.turn if self.turn and not self.turn.final else None
        if before:
            before.interrupted = Mark.LLM_REQUEST in before.marks
            before.final = True
            self._finished = now
        if self.turn:
            self.turn.until = self._finished
        return before

    def _next(self) -> LiveTurn:
        number, self._count = self._count, self._count + 1
        turn = LiveTurn(number, tier=self.tier, models=self.models, stalls=self._stalls, since=self._finished)
        if self._speculates:
            turn.speculation = SpeculationRecord()
        return turn

    @property
    def _spoken(self) -> LiveTurn | None:
        """The turn to which the present speech belongs."""
        return self._speaking or self.turn

    def overlapped(self, frame: OverlapFrame) -> LiveTurn | None:
        """Note the caller's sound during an answer, or the decision on it.

        Later notes belong to the next turn if the sound becomes one.
        """
        record = frame.record
        if self._overlapped is None or record.onset not in self._overlapped.overlaps:
            self._overlapped = self._sounding
        if frame.awaits and self._undecided is None:
            self._undecided = []
        elif record.verdict == "resumed" and not frame.awaits:
            self._undecided = None
        if self._overlapped:
            self._overlapped.overlaps[record.onset] = record
        return self._overlapped

    def joins(self) -> None:
        """Note that the turn continues the one before it, which was committed too early."""
        if self.turn:
            self.turn.joined = True

    def mark_last(self, mark: Mark, now: float) -> None:
        """Note an instant of which the last before the commit counts (`VAD_STOP`, `TRANSCRIPT_FINAL`)."""
        if (turn := self._spoken) and Mark.TURN_COMMIT not in turn.marks:
            turn.marks[mark] = now

    def mark_first(self, mark: Mark, now: float) -> None:
        """Note an instant of which the first counts."""
        if self.turn and not self.turn.final:
            self.turn.marks.setdefault(mark, now)

    def speech_stopped(self, now: float, silence: float) -> None:
        """Note that the voice detector has heard `silence` seconds of silence."""
        if self._undecided is not None:
            self._undecided.append(lambda: self.speech_stopped(now, silence))
            return
        self.mark_last(Mark.VAD_STOP, now)
        if (turn := self._spoken) and Mark.TURN_COMMIT not in turn.marks:
            turn.silent_since = turn.marks[Mark.SPEECH_END] = now - silence

    def heard(self, now: float, text: str, *, final: bool = True, revised: bool = False) -> None:
        """Note a transcript of the turn or of a part of it; `revised` if it replaces the latest one."""
        if self._undecided is not None:
            self._undecided.append(lambda: self.heard(now, text, revised=revised))
            return
        if (turn := self._spoken) and Mark.TURN_COMMIT not in turn.marks:
            turn.heard[-1 if revised else len(turn.heard) :] = [text]
            turn.marks[Mark.TRANSCRIPT_FINAL] = now

    def speech_may_have_stopped(self, now: float, silence: float) -> None:
        """Note the hint that speech may have ended, after a short silence."""
        if self._undecided is not None:
            self._undecided.append(lambda: self.speech_may_have_stopped(now, silence))
            return
        self.mark_last(Mark.EAGER_HINT, now)
        if (turn := self._spoken) and turn.speculation and Mark.TURN_COMMIT not in turn.marks:
            turn.speculation = replace(turn.speculation, hints=turn.speculation.hints + 1)

    def asked_ahead(self, now: float) -> None:
        """Note the request of a speculative answer."""
        if turn := self._spoken:
            turn.ahead_since = now

    def withdrawn(self) -> None:
        """Discard the speculative answer."""
        if turn := self._spoken:
            turn.ahead_since, turn.part = None, None
            if turn.speculation:
                turn.speculation = replace(turn.speculation, spoken_ahead=False)

    def checked(self, record: CheckRecord) -> LiveTurn | None:
        """Note a check of the turn's words."""
        if turn := self._spoken:
            turn.checks.append(record)
        return turn

    def held(self, seconds: float) -> None:
        """Note that the turn's answer waited for the check."""
        if turn := self.turn:
            turn.held = seconds

    def corrected(self, text: str) -> LiveTurn | None:
        """Note the corrected words of the committed turn, which is answered anew."""
        self.withdrawn()
        turn = self.turn
        if turn:
            turn.heard = [text]
            turn.marks.pop(Mark.LLM_REQUEST, None)
            turn.llm_end = None
            if ahead := turn.speculation:
                discarded = ahead.discarded + ahead.used
                turn.speculation = replace(ahead, used=False, request=None, discarded=discarded)
        return turn

    def turn_closed(self, now: float) -> None:
        """Commit the turn; a speculative answer that was not discarded answers it."""
        if self._speaking:
            self._over(now)
            self.turn, self._speaking = self._speaking, None
        turn = self.turn
        self.mark_last(Mark.TURN_COMMIT, now)
        if turn and turn.ahead_since is not None:
            self.asked(now)
            turn.marks[Mark.LLM_REQUEST] = turn.ahead_since
            if turn.speculation:
                turn.speculation = replace(turn.speculation, used=True, request=turn.ahead_since)
            turn.ahead_since = None

    def in_part(self, part: AnswerPart) -> None:
        """Note that the answer is part of a longer one."""
        if self.turn:
            self.turn.part = part

    def spoken_ahead(self) -> None:
        """Note that the first clause of a speculative answer went to synthesis."""
        turn = self.turn
        if turn and turn.speculation and Mark.TURN_COMMIT not in turn.marks:
            turn.speculation = replace(turn.speculation, spoken_ahead=True)

    def asked(self, now: float) -> None:
        """Note a request to the language model: the first, or one with a tool's result.

        pipecat announces the commit directly after the first request.
        """
        if self.turn:
            self.turn.marks.setdefault(Mark.TURN_COMMIT, now)
            self.turn.marks.setdefault(Mark.LLM_REQUEST, now)
            # Words before the tool ("Let me see.") may already have been spoken.
            self.turn.final = False
            self.turn.awaits_context = True

    def tool_began(self, now: float, name: str, *, awaited: bool = True) -> None:
        """Note the start of a tool; only one that runs before any speech delays the turn."""
        if self.turn and not self.turn.marks.keys() & {Mark.LLM_FIRST_TOKEN, Mark.CLAUSE_TO_TTS}:
            self.mark_first(Mark.TOOL_CALLED, now)

    def tool_ended(self, now: float, name: str, *, goes_on: bool) -> None:
        """Note the end of a tool."""
        turn = self.turn
        if turn and Mark.TOOL_CALLED in turn.marks and Mark.LLM_FIRST_TOKEN not in turn.marks:
            turn.marks[Mark.TOOL_RETURNED] = now

    def attempted(self, frame: RequestsFrame) -> LiveTurn | None:
        """Note the state of the requests for an answer; they belong to the turn in which their first frame came."""
        number = frame.answer.response
        turn = None if number is None else self._answered.get(number, self.turn)
        if number is None or turn is None:
            return None
        if frame.final:
            self._answered.pop(number, None)
        else:
            self._answered[number] = turn
        turn.answers[number] = frame
        spoken = turn.first_spoken
        if spoken is None:
            # A speculative answer that was chosen has been discarded since.
            turn.marks.pop(Mark.LLM_FIRST_TOKEN, None)
            turn.marks.pop(Mark.CLAUSE_READY, None)
        elif spoken.first_token is not None:
            # Its text was there before it was chosen.
            turn.marks[Mark.LLM_FIRST_TOKEN] = spoken.first_token
        if spoken and spoken.first_clause is not None:
            turn.marks[Mark.CLAUSE_READY] = spoken.first_clause
        return turn

    def turn_ended(self, now: float, end: TurnEndFrame) -> LiveTurn | None:
        """Note what ended the turn; follows its commit."""
        turn = self.turn
        if turn is None or turn.typed:
            return None
        turn.ended_by, turn.failed = end.ended_by, end.failed
        if end.silence is not None and turn.silent_since is not None:
            enough = turn.silent_since + end.silence
            turn.marks[Mark.SILENT_ENOUGH] = min(enough, turn.marks.get(Mark.TURN_COMMIT, enough))
        if end.probability is not None and end.inference is not None:
            turn.smart_turn = SmartTurnOpinion(
                probability=round(end.probability, 4),
                ms=round(end.inference * 1000, 1),
                finished=None if end.finished is None else round(end.finished, 4),
                silence_ms=None if end.silence is None else round(end.silence * 1000),
            )
        if turn.speculation:
            turn.speculation = replace(
                turn.speculation, started=end.speculated, discarded=end.discarded, early=end.early
            )
        return turn

    def text_came(self, now: float, *, clauses: int) -> None:
        """Note text from the language model."""
        self.mark_first(Mark.LLM_FIRST_TOKEN, now)

    def model_failed(self, now: float, reason: str, *, clauses: int = 0) -> LiveTurn | None:
        """Note that the language model gave no answer or only part of one; an apology follows."""
        turn = self.turn
        if not turn or Mark.LLM_REQUEST not in turn.marks:
            return None
        turn.failed = reason
        turn.llm_end = now
        turn.apologises = Mark.LLM_FIRST_TOKEN not in turn.marks
        return turn

    def hung(self, hang: HangRecord, reason: str, now: float) -> LiveTurn:
        """Note that a part hung; if the pipeline could not begin the caller's turn, the turn begins here."""
        if self.turn is None or (self.turn.final and hang.part in HEARING):
            self.turn_opened(now)
        turn = self.turn
        assert turn is not None
        turn.hung, turn.failed = hang, reason
        turn.final = turn.final or hang.ended_call
        return turn

    def model_ended(self, now: float) -> None:
        """Note that the language model's answer is complete; after tool calls, the last one counts."""
        if self.turn and Mark.LLM_REQUEST in self.turn.marks:
            self.turn.llm_end = now

    def speech_begun(self, now: float, text: str, context: str | None, *, of_answer: bool = True) -> None:
        """Note that a clause, or a phrase that bridges the wait for the answer, was handed to TTS.

        Only the first new context after a request is the answer. Speech of any other context belongs to no turn: it is
        a timer, or the rest of an answer that the caller speaks over.
        """
        turn, is_new = self.turn, context not in self._contexts
        if not of_answer:
            if turn and context is not None and Mark.LLM_FIRST_CLAUSE not in turn.marks:
                turn.opening.append(text)
                turn.opening_contexts.add(context)
                self.mark_first(Mark.CLAUSE_TO_TTS, now)
            return
        if context is not None:
            self._contexts.add(context)
        if not turn or context is None:
            return
        if turn.awaits_context and is_new:
            turn.contexts.add(context)
            turn.awaits_context = False
            self.mark_first(Mark.CLAUSE_TO_TTS, now)
            if not turn.apologises:
                self.mark_first(Mark.LLM_FIRST_CLAUSE, now)
        if context in turn.contexts:
            turn.said.append(text)

    def speech_made(self, now: float, seconds: float, context: str | None) -> None:
        """Note that TTS produced `seconds` of samples for a context."""
        turn = self.turn
        if turn and context in turn.opening_contexts:
            turn.opening_seconds += seconds
            self.mark_first(Mark.TTS_FIRST_SAMPLE, now)
        elif turn and context in turn.contexts:
            begun = turn.marks.get(Mark.CLAUSE_TO_TTS)
            if begun is not None and not (
                turn.opening or turn.failed is not None or Mark.TTS_FIRST_SAMPLE in turn.marks
            ):
                self._synthesised(now - begun)
            self.mark_first(Mark.TTS_FIRST_SAMPLE, now)
            turn.answer_sampled = True

    def agent_started(self, now: float) -> LiveTurn | None:
        """Note that the first audio of an utterance is about to be written to the socket."""
        turn = self.turn
        if turn and Mark.TTS_FIRST_SAMPLE in turn.marks and Mark.FIRST_SENT not in turn.marks:
            turn.marks[Mark.FIRST_SENT] = now
            self._sounding = turn
            return turn
        return None

    def played(self, text: str) -> LiveTurn | None:
        """Note the words of an answer that the user heard; after an interruption they arrive in the next turn."""
        if self._sounding:
            self._sounding.played.append(text)
        return self._sounding

    def silenced(self, now: float) -> LiveTurn | None:
        """Note that the client asked for silence, which interrupts the answer although nobody speaks."""
        turn = self.turn
        if turn is None or turn.final or Mark.LLM_REQUEST not in turn.marks:
            return None
        turn.interrupted = True
        if Mark.FIRST_SENT not in turn.marks:
            turn.final = True
            self._finished = now
        return turn

    def agent_stopped(self, now: float) -> LiveTurn | None:
        """Note that the bot's utterance was sent in full or interrupted."""
        turn = self.turn
        if turn and Mark.FIRST_SENT in turn.marks and not turn.final and not turn.awaits_answer:
            turn.final = True
            self._finished = now
            return turn
        return None
