"""What became of the turns of one call, as far as its server knows. Pure.

A turn's latency is that from the end of speech, as the voice detector heard it, to the first audio that was written to
the socket: what the network and the loudspeaker add is known to the caller alone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from latency.judge.llm_budget import Verdict, judge
from latency.record.marks import Mark
from latency.record.requests import RequestRecord
from latency.record.turn import ServerTurn
from latency.render.numbers import plural
from latency.report.stats import percentile

Outcome = Literal["answered", "interrupted", "unheard", "unanswered"]
"""What became of a turn: audio of its answer was sent; the user went on before that; no words were recognised in it;
or nothing was sent although words were recognised."""
UNHEARD = ("nothing_heard", "own_voice")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedTurn:
    """A turn to which nothing can be added any more."""

    outcome: Outcome
    latency: float | None
    """Seconds; None without an answer, and for a turn that was typed."""
    verdict: Verdict | None
    """How it kept its LLM budget; None if no model was asked, or it was interrupted before its deadline."""
    record: ServerTurn
    """All that is known of it."""

    @property
    def attempts(self) -> tuple[RequestRecord, ...]:
        """Its requests to language models."""
        return self.record.attempts


@dataclass(slots=True)
class CallAccount:
    """The turns of one call.

    Args:
        stop: seconds of silence after which the voice detector reports the end of speech.
        budget: seconds that the language model has.
    """

    stop: float
    budget: float
    closed: list[ClosedTurn] = field(default_factory=list)
    missed: int = 0
    """Events that an observer could not take."""
    _open: dict[int, ServerTurn] = field(default_factory=dict)

    def note(self, turn: ServerTurn) -> None:
        """A turn has changed."""
        self._open[turn.turn] = turn

    def close(self, *, before: int | None = None) -> Iterator[ClosedTurn]:
        """Close the turns before this one, or all, and return them."""
        for number in sorted(self._open):
            if before is None or number < before:
                turn = closed(self._open.pop(number), stop=self.stop, budget=self.budget)
                if turn is not None:
                    self.closed.append(turn)
                    yield turn

    @property
    def turns(self) -> list[ClosedTurn]:
        """All turns as they are now, also those to which something may be added."""
        now = (closed(turn, stop=self.stop, budget=self.budget) for turn in self._open.values())
        return [*self.closed, *filter(None, now)]

    @property
    def latest(self) -> int:
        """The number of the latest turn that is open; 0 without any."""
        return max(self._open, default=0)

    def line(self, why: str, seconds: float) -> str:
        """The call in one line, for a log.

        Args:
            why: the reason of its end, as a clause.
            seconds: how long it took.
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
        if self.missed:
            parts.append(f"{plural(self.missed, 'event')} missed by observers")
        return f"ended after {seconds:.0f} s ({why}): {', '.join(parts)}"

    @property
    def usd(self) -> float | None:
        """What its requests cost, as far as their prices are known; None if no price is."""
        known = [one.usd for turn in self.closed for one in turn.attempts if one.usd is not None]
        return sum(known) if known else None


def closed(turn: ServerTurn, *, stop: float, budget: float) -> ClosedTurn | None:
    """What became of a turn; None if it was never committed, as speech at a call's end.

    Args:
        turn: all that is known of it.
        stop: see `CallAccount`.
        budget: see `CallAccount`.
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


def _told(counts: Mapping[Any, int]) -> str:
    found = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f" ({found})" if found else ""
