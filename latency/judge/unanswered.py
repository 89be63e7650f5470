"""Why a turn that wants an answer got none: exactly one reason for each.

An agent that had no time is not blamed: if the next turn began, or the call ended, sooner than a caller waits for an
answer, that is the reason, unless something broke or nothing was heard.
"""

from enum import StrEnum

from latency.record.marks import Mark
from latency.record.turn import TurnRecord

JITTER_BUFFER = 0.3
"""Seconds from the server to the ear: an answer that was sent later than this before the next turn was talked over."""
CALLER_PATIENCE = 3.9
"""Seconds of silence after which the agent is to blame: the caller of a replay waits 4 s, and checks once per frame."""


class Unanswered(StrEnum):
    """Why a turn got no answer."""

    NO_RECORDING = "recording lost"
    SESSION_CLOSED = "session closed"
    FAILED = "component failed"
    NOTHING_HEARD = "nothing heard"
    TALKED_ON = "bot talked on"
    ONLY_EARLY = "bot spoke only before the user's end"
    TALKED_OVER = "talked over by the next turn"
    INTERRUPTED = "interrupted before its answer was heard"
    HUNG_UP = "the call ended before its answer"
    RECORD_LOST = "the record behind it is lost"
    """What the bot said may have answered the lost turn."""
    NO_SPEECH = "no speech from the bot"


LOST = frozenset({Unanswered.NO_RECORDING, Unanswered.RECORD_LOST})
"""Reasons that say nothing about the agent: whether it answered cannot be known any more."""


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
    """Say why a turn with speech and a recording got no answer; times are seconds on that recording.

    Args:
        turn: The turn, which wants an answer and got none.
        early: Whether the bot spoke between the start and the end of the user's speech.
        talked_on: Whether the bot spoke from before the user's onset until after the user's end.
        following: When the user began the next turn.
        until: When the caller stopped waiting: at `following`, or where the recording ends; None when the next turn's
            record is lost.
        reported: Whether the server reported any turn of the session.
        closed: Whether the session ended early.
    """
    if closed and not turn.server_turns:
        return Unanswered.SESSION_CLOSED
    if turn.failed is not None:
        return Unanswered.FAILED
    if talked_on:
        return Unanswered.TALKED_ON
    # When a call ends, the words of its last turn may not have been reported.
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
