"""Sounds of the user while the bot speaks: barge-ins, which must stop it, and sounds that must not.

The bot was stopped if an interruption emptied the loudspeaker when it fell silent, or if its speech ends at full level.
A bot that finished its sentence while the user started to speak was not stopped. It has no stop time, because how
quickly it would have stopped is unknown. One that goes on for longer than `TALKED_ON` talked on.

Backchannels, coughs and noise should let the answer go on. It was resumed if it fell silent and the server reports that
it continued the answer; any other stop is one without cause.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from latency.audio.dropouts import breaks_off
from latency.audio.loudness import Floats, Span
from latency.audio.recording import RATE
from latency.budget import TALKED_ON
from latency.record.turn import OverlapRecord, TurnRecord

FLUSH_REACH = 0.1
"""Largest time between an interruption and the end of the utterance that it stopped, seconds."""
PAUSE_REACH = 0.3
"""The same for an answer that was softer until the interruption, and may have been stopped in a pause between words."""
BARGE_IN_REACH = 1.0
"""Seconds after the user's speech during which an interruption may still be due to it."""
SOUND_REACH = 1.5
"""Seconds after the end of a sound during which an answer may still be stopped by it."""
DUCKED_BEFORE, DUCKED_AFTER = 0.05, 1.0
"""Seconds around the onset of a sound within which a softer loudspeaker is due to it."""
MATCHES = 0.5
"""Largest difference in seconds between a sound's labelled onset and the server's."""


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


class SoundResult(StrEnum):
    """The effect on the answer of a sound that is not a turn."""

    WENT_ON = "bot went on"
    RESUMED = "bot was silent and went on"
    STOPPED = "bot was stopped"
    SILENT = "bot was silent"
    """There was nothing to interrupt."""


class Sound(NamedTuple):
    """The outcome of a sound, and its label."""

    kind: str
    result: SoundResult


@dataclass(frozen=True, slots=True, kw_only=True)
class BotSpeech:
    """The bot's side of a session, and the events of its loudspeaker; seconds on the recording's clock."""

    spoken: Sequence[Span]
    """Its utterances, in order."""
    samples: Floats
    """At `RATE`, as they were played."""
    flushes: Sequence[float] = ()
    """When an interruption emptied the loudspeaker."""
    ducked: Sequence[tuple[float, float]] = ()
    """When the loudspeaker was softer because the user might be interrupting, (start, end)."""
    overlaps: Sequence[OverlapRecord] = ()
    """Decisions of the server about the caller's sounds."""

    def at(self, instant: float) -> Span | None:
        """The utterance that is under way at an instant."""
        return next((one for one in self.spoken if one.start < instant < one.end), None)

    def is_flushed(self, utterance: Span, since: float, until: float = math.inf) -> bool:
        """Whether an interruption between two instants ended an utterance."""
        if any(since <= at <= until and abs(utterance.end - at) <= FLUSH_REACH for at in self.flushes):
            return True
        # A softer answer may be stopped in a pause between words.
        softer_until = (at for _, at in self.ducked if since <= at <= until and at in self.flushes)
        return any(0 <= at - utterance.end <= PAUSE_REACH for at in softer_until)


def judge_barge_in(turn: TurnRecord, bot: BotSpeech) -> BargeIn | None:
    """The outcome of a turn that was meant to interrupt; None for any other turn."""
    start = turn.start
    if not turn.barge_in or start is None:
        return None
    under_way = bot.at(start)
    if under_way is None:
        return BargeIn(BargeInResult.SILENT, None)
    if bot.is_flushed(under_way, start) or breaks_off(bot.samples, RATE, under_way):
        return BargeIn(BargeInResult.STOPPED, under_way.end - start)
    return BargeIn(BargeInResult.IGNORED if under_way.end - start > TALKED_ON else BargeInResult.ENDED, None)


def judge_sound(turn: TurnRecord, bot: BotSpeech, *, following: float | None = None) -> Sound | None:
    """The outcome of a sound over an answer; None for a turn with speech, and for one without any label.

    Args:
        turn: The recording that was played.
        bot: The bot's audible speech in its session.
        following: When the user was heard again, seconds; a later stop of the answer has another cause.
    """
    if turn.speech or not turn.labels:
        return None
    onset, end, kind = turn.labels[0][0], turn.labels[-1][1], turn.labels[0][2]
    until = min(end + SOUND_REACH, math.inf if following is None else following)
    under_way = bot.at(onset)
    if under_way is None:
        return Sound(kind, SoundResult.SILENT)
    is_over = under_way.end <= until and breaks_off(bot.samples, RATE, under_way)
    if not is_over and not bot.is_flushed(under_way, onset, until):
        return Sound(kind, SoundResult.WENT_ON)
    own = [one for one in bot.overlaps if abs(one.onset - onset) <= MATCHES]
    resumed = any(one.verdict == "resumed" and one.silenced is not None for one in own)
    return Sound(kind, SoundResult.RESUMED if resumed else SoundResult.STOPPED)


def false_barge_ins(turns: Sequence[TurnRecord], bot: BotSpeech) -> int:
    """How many interruptions of an audible bot were not caused by a turn of the user, nor taken back by the server."""
    back = [
        (one.silenced, one.decided) for one in bot.overlaps if one.verdict == "resumed" and one.silenced is not None
    ]
    taken = [Span(turn.speech[0][0], turn.speech[-1][1]) for turn in turns if turn.speech and not turn.backchannel]
    last = [at for at in bot.flushes if not any(a <= at <= (b or at) for a, b in back)]
    stopped = [(u, at) for at in last for u in bot.spoken if u.start < at and abs(u.end - at) <= FLUSH_REACH]
    return sum(
        not any(user.start <= at < user.end + BARGE_IN_REACH and cut.start < user.end for user in taken)
        for cut, at in stopped
    )


def talk_over(turn: TurnRecord, spoken: Sequence[Span]) -> float:
    """Seconds of the user's speech in this turn during which the bot was audible."""
    shared = (min(end, bot.end) - max(start, bot.start) for start, end in turn.speech for bot in spoken)
    return sum(seconds for seconds in shared if seconds > 0)


def onset_of(turn: TurnRecord) -> float | None:
    """When the recording's speech begins, or its first labelled sound; None for one without labels."""
    return turn.start if turn.speech else turn.labels[0][0] if turn.labels else None


def ducked_after(turn: TurnRecord, bot: BotSpeech) -> float | None:
    """Seconds from the onset of a sound over an answer until the loudspeaker was softer; None if it was not."""
    onset = onset_of(turn)
    if onset is None or bot.at(onset) is None:
        return None
    starts = (start - onset for start, _ in bot.ducked)
    return next((max(0.0, after) for after in starts if -DUCKED_BEFORE <= after <= DUCKED_AFTER), None)
