"""When an answer itself was first heard, where a phrase that bridged the wait for it came first.

Derived from the recording and from what the server says it said, so that a run folder is enough. The audio of both may
follow without a pause, and nothing in a waveform tells a phrase from an answer: the server says how long its phrases
are and when the answer's text was there, the recording says where sound begins after that.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from latency.audio.loudness import Span
from latency.record.marks import Mark
from latency.record.turn import TurnRecord

SLACK = 0.03
"""Seconds by which a phrase may be over sooner than its first sound and its length say: the silence in front of that
sound."""
CLOCKS = 0.02
"""Seconds by which the server's clock may be read wrong."""


def first_answer(turn: TurnRecord, heard: Sequence[Span], sounds: Sequence[Span]) -> float | None:
    """When the answer's first audible sample was played, seconds; None when that cannot be told.

    Args:
        turn: The turn, with the server's reports of it.
        heard: The bot's utterances that follow the turn, in order, before the next one begins.
        sounds: The bot's sounds (`latency.audio.onset.sounds`), of the whole recording.
    """
    report = _report(turn)
    attempts = report.get("attempts") or ()
    if not heard or "opening" not in report:
        return None
    if attempts and all(attempt.get("outcome") != "spoken" for attempt in attempts):
        return None
    if report["opening"] is None:
        return heard[0].start
    over = _phrases_over(report, heard)
    if over is None:
        return None
    text = (report.get("marks") or {}).get(Mark.LLM_FIRST_CLAUSE)
    after = over if text is None else max(over, text - CLOCKS)
    # A sound that began before and ends at once is the phrase's last word; one that goes on has become the answer.
    found = next((one for one in sounds if one.start >= after or one.end > after + SLACK), None)
    return None if found is None or found.start >= heard[-1].end else max(found.start, after)


def _report(turn: TurnRecord) -> Mapping[str, Any]:
    """The server's report that the record's own fields come from: the last one that was committed."""
    committed = [one for one in turn.server_turns if (one.get("marks") or {}).get(Mark.TURN_COMMIT) is not None]
    return next(reversed(committed), {})


def _phrases_over(report: Mapping[str, Any], heard: Sequence[Span]) -> float | None:
    """When the last phrase was over at the earliest; `heard` begins with the first one."""
    seconds = report.get("opening_seconds")
    if seconds is None:
        return None
    instants = [said.get("at") for response in report.get("responses") or () for said in response.get("said") or ()]
    start = heard[0].start
    if len(instants) > 1:
        last = instants[-1]
        found = None if last is None else next((one for one in heard if one.start >= last - CLOCKS), None)
        if found is None:
            return None
        start = found.start
        seconds -= sum(one.end - one.start for one in heard if one.start < start)
    return float(start + max(0.0, seconds) - SLACK)
