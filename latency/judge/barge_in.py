"""Sounds of the user while the bot speaks: barge-ins, which must stop it, and sounds that must not.

The bot was stopped if an interruption flushed the playout when it fell silent, or if its speech ends at full level. A
bot that finished its sentence while the user started to speak was not stopped. It has no stop time, because how
quickly it would have stopped is unknown. One that goes on for longer than `TALKED_ON` talked on.

Backchannels, coughs and noise are meant to let the answer go on. It was resumed if it fell silent and the server says
that it went on with it; any other stop is one without cause.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from latency.audio.dropouts import breaks_off
from latency.audio.loudness import Floats, Span
from latency.budget import TALKED_ON
from latency.record.turn import OverlapRecord, TurnRecord

FLUSH_REACH = 0.1
"""Largest time between an interruption and the end of the utterance that it stopped, seconds."""
PAUSE_REACH = 0.3
"""The same for an answer that was softer until the interruption: it may have been stopped in a pause between words."""
BARGE_IN_REACH = 1.0
"""Seconds after the user's speech during which an interruption may still be due to it."""


class BargeInResult(StrEnum):
    """The outcome of a turn that was meant to interrupt the bot."""

    STOPPED = "bot was stopped"
    ENDED = "bot came to its end"
    """It finished by itself, so it has no stop time."""
    IGNORED = "bot talked on"
    """It was not stopped, and went on for longer than `TALKED_ON`."""
    SILENT = "bot was silent"
    """There was nothing to interrupt."""


class BargeIn(NamedTuple):
    """The outcome and the stop time of a turn that was meant to interrupt the bot."""

    result: BargeInResult
    stop: float | None
    """From the user's onset to the bot's last audible sample, seconds; None unless the bot was stopped."""


def judge_barge_in(
    turn: TurnRecord,
    spoken: Sequence[Span],
    bot: Floats,
    rate: int,
    flushes: Sequence[float],
    ducked: Sequence[tuple[float, float]] = (),
) -> BargeIn | None:
    """The outcome of a turn that was meant to interrupt; None for any other turn.

    Args:
        spoken: The bot's utterances, in order.
        rate: Sample rate, Hz.
        flushes: When an interruption flushed the playout, seconds.
        ducked: When the loudspeaker was softer because the user might be interrupting, (start, end).
    """
    start = turn.start
    if not turn.barge_in or start is None:
        return None
    under_way = _spoken_at(start, spoken)
    if under_way is None:
        return BargeIn(BargeInResult.SILENT, None)
    if _is_flushed(under_way, flushes, ducked, start, math.inf) or breaks_off(bot, rate, under_way):
        return BargeIn(BargeInResult.STOPPED, under_way.end - start)
    if under_way.end - start > TALKED_ON:
        return BargeIn(BargeInResult.IGNORED, None)
    return BargeIn(BargeInResult.ENDED, None)


def false_barge_ins(
    turns: Sequence[TurnRecord],
    spoken: Sequence[Span],
    flushes: Sequence[float],
    overlaps: Sequence[OverlapRecord] = (),
) -> int:
    """How many interruptions of an audible bot were not caused by a turn of the user, nor taken back by the server."""
    back = [(one.silenced, one.decided) for one in overlaps if one.verdict == "resumed" and one.silenced is not None]
    taken = [Span(turn.speech[0][0], turn.speech[-1][1]) for turn in turns if turn.speech and not turn.backchannel]
    last = [at for at in flushes if not any(since <= at <= (until or at) for since, until in back)]
    stopped = [(u, at) for at in last for u in spoken if u.start < at and abs(u.end - at) <= FLUSH_REACH]
    return sum(
        not any(user.start <= at < user.end + BARGE_IN_REACH and bot.start < user.end for user in taken)
        for bot, at in stopped
    )


def talk_over(turn: TurnRecord, spoken: Sequence[Span]) -> float:
    """Seconds of the user's speech in this turn during which the bot was audible."""
    shared = (min(end, bot.end) - max(start, bot.start) for start, end in turn.speech for bot in spoken)
    return sum(seconds for seconds in shared if seconds > 0)


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
    under_way = _spoken_at(onset, spoken)
    if under_way is None:
        return Sound(kind, SoundResult.SILENT)
    flushed = _is_flushed(under_way, flushes, ducked, onset, until)
    if not flushed and not (under_way.end <= until and breaks_off(bot, rate, under_way)):
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
    if onset is None or _spoken_at(onset, spoken) is None:
        return None
    starts = (start for start, _ in ducked)
    found = next((start for start in starts if onset - DUCKED_BEFORE <= start <= onset + DUCKED_AFTER), None)
    return None if found is None else max(0.0, found - onset)


def _spoken_at(at: float, spoken: Sequence[Span]) -> Span | None:
    """The bot's utterance that is under way at an instant."""
    return next((one for one in spoken if one.start < at < one.end), None)


def _is_flushed(
    utterance: Span, flushes: Sequence[float], ducked: Sequence[tuple[float, float]], since: float, until: float
) -> bool:
    """Whether an interruption between two instants ended an utterance."""
    if any(since <= at <= until and abs(utterance.end - at) <= FLUSH_REACH for at in flushes):
        return True
    # A softer answer may be stopped in a pause between words.
    softer_until = (at for _, at in ducked if since <= at <= until and at in flushes)
    return any(0 <= at - utterance.end <= PAUSE_REACH for at in softer_until)
