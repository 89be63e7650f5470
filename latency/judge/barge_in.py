"""Barge-ins: how quickly the bot stopped for the user, and how often it stopped without cause.

The bot was stopped if an interruption flushed the playout when it fell silent, or if its speech ends at full level. A
bot that finished its sentence while the user started to speak was not stopped. It has no stop time, because how
quickly it would have stopped is unknown.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from latency.audio.dropouts import breaks_off
from latency.audio.loudness import Floats, Span
from latency.record.turn import TurnRecord

FLUSH_REACH = 0.1
"""Largest time between an interruption and the end of the utterance that it stopped, seconds."""
BARGE_IN_REACH = 1.0
"""Seconds after the user's speech during which an interruption may still be due to it."""


class BargeInResult(StrEnum):
    """The outcome of a turn that was meant to interrupt the bot."""

    STOPPED = "bot was stopped"
    ENDED = "bot came to its end"
    """It finished by itself, so it has no stop time."""
    SILENT = "bot was silent"
    """There was nothing to interrupt."""


class BargeIn(NamedTuple):
    """The outcome and the stop time of a turn that was meant to interrupt the bot."""

    result: BargeInResult
    stop: float | None
    """From the user's onset to the bot's last audible sample, seconds; None unless the bot was stopped."""


def judge_barge_in(
    turn: TurnRecord, spoken: Sequence[Span], bot: Floats, rate: int, flushes: Sequence[float]
) -> BargeIn | None:
    """The outcome of a turn that was meant to interrupt; None for any other turn.

    Args:
        turn: The turn.
        spoken: The bot's utterances, in order.
        bot: The bot's channel.
        rate: Sample rate, Hz.
        flushes: When an interruption flushed the playout, seconds.
    """
    start = turn.start
    if not turn.barge_in or start is None:
        return None
    under_way = next((u for u in spoken if u.start < start < u.end), None)
    if under_way is None:
        return BargeIn(BargeInResult.SILENT, None)
    flushed = any(start <= at and abs(under_way.end - at) <= FLUSH_REACH for at in flushes)
    if flushed or breaks_off(bot, rate, under_way):
        return BargeIn(BargeInResult.STOPPED, under_way.end - start)
    return BargeIn(BargeInResult.ENDED, None)


def false_barge_ins(turns: Sequence[TurnRecord], spoken: Sequence[Span], flushes: Sequence[float]) -> int:
    """How many interruptions of an audible bot were not caused by a turn of the user."""
    taken = [Span(turn.speech[0][0], turn.speech[-1][1]) for turn in turns if turn.speech and not turn.backchannel]
    stopped = [(u, at) for at in flushes for u in spoken if u.start < at and abs(u.end - at) <= FLUSH_REACH]
    return sum(
        not any(user.start <= at < user.end + BARGE_IN_REACH and bot.start < user.end for user in taken)
        for bot, at in stopped
    )


def talk_over(turn: TurnRecord, spoken: Sequence[Span]) -> float:
    """Seconds of the user's speech in this turn during which the bot was audible."""
    shared = (min(end, bot.end) - max(start, bot.start) for start, end in turn.speech for bot in spoken)
    return sum(seconds for seconds in shared if seconds > 0)
