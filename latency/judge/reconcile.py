"""Marks against audio: which stretch of a turn's recorded latency the marks cannot explain, between which two instants.

The stages of a turn and its unexplained stretches add up to the recorded latency.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from latency.judge.contributions import WAY
from latency.judge.outcome import Outcome
from latency.record.marks import Mark
from latency.record.turn import TurnRecord

FLAGGED = 0.02
"""Seconds; a turn of which more is unexplained is flagged."""
RECORDED: Literal["recorded"] = "recorded"
"""The first audible sample of the answer in the recording."""


class Stretch(NamedTuple):
    """A part of a recorded latency that no stage accounts for."""

    after: Mark
    before: Mark | Literal["recorded"]
    start: float
    """When `after` was, or what it waited for; seconds on the recording's clock."""
    end: float
    """When `before` was; before `start` where the marks go on beyond what was recorded."""

    @property
    def seconds(self) -> float:
        """Its length; negative where the marks claim more than was recorded."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Unexplained:
    """A turn that was flagged."""

    session: str
    turn: int
    ms: float
    """What the marks leave unexplained."""
    after: str
    """The instants between which most of it lies: marks, or "recorded"."""
    before: str
    sentence: str


def stretches(turn: TurnRecord, latency: float) -> list[Stretch]:
    """What the marks of a turn leave unexplained of its recorded latency (seconds), in order."""
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
    """The turns whose marks leave more than 20 ms of the recorded latency unexplained."""
    for outcome in outcomes:
        if outcome.latency is None or outcome.residual is None or outcome.residual <= FLAGGED:
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
    after, before = f"{stretch.after} ({stretch.start:.3f} s)", _named(stretch.before, stretch.end)
    if stretch.seconds < 0:
        return f"{length} too many: {after} lies behind {before}, so the clocks of server and client disagree"
    if stretch.before == RECORDED:
        return f"{length} lie between {after} and {before}"
    between = WAY[WAY.index(stretch.after) + 1 : WAY.index(stretch.before)]
    # A clause that nobody held is ready when it is handed on.
    missing = [mark for mark in between if mark not in turn.marks and mark is not Mark.CLAUSE_READY]
    unknown = f": the server did not tell {' and '.join(missing)}" if missing else ""
    return f"{length} lie between {after} and {before}{unknown}"


def _named(instant: str, at: float) -> str:
    name = "the first audible sample of the recording" if instant == RECORDED else instant
    return f"{name} ({at:.3f} s)"
