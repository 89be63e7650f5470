"""Parts the bot's utterances where an interruption emptied the loudspeaker, however soon the next answer began."""

from collections.abc import Iterator, Sequence

import numpy as np

from latency.audio.loudness import DIGITAL_SILENCE, Floats, Span, levels
from latency.audio.onset import audible_limit

REACH = 0.05
"""Seconds between an interruption and the silence that it causes."""
SHORTEST = 0.02
"""Seconds of digital silence that an interruption leaves at least."""


def parted(spoken: Sequence[Span], channel: Floats, rate: int, flushes: Sequence[float]) -> list[Span]:
    """The utterances, each ended by an interruption inside it.

    Args:
        spoken: The bot's utterances, in order.
        channel: Its samples as they were played.
        rate: Sample rate, Hz.
        flushes: When an interruption emptied the loudspeaker, seconds.
    """
    limit = audible_limit(levels(channel, rate)) if flushes else 0.0
    return [part for one in spoken for part in _parts(one, channel, rate, flushes, limit)]


def _parts(one: Span, channel: Floats, rate: int, flushes: Sequence[float], limit: float) -> Iterator[Span]:
    start = one.start
    for at in flushes:
        if not start < at < one.end:
            continue
        begin = max(0, round((at - REACH) * rate))
        loud = np.flatnonzero(np.abs(channel[begin : round(one.end * rate)]) > DIGITAL_SILENCE)
        silences = np.flatnonzero(np.diff(loud) > SHORTEST * rate)
        after = [int(loud[gap + 1]) for gap in silences if loud[gap] <= 2 * REACH * rate]
        if not after:
            continue
        last, first = begin + int(loud[silences[0]]), begin + after[0]
        audible = np.flatnonzero(np.abs(channel[first : round(one.end * rate)]) > limit)
        if len(audible):
            yield Span(start, (last + 1) / rate)
            start = (first + int(audible[0])) / rate
    yield Span(start, one.end)
