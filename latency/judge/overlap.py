"""Sounds during an answer that are meant to let it go on (backchannels, coughs, noise), and how soon it was softer.

A sound is judged by the recording: the answer went on if nothing stopped it. It was resumed if it fell silent and the
server says that it went on with it; any other stop is one without cause.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from latency.audio.dropouts import breaks_off
from latency.audio.loudness import Floats, Span
from latency.judge.barge_in import FLUSH_REACH, PAUSE_REACH
from latency.record.overlap import OverlapRecord
from latency.record.turn import TurnRecord

LATE = 1.5
"""Seconds after the end of a sound during which an answer may still be stopped by it."""
DUCKED_BEFORE, DUCKED_AFTER = 0.05, 1.0
"""Seconds around the onset of a sound within which a softer loudspeaker is due to it."""
MATCHES = 0.5
"""Largest difference in seconds between a sound's labelled onset and the server's."""


class SoundResult(StrEnum):
    """What a sound that is no turn did to the answer."""

    WENT_ON = "bot went on"
    RESUMED = "bot was silent and went on"
    STOPPED = "bot was stopped"
    SILENT = "bot was silent"
    """There was nothing to interrupt."""


class Sound(NamedTuple):
    """The outcome of a sound, and the label that says what it is."""

    kind: str
    result: SoundResult


def judge_sound(
    turn: TurnRecord,
    spoken: Sequence[Span],
    bot: Floats,
    rate: int,
    flushes: Sequence[float],
    overlaps: Sequence[OverlapRecord],
    ducked: Sequence[tuple[float, float]] = (),
    *,
    following: float | None = None,
) -> Sound | None:
    """The outcome of a sound over an answer; None for a turn with speech, and for one without any label.

    Args:
        turn: The recording that was played.
        spoken: The bot's utterances, in order.
        bot: The bot's channel.
        rate: Sample rate, Hz.
        flushes: When an interruption emptied the loudspeaker, seconds.
        overlaps: What the server decided in this session.
        ducked: When the loudspeaker was softer, (start, end).
        following: When the user was heard again, seconds: what stops the answer after that has another cause.
    """
    if turn.speech or not turn.labels:
        return None
    onset, end, kind = turn.labels[0][0], turn.labels[-1][1], turn.labels[0][2]
    until = end + LATE if following is None else min(end + LATE, following)
    under_way = next((u for u in spoken if u.start < onset < u.end), None)
    if under_way is None:
        return Sound(kind, SoundResult.SILENT)
    flushed = any(onset <= at <= until and abs(under_way.end - at) <= FLUSH_REACH for at in flushes)
    # A softer answer may be stopped in a pause between words.
    softer_until = (at for _, at in ducked if onset <= at <= until and at in flushes)
    flushed = flushed or any(0 <= at - under_way.end <= PAUSE_REACH for at in softer_until)
    in_time = under_way.end <= until
    if not flushed and not (in_time and breaks_off(bot, rate, under_way)):
        return Sound(kind, SoundResult.WENT_ON)
    own = [one for one in overlaps if abs(one.onset - onset) <= MATCHES]
    resumed = any(one.verdict == "resumed" and one.silenced is not None for one in own)
    return Sound(kind, SoundResult.RESUMED if resumed else SoundResult.STOPPED)


def onset_of(turn: TurnRecord) -> float | None:
    """When the recording's speech begins, or its first labelled sound; None for one without labels."""
    return turn.start if turn.speech else turn.labels[0][0] if turn.labels else None


def ducked_after(turn: TurnRecord, spoken: Sequence[Span], ducked: Sequence[tuple[float, float]]) -> float | None:
    """Seconds from the onset of a sound over an answer until the loudspeaker was softer; None if it was not."""
    onset = onset_of(turn)
    if onset is None or not any(u.start < onset < u.end for u in spoken):
        return None
    starts = (start for start, _ in ducked)
    found = next((start for start in starts if onset - DUCKED_BEFORE <= start <= onset + DUCKED_AFTER), None)
    return None if found is None else max(0.0, found - onset)
