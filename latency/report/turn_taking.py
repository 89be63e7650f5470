"""Scores of turn-taking as other benchmarks define them, beside our limits of 400 and 800 ms.

* EVA (ServiceNow, github.com/ServiceNow/eva, `src/eva/metrics/experience/turn_taking.py`, metric version 0.2 at commit
  997ae97): a latency scores 0 to 1 on a curve of straight lines. It rises from 0 at -500 ms to 1 at 500 ms, stays at 1
  until 2,000 ms and falls to 0 at 3,500 ms; in a turn with a tool call it stays at 1 until 3,000 ms and falls until
  5,000. EVA scores interruptions by other rules, so that our mean is over turns in which nobody interrupted.
* eot-bench (LiveKit, github.com/livekit/eot-bench, README): of the pauses inside turns from 0.2 to 5 s long, the share
  that the agent takes for the end of the turn, beside the mean delay from the end of speech until it ends the turn. It
  judges detectors by audio and leaves computing out; ours is the delay of the call, computing included. There each
  pause is judged as if the turn had not been cut off before; in a call, one cut-off changes the rest of the turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from latency.judge.turn import Outcome
from latency.record.marks import Mark

TOO_EARLY, FULL_FROM = -0.5, 0.5
FULL_UNTIL, TOO_LATE = 2.0, 3.5
FULL_UNTIL_WITH_TOOL, TOO_LATE_WITH_TOOL = 3.0, 5.0
"""Seconds; the corners of EVA's curve."""
PAUSE = (0.2, 5.0)
"""Seconds; the shortest and the longest pause that eot-bench counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTaking:
    """The scores of a run; None without a turn or a pause that counts."""

    eva: float | None
    """Mean score on EVA's latency curve, 0 to 1."""
    eva_n: int
    eot_pauses: int
    eot_cut_offs: int
    eot_cut_off_rate: float | None
    eot_delay_ms: float | None
    """Mean time from the end of speech to the end of the turn."""


def eva_score(latency: float, *, with_tool: bool) -> float:
    """The score of a latency, seconds, on EVA's curve."""
    full_until = FULL_UNTIL_WITH_TOOL if with_tool else FULL_UNTIL
    too_late = TOO_LATE_WITH_TOOL if with_tool else TOO_LATE
    rise = (latency - TOO_EARLY) / (FULL_FROM - TOO_EARLY)
    fall = (too_late - latency) / (too_late - full_until)
    return max(0.0, min(1.0, rise, fall))


def score_of(outcome: Outcome) -> float | None:
    """A turn's score on EVA's curve; None if its latency does not count, or if it was a barge-in."""
    if not outcome.is_timed or outcome.latency is None or outcome.turn.barge_in:
        return None
    return eva_score(outcome.latency, with_tool=Mark.TOOL_CALLED in outcome.turn.marks)


def turn_taking(outcomes: Sequence[Outcome]) -> TurnTaking:
    """Score the turns of a run."""
    scores = [score for one in outcomes if (score := score_of(one)) is not None]
    pauses = [pause for one in outcomes for pause in zip(one.turn.pauses, one.taken, strict=False)]
    judged = [is_taken for (start, end), is_taken in pauses if PAUSE[0] <= round(end - start, 6) <= PAUSE[1]]
    delays = [
        one.turn.marks[Mark.TURN_COMMIT] - one.turn.end
        for one in outcomes
        if one.is_timed and one.turn.end is not None and Mark.TURN_COMMIT in one.turn.marks
    ]
    return TurnTaking(
        eva=round(fmean(scores), 4) if scores else None,
        eva_n=len(scores),
        eot_pauses=len(judged),
        eot_cut_offs=sum(judged),
        eot_cut_off_rate=round(sum(judged) / len(judged), 4) if judged else None,
        eot_delay_ms=round(fmean(delays) * 1000, 1) if delays else None,
    )
