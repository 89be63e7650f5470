"""Compares marks with audio: the part of a turn's recorded latency that the marks do not explain, and its place.

The stages of a turn and its unexplained steps add up to the recorded latency.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from latency.budget import UNEXPLAINED
from latency.judge.turn import Outcome
from latency.record.contributions import RECORDED, STAGE_ENDS, STAGE_ENDS_WITH_TOOLS, Step
from latency.record.marks import Mark
from latency.record.turn import TurnRecord


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


def unexplained_steps(turn: TurnRecord, latency: float) -> list[Step]:
    """The parts of a turn's recorded latency (seconds) that no stage accounts for, in order."""
    if turn.end is None:
        return []
    steps = turn.steps()
    found = [step for step in steps if step.key is None and step.end > step.start]
    heard = turn.end + latency
    reached: float = turn.end
    at = Mark.SPEECH_END
    for step in steps:
        if step.end > reached and step.before != RECORDED:
            reached, at = step.end, step.before
    # Files hold microseconds.
    if round(heard - reached, 6):
        found.append(Step(None, at, RECORDED, reached, heard))
    return found


def unexplained_turns(outcomes: Iterable[Outcome]) -> Iterator[Unexplained]:
    """The turns with more than 20 ms of recorded latency that their marks do not explain."""
    for outcome in outcomes:
        if outcome.latency is None or outcome.residual is None or outcome.residual <= UNEXPLAINED:
            continue
        turn = outcome.turn
        longest = max(unexplained_steps(turn, outcome.latency), key=lambda step: abs(step.seconds), default=None)
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


def _sentence(turn: TurnRecord, step: Step, residual: float) -> str:
    length = f"{abs(step.seconds) * 1000:.0f} ms"
    if abs(abs(step.seconds) - residual) >= 0.001:
        length = f"{residual * 1000:.0f} ms are unexplained, {length} of them"
    else:
        length += " are unexplained"
    name = "the first audible sample of the recording" if step.before == RECORDED else step.before
    after, before = f"{step.after} ({step.start:.3f} s)", f"{name} ({step.end:.3f} s)"
    if step.seconds < 0:
        return f"{length}: {after} comes after {before}, so the clocks of server and client disagree"
    if step.before == RECORDED:
        return f"{length}, between {after} and {before}"
    way = STAGE_ENDS if {step.after, step.before} <= set(STAGE_ENDS) else STAGE_ENDS_WITH_TOOLS
    between = way[way.index(step.after) + 1 : way.index(step.before)]
    # A clause that no policy held is handed on as soon as it is ready.
    missing = [mark for mark in between if mark not in turn.marks and mark is not Mark.CLAUSE_READY]
    unknown = f": the server did not report {' and '.join(missing)}" if missing else ""
    return f"{length}, between {after} and {before}{unknown}"
