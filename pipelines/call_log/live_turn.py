"""A turn in progress on the server, and its report for the client. Pure: times are passed in.

Times are seconds on the server's monotonic clock.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from latency.record.marks import Mark, Marks
from latency.record.requests import AnswerPart, RequestOutcome, RequestRecord
from latency.record.turn import (
    CheckRecord,
    EndedBy,
    HangRecord,
    OverlapRecord,
    ServerTurn,
    SmartTurnOpinion,
    SpeculationRecord,
    Stall,
    TurnReport,
)
from voice.frames import RequestsFrame
from voice.turns.turn_so_far import joined

Stalls = Callable[[float, float], Sequence[Stall]]
"""The stalls of the event loop that ended after the first instant and not after the second; see
`voice.server.event_loop`."""


@dataclass(slots=True)
class LiveTurn:
    """One user turn and its answer, as far as the server knows them."""

    number: int
    marks: Marks = field(default_factory=Marks)
    heard: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    played: list[str] = field(default_factory=list)
    """The part of the answer that the context keeps: the words whose audio was played."""
    ended_by: EndedBy | None = None
    smart_turn: SmartTurnOpinion | None = None
    speculation: SpeculationRecord | None = None
    """None for a server that does not speculate."""
    silent_since: float | None = None
    """When the latest silence began, by the voice detector."""
    ahead_since: float | None = None
    """When the pending speculative answer was requested."""
    interrupted: bool = False
    typed: bool = False
    """Whether it was typed, not spoken."""
    joined: bool = False
    """Whether it continues the turn before it, which was committed too early."""
    part: AnswerPart | None = None
    """Which part of a longer answer its answer is."""
    checks: list[CheckRecord] = field(default_factory=list)
    """The checks of its words."""
    held: float | None = None
    """Seconds that its answer waited for the last of them; None if it did not wait."""
    failed: str | None = None
    hung: HangRecord | None = None
    final: bool = False
    tier: str | None = None
    """The name of the tier, for a model that does not report its requests in `RequestsFrame`s."""
    llm_end: float | None = None
    contexts: set[str] = field(default_factory=set)
    """The TTS contexts that speak this turn's answer."""
    awaits_context: bool = False
    apologises: bool = False
    """Whether the language model failed before its first token, so that the speech is not its answer."""
    opening: list[str] = field(default_factory=list)
    """Phrases spoken because no answer was ready."""
    opening_seconds: float = 0.0
    opening_contexts: set[str] = field(default_factory=set)
    answers: dict[int, RequestsFrame] = field(default_factory=dict)
    """The latest frame of each answer, by the answer's number in the call; after a tool a turn has several answers."""
    models: Mapping[str, str] = field(default_factory=dict)
    """The model of each tier."""
    answer_sampled: bool = False
    overlaps: dict[float, OverlapRecord] = field(default_factory=dict)
    """The caller's sounds during its answer, by their onset."""
    stalls: Stalls | None = None
    """None when the event loop is not watched."""
    since: float = -math.inf
    """When the previous turn was last reported: this turn reports the stalls from then on."""
    until: float = math.inf

    @property
    def awaits_answer(self) -> bool:
        """Whether a language model is still answering, or its first words are still to be spoken."""
        if any(not frame.final for frame in self.answers.values()):
            return True
        return bool(self.opening) and not self.answer_sampled and not self.failed

    @property
    def first_spoken(self) -> RequestRecord | None:
        """The attempt whose text was spoken first."""
        attempts = (attempt for frame in self.answers.values() for attempt in frame.attempts)
        return next((attempt for attempt in attempts if attempt.outcome == "spoken"), None)

    def report(self) -> TurnReport:
        """The turn's report for the client."""
        stalls = None if self.stalls is None else tuple(self.stalls(self.since, self.until))
        turn = ServerTurn(
            turn=self.number,
            final=self.final,
            marks=Marks(self.marks),
            heard=joined(self.heard),
            said=" ".join(self.said),
            played=" ".join(self.played),
            opening=" ".join(self.opening) or None,
            opening_seconds=round(self.opening_seconds, 4) or None,
            ended_by=self.ended_by or ("timeout" if Mark.TURN_COMMIT in self.marks and not self.typed else None),
            smart_turn=self.smart_turn,
            speculation=self.speculation,
            interrupted=self.interrupted,
            typed=self.typed,
            joined=self.joined,
            overlaps=tuple(self.overlaps.values()),
            part=self.part,
            checks=self._checks(),
            failed=self.failed,
            hung=self.hung,
            attempts=self._attempts(),
            answer_pending=self.awaits_answer,
            responses=tuple(frame.answer for frame in self.answers.values()),
            stalls=None if stalls is None else len(stalls),
        )
        return TurnReport(turn=turn, stalls=stalls or ())

    def _checks(self) -> tuple[CheckRecord, ...]:
        if self.held is None or not self.checks:
            return tuple(self.checks)
        return (*self.checks[:-1], replace(self.checks[-1], held_ms=round(self.held * 1000, 1)))

    def _model(self, attempt: RequestRecord) -> str | None:
        """The model that answered; a proxy may have renamed a simulated one."""
        model = self.models.get(attempt.tier or "")
        return f"sim:{model}" if model and attempt.simulated and not model.startswith("sim:") else model

    def _attempts(self) -> tuple[RequestRecord, ...]:
        if self.answers:
            attempts = (attempt for frame in self.answers.values() for attempt in frame.attempts)
            return tuple(replace(one, model=self._model(one)) for one in attempts)
        if Mark.LLM_REQUEST not in self.marks or (self.part and self.part.number > 1):
            # The rest of an answer is already complete.
            return ()
        attempt = RequestRecord(
            tier=self.tier,
            request=self.marks[Mark.LLM_REQUEST],
            first_token=self.marks.get(Mark.LLM_FIRST_TOKEN),
            first_clause=self.marks.get(Mark.LLM_FIRST_CLAUSE),
            end=self.llm_end,
            outcome=self._outcome(),
        )
        return (attempt,)

    def _outcome(self) -> RequestOutcome:
        if self.apologises:
            return "failed"
        return "spoken" if self.said else "cancelled" if self.interrupted else "silent"
