"""Barge-ins: how quickly the bot stopped for the user, and how often it stopped without cause.

The bot was stopped if an interruption flushed the playout when it fell silent, or if its speech ends at full level. A
bot that finished its sentence while the user started to speak was not stopped. It has no stop time, because how
quickly it would have stopped is unknown. One that goes on for longer than `TALKED_ON` talked on.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from latency.audio.dropouts import breaks_off
from latency.audio.loudness import Floats, Span
from latency.record.overlap import OverlapRecord
from latency.record.turn import TurnRecord

FLUSH_REACH = 0.1
"""Largest time between an interruption and the end of the utterance that it stopped, seconds."""
PAUSE_REACH = 0.3
"""The same for an answer that was softer until the interruption: it may have been stopped in a pause between words."""
TALKED_ON = 1.5
"""Seconds after the user's onset; a bot that is heard for longer, and then comes to its end, has ignored the user."""
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
        turn: The turn.
        spoken: The bot's utterances, in order.
        bot: The bot's channel.
        rate: Sample rate, Hz.
        flushes: When an interruption flushed the playout, seconds.
        ducked: When the loudspeaker was softer because the user might be interrupting, (start, end).
    """
    start = turn.start
    if not turn.barge_in or start is None:
        return None
    under_way = next((u for u in spoken if u.start < start < u.end), None)
    if under_way is None:
        return BargeIn(BargeInResult.SILENT, None)
    flushed = any(start <= at and abs(under_way.end - at) <= FLUSH_REACH for at in flushes)
    in_pause = any(start <= end and 0 <= end - under_way.end <= PAUSE_REACH and end in flushes for _, end in ducked)
    if flushed or in_pause or breaks_off(bot, rate, under_way):
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
