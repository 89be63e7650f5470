"""Compares marks with audio: which part of a turn's recorded latency the marks do not explain, and where it lies.

The stages of a turn and its unexplained stretches add up to the recorded latency.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from latency.budget import UNEXPLAINED
from latency.judge.outcome import Outcome
from latency.record.contributions import WAY, WAY_WITH_TOOLS
from latency.record.marks import Mark
from latency.record.turn import TurnRecord

RECORDED: Literal["recorded"] = "recorded"
"""The first audible sample of the answer in the recording."""


class Stretch(NamedTuple):
    """A part of the recorded latency that no stage accounts for."""

    after: Mark
    before: Mark | Literal["recorded"]
    start: float
    """When `after` happened, or the end of what it waited for; seconds on the recording's clock."""
    end: float
    """When `before` happened; earlier than `start` where the marks add up to more than was recorded."""

    @property
    def seconds(self) -> float:
        """Its length; negative where the marks add up to more than was recorded."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Unexplained:
    """A flagged turn."""

    session: str
    turn: int
    ms: float
    """The latency that the marks do not explain."""
    after: str
    """Most of it lies after this instant and before the next: marks, or "recorded"."""
    before: str
    sentence: str


def stretches(turn: TurnRecord, latency: float) -> list[Stretch]:
    """The stretches of a turn's recorded latency (seconds) that its marks do not explain, in order."""
    if turn.end is None:
        return []
    passages = turn.passages()
    found = [Stretch(p.after, p.before, p.start, p.end) for p in passages if p.key is None and p.end > p.start]
    heard = turn.end + latency
    reached, at = turn.end, Mark.SPEECH_END
    for passage in passages:
        if passage.end > reached:
            reached, at = passage.end, passage.before
    # Files hold microseconds.
    if round(heard - reached, 6):
        found.append(Stretch(at, RECORDED, reached, heard))
    return found


def flagged(outcomes: Iterable[Outcome]) -> Iterator[Unexplained]:
    """The turns with more than 20 ms of recorded latency that their marks do not explain."""
    for outcome in outcomes:
        if outcome.latency is None or outcome.residual is None or outcome.residual <= UNEXPLAINED:
            continue
        turn = outcome.turn
        longest = max(stretches(turn, outcome.latency), key=lambda stretch: abs(stretch.seconds), default=None)
        if longest is None:
            continue
        yield Unexplained(
            session=turn.session,
            turn=turn.turn,
            ms=round(outcome.residual * 1000, 1),
            after=str(longest.after),
            before=str(longest.before),
            sentence=_sentence(turn, longest, outcome.residual),
        )


def _sentence(turn: TurnRecord, stretch: Stretch, residual: float) -> str:
    length = f"{abs(stretch.seconds) * 1000:.0f} ms"
    if abs(abs(stretch.seconds) - residual) >= 0.001:
        length = f"{residual * 1000:.0f} ms are unexplained, {length} of them"
    else:
        length += " are unexplained"
    after, before = f"{stretch.after} ({stretch.start:.3f} s)", _named(stretch.before, stretch.end)
    if stretch.seconds < 0:
        return f"{length}: {after} comes after {before}, so the clocks of server and client disagree"
    if stretch.before == RECORDED:
        return f"{length}, between {after} and {before}"
    way = WAY if {stretch.after, stretch.before} <= set(WAY) else WAY_WITH_TOOLS
    between = way[way.index(stretch.after) + 1 : way.index(stretch.before)]
    # A clause that no policy held is ready when it is handed on.
    missing = [mark for mark in between if mark not in turn.marks and mark is not Mark.CLAUSE_READY]
    unknown = f": the server did not report {' and '.join(missing)}" if missing else ""
    return f"{length}, between {after} and {before}{unknown}"


def _named(instant: str, at: float) -> str:
    name = "the first audible sample of the recording" if instant == RECORDED else instant
    return f"{name} ({at:.3f} s)"
