"""Why a turn that wants an answer got none: exactly one reason for each.

An agent that had no time is not blamed: if the next turn began, or the call ended, sooner than a caller waits for an
answer, that is the reason, unless something broke or nothing was heard.
"""

from enum import StrEnum

from latency.record.marks import Mark
from latency.record.turn import TurnRecord

JITTER_BUFFER = 0.3
"""Seconds an answer may take from the server to the ear: handed over later than this before the next turn, it lost."""
CALLER_PATIENCE = 3.9
"""Seconds after which silence is the agent's fault: a replay's caller waits for 4 s, and looks once a frame."""


class Unanswered(StrEnum):
    """Why a turn got no answer."""

    NO_RECORDING = "no recording"
    SESSION_CLOSED = "session closed"
    FAILED = "component failed"
    NOTHING_HEARD = "nothing heard"
    TALKED_ON = "bot talked on"
    ONLY_EARLY = "bot spoke only before the user's end"
    TALKED_OVER = "talked over by the next turn"
    INTERRUPTED = "interrupted before its answer was heard"
    HUNG_UP = "the call ended before its answer"
    RECORD_LOST = "the record behind it is lost"
    """Whatever was said may have answered the lost turn."""
    NO_SPEECH = "no speech from the bot"


def why(
    turn: TurnRecord,
    *,
    early: bool,
    talked_on: bool,
    following: float | None,
    until: float | None,
    reported: bool,
    closed: bool,
) -> Unanswered:
    """The reason, of a turn with speech and a recording; times are seconds of that.

    Args:
        turn: Which wants an answer and got none.
        early: Whether the bot spoke between the start and the end of the user's speech.
        talked_on: Whether it spoke before the user's onset and beyond the end.
        following: When the user began the next turn.
        until: When the caller stopped waiting: then, or where the recording ends; None when the next record is lost.
        reported: Whether the server reported any turn of the session.
        closed: Whether the session ended early.
    """
    if closed and not turn.server_turns:
        return Unanswered.SESSION_CLOSED
    if turn.failed is not None:
        return Unanswered.FAILED
    if talked_on:
        return Unanswered.TALKED_ON
    # A call that ends takes the words of its last turn with it.
    hasty = until is not None and turn.end is not None and until - turn.end < CALLER_PATIENCE
    if hasty and following is None and turn.ended_by is None:
        return Unanswered.HUNG_UP
    if reported and not turn.heard:
        return Unanswered.NOTHING_HEARD
    if early:
        return Unanswered.ONLY_EARLY
    stages = (Mark.CLAUSE_TO_TTS, Mark.TTS_FIRST_SAMPLE, Mark.FIRST_SENT)
    under_way = [turn.marks[mark] for mark in stages if mark in turn.marks]
    late = bool(following is not None and under_way and max(under_way) > following - JITTER_BUFFER)
    if following is not None and (turn.interrupted or late or hasty):
        return Unanswered.TALKED_OVER
    if hasty:
        return Unanswered.HUNG_UP
    return Unanswered.INTERRUPTED if turn.interrupted else Unanswered.NO_SPEECH
