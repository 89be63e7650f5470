"""Statistics of one call: the outcomes of its turns, as far as the server knows them. Pure.

A turn's latency runs from the end of speech, by the voice detector, to the first audio written to the socket. Only the
caller knows the delays of the network and the loudspeaker.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from latency.budget import P95_NEEDS, TURN_LIMIT
from latency.judge.llm_budget import Verdict, judge
from latency.record.marks import Mark
from latency.record.requests import RequestRecord
from latency.record.turn import ServerTurn
from latency.render.numbers import plural
from latency.report.stats import percentile
from voice.server.metrics import CallFigures, CallState

if TYPE_CHECKING:
    from pipelines.call_log.tracing import CallTrace

Outcome = Literal["answered", "interrupted", "unheard", "unanswered"]
"""The outcome of a turn: audio of its answer was sent; the user went on before that; no words were recognised in it;
or nothing was sent although words were recognised."""
UNHEARD = ("nothing_heard", "own_voice")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedTurn:
    """A turn to which nothing more can be added."""

    outcome: Outcome
    latency: float | None
    """Seconds; None without an answer, and for a turn that was typed."""
    verdict: Verdict | None
    """The verdict on its LLM budget; None if no model was asked, or it was interrupted before its deadline."""
    record: ServerTurn
    """The server's record of it."""

    @property
    def attempts(self) -> tuple[RequestRecord, ...]:
        """Its requests to language models."""
        return self.record.attempts


@dataclass(slots=True, kw_only=True)
class CallStatistics:
    """The turns of one call; each is counted as soon as the next one begins."""

    stop: float
    """Seconds of silence after which the voice detector reports the end of speech."""
    budget: float
    """Seconds of the language model's budget."""
    number: int = 1
    """Of the call, from 1."""
    began: float = 0.0
    count: Callable[[ClosedTurn], None] = lambda _: None
    """Called with each turn to which nothing more can be added."""
    count_missed: Callable[[], None] = lambda: None
    trace: "CallTrace | None" = None
    """None while calls are not traced."""
    closed: list[ClosedTurn] = field(default_factory=list)
    events_missed: int = 0
    """Events that made an observer fail."""
    _open: dict[int, ServerTurn] = field(default_factory=dict)
    _is_away: bool = False
    _latest: ServerTurn | None = None
    _answered_by: str | None = None

    def away(self, gone: bool) -> None:
        """Note that the client's connection has broken, or is back."""
        self._is_away = gone

    def missed(self) -> None:
        """Count an event that made an observer fail."""
        self.events_missed += 1
        self.count_missed()

    def note(self, turn: ServerTurn) -> None:
        """Note a changed turn; close those before it."""
        if self._latest is None or turn.turn >= self._latest.turn:
            self._latest = turn
            self._answered_by = answered_by(turn.attempts) or self._answered_by
        self._open[turn.turn] = turn
        self.close(before=max(self._open))

    def close(self, *, before: float = math.inf) -> None:
        """Close the turns before this one, or all."""
        for number in sorted(number for number in self._open if number < before):
            turn = closed(self._open.pop(number), stop=self.stop, budget=self.budget)
            if turn is not None:
                self.closed.append(turn)
                self.count(turn)
                if self.trace:
                    self.trace.turn(turn)

    def figures(self, now: float) -> CallFigures:
        """The figures of the call under way, its open turn included."""
        still_open = (closed(turn, stop=self.stop, budget=self.budget) for turn in self._open.values())
        turns = [turn for turn in (*self.closed, *filter(None, still_open)) if turn.outcome != "unheard"]
        latencies = [turn.latency for turn in turns if turn.latency is not None]
        return CallFigures(
            number=self.number,
            seconds=now - self.began,
            state="away" if self._is_away else _state(self._latest),
            turns=len(turns),
            typed=sum(turn.record.typed for turn in turns),
            late=sum(latency > TURN_LIMIT for latency in latencies),
            p50=percentile(latencies, 50),
            p95=percentile(latencies, 95) if len(latencies) >= P95_NEEDS else None,
            slowest=max(latencies, default=None),
            answered_by=self._answered_by,
        )

    def line(self, why: str, seconds: float) -> str:
        """The call in one line, for a log.

        Args:
            why: the reason of its end, as a clause.
            seconds: how long it lasted.
        """
        counts = Counter("typed" for turn in self.closed if turn.record.typed)
        counts.update(turn.outcome for turn in self.closed if turn.outcome != "answered")
        parts = [plural(len(self.closed), "turn") + _told(counts)]
        latencies = [1000 * turn.latency for turn in self.closed if turn.latency is not None]
        if latencies:
            parts.append(f"turn latency p50 {percentile(latencies, 50):.0f} p95 {percentile(latencies, 95):.0f} ms")
        if verdicts := Counter(turn.verdict for turn in self.closed if turn.verdict):
            parts.append(f"LLM budget{_told(verdicts)}")
        if (cost := self.usd) is not None:
            parts.append(f"cost ${cost:.4f}")
        if self.events_missed:
            parts.append(f"{plural(self.events_missed, 'event')} missed by observers")
        return f"ended after {seconds:.0f} s ({why}): {', '.join(parts)}"

    @property
    def usd(self) -> float | None:
        """The cost of its requests with known prices; None if no price is known."""
        known = [one.usd for turn in self.closed for one in turn.attempts if one.usd is not None]
        return sum(known) if known else None


def closed(turn: ServerTurn, *, stop: float, budget: float) -> ClosedTurn | None:
    """The turn with its outcome; None if it was never committed, such as speech at a call's end.

    Args:
        turn: the server's record of it.
        stop, budget: see `CallStatistics`.
    """
    if Mark.TURN_COMMIT not in turn.marks:
        return None
    judged = judge(turn, budget=budget) if turn.responses else None
    return ClosedTurn(
        outcome=_outcome(turn),
        latency=_latency(turn, stop),
        verdict=judged.verdict if judged else None,
        record=turn,
    )


def _outcome(turn: ServerTurn) -> Outcome:
    if Mark.FIRST_SENT in turn.marks:
        return "answered"
    if turn.ended_by in UNHEARD:
        return "unheard"
    return "interrupted" if turn.interrupted or turn.joined else "unanswered"


def _latency(turn: ServerTurn, stop: float) -> float | None:
    stopped, sent = turn.marks.get(Mark.VAD_STOP), turn.marks.get(Mark.FIRST_SENT)
    return None if stopped is None or sent is None else max(0.0, sent - (stopped - stop))


def _state(turn: ServerTurn | None) -> CallState:
    if turn is None or turn.final or turn.ended_by in UNHEARD or Mark.TURN_COMMIT not in turn.marks:
        return "listening"
    return "speaking" if Mark.FIRST_SENT in turn.marks else "answering"


def answered_by(attempts: Sequence[RequestRecord]) -> str | None:
    """The tier and the model whose words are spoken; None if no language model has answered (yet)."""
    spoken = [attempt for attempt in attempts if attempt.outcome == "spoken"]
    return " · ".join(filter(None, (spoken[0].tier, spoken[0].model))) or None if spoken else None


def _told(counts: Mapping[Any, int]) -> str:
    found = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f" ({found})" if found else ""
