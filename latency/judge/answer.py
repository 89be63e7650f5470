"""Finds when the answer itself was first heard, where a phrase bridged the wait for it.

It uses the recording and the server's reports, so a run folder is enough. The answer's audio may follow the phrase
without a pause, and a waveform does not show which is which: the server reports how long its phrases are and when the
answer's text was ready, and the recording shows where sound starts after that.
"""

from collections.abc import Sequence

from latency.audio.loudness import Span
from latency.record.marks import Mark
from latency.record.server_turn import ServerTurn
from latency.record.turn import TurnRecord

SLACK = 0.03
"""Seconds by which a phrase may end earlier than its first sound plus its length: the silence before that sound."""
CLOCKS = 0.02
"""Largest error of the server's clock, seconds."""


def first_answer(turn: TurnRecord, heard: Sequence[Span], sounds: Sequence[Span]) -> float | None:
    """When the answer's first audible sample was played, seconds; None when it cannot be determined.

    Args:
        turn: The turn, with the server's reports of it.
        heard: The bot's utterances between this turn and the next, in order.
        sounds: The bot's sounds in the whole recording (`latency.audio.onset.sounds`).
    """
    report = _report(turn)
    if not heard or report is None or not report.is_opening_known:
        return None
    if report.attempts and all(attempt.outcome != "spoken" for attempt in report.attempts):
        return None
    if report.opening is None:
        return heard[0].start
    over = _phrases_over(report, heard)
    if over is None:
        return None
    text = report.marks.get(Mark.LLM_FIRST_CLAUSE)
    after = over if text is None else max(over, text - CLOCKS)
    # An earlier sound that ends at once is the phrase's last word; one that continues has become the answer.
    found = next((one for one in sounds if one.start >= after or one.end > after + SLACK), None)
    return None if found is None or found.start >= heard[-1].end else max(found.start, after)


def _report(turn: TurnRecord) -> ServerTurn | None:
    """The last committed report of the server, from which the record's own fields come."""
    return next((one for one in reversed(turn.server_turns) if Mark.TURN_COMMIT in one.marks), None)


def _phrases_over(report: ServerTurn, heard: Sequence[Span]) -> float | None:
    """The earliest time at which the last phrase can have ended; `heard` starts with the first phrase."""
    seconds = report.opening_seconds
    if seconds is None:
        return None
    instants = [phrase.at for answer in report.responses for phrase in answer.said]
    start = heard[0].start
    if len(instants) > 1:
        last = instants[-1]
        found = None if last is None else next((one for one in heard if one.start >= last - CLOCKS), None)
        if found is None:
            return None
        start = found.start
        seconds -= sum(one.end - one.start for one in heard if one.start < start)
    return start + max(0.0, seconds) - SLACK
