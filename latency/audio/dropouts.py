"""Gaps in the bot's speech: drop-outs that the user could hear, and the silence where an interruption stopped it."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from latency.audio import loudness as frames
from latency.audio.loudness import DIGITAL_SILENCE, Channel, Floats, Span, as_floats, rms
from latency.audio.onset import audible_limit, utterances

SHORTEST_DROPOUT = 0.04
GAP_REACH = 1.0
"""Seconds of silence after which the bot counts as finished, whatever the cause."""
EDGE = 0.005
"""Seconds next to a silence; their level distinguishes a drop-out from a pause between sentences."""
HARD_EDGE_DB = -14.0
"""Level of a hard edge relative to the speech around it; speech that ends naturally fades below it."""


def gaps(
    channel: Channel,
    rate: int,
    *,
    underruns: Iterable[tuple[float, float]] = (),
    flushes: Sequence[float] = (),
    spoken: Sequence[Span] | None = None,
) -> list[Span]:
    """Drop-outs the user could hear: digital silence of at least 40 ms inside the bot's speech.

    Such a silence is a drop-out if the playout ran dry during it (an underrun), or if the speech next to it stops or
    starts at full level; before a pause between sentences, speech fades. A silence in which an interruption flushed
    the playout is a stopped answer. Comfort noise in a pause is not digital silence, and so not a drop-out.

    Args:
        channel: The bot's channel as it was played.
        underruns: When the playout ran dry, (start, end).
        flushes: When an interruption flushed the playout.
        spoken: The channel's utterances, if they are known already.
    """
    samples, dry = as_floats(channel), list(underruns)
    loudness, edge = frames.levels(samples, rate), round(EDGE * rate)
    limit = audible_limit(loudness)
    found = []
    for speech in _speeches(utterances(samples, rate) if spoken is None else spoken):
        begin, over = round(speech.start * rate), round(speech.end * rate)
        silences = _silences(samples, loudness, rate, begin, over)
        if not silences:
            continue
        part = samples[begin:over]
        hard = frames.decibels(HARD_EDGE_DB) * rms(part[np.abs(part) > limit])
        for first, end in silences:
            gap = Span(first / rate, end / rate)
            if any(gap.start - 2 * EDGE <= at <= gap.end for at in flushes):
                continue
            ran_dry = any(gap.start < dry_end and dry_start < gap.end for dry_start, dry_end in dry)
            before, after = samples[max(begin, first - edge) : first], samples[end : min(over, end + edge)]
            if ran_dry or max(rms(before), rms(after)) > hard:
                found.append(gap)
    return found


def breaks_off(channel: Channel, rate: int, speech: Span) -> bool:
    """Whether an utterance ends at full level, because it was stopped; one that ends naturally fades."""
    part = as_floats(channel[round(speech.start * rate) : round(speech.end * rate)])
    active = frames.active_level(frames.levels(part, rate))
    return active is not None and rms(part[-round(EDGE * rate) :]) > frames.decibels(HARD_EDGE_DB) * active


def _silences(samples: Floats, loudness: Floats, rate: int, begin: int, over: int) -> list[tuple[int, int]]:
    """Digital silence of at least `SHORTEST_DROPOUT` between two samples, as (first, end).

    Such a silence contains whole silent frames. So the search uses the frames' levels, and looks at single samples only
    around silent frames.
    """
    size = rate // 100
    # A rounding error must not make a silent frame loud.
    silent = loudness[begin // size : -(-over // size)] <= 1.001 * DIGITAL_SILENCE
    found = []
    for first, end in (frames.runs(silent) + begin // size).tolist():
        from_, to = max(begin, (first - 1) * size), min(over, (end + 1) * size)
        if to - from_ >= SHORTEST_DROPOUT * rate:
            exact = frames.runs(np.abs(samples[from_:to]) <= DIGITAL_SILENCE)
            found += [(from_ + a, from_ + b) for a, b in exact.tolist() if b - a >= SHORTEST_DROPOUT * rate]
    return found


def _speeches(spoken: Sequence[Span]) -> list[Span]:
    """Utterances, joined where the silence between them may be a drop-out."""
    joined: list[Span] = []
    for one in spoken:
        if joined and one.start - joined[-1].end < GAP_REACH:
            joined[-1] = Span(joined[-1].start, one.end)
        else:
            joined.append(one)
    return joined


FLUSH_REACH = 0.05
"""Seconds between an interruption and the silence that it causes."""
SHORTEST_FLUSH = 0.02
"""Least seconds of digital silence that an interruption leaves."""


def split_at_flushes(spoken: Sequence[Span], channel: Floats, rate: int, flushes: Sequence[float]) -> list[Span]:
    """The bot's utterances, each ended by an interruption inside it, however soon the next answer began.

    Args:
        spoken: Its utterances in the channel, in order.
        flushes: When an interruption emptied the loudspeaker, seconds.
    """
    limit = audible_limit(frames.levels(channel, rate)) if flushes else 0.0
    return [part for one in spoken for part in _parts(one, channel, rate, flushes, limit)]


def _parts(one: Span, channel: Floats, rate: int, flushes: Sequence[float], limit: float) -> Iterator[Span]:
    start = one.start
    for at in flushes:
        if not start < at < one.end:
            continue
        begin = max(0, round((at - FLUSH_REACH) * rate))
        loud = np.flatnonzero(np.abs(channel[begin : round(one.end * rate)]) > DIGITAL_SILENCE)
        silences = np.flatnonzero(np.diff(loud) > SHORTEST_FLUSH * rate)
        after = [int(loud[gap + 1]) for gap in silences if loud[gap] <= 2 * FLUSH_REACH * rate]
        if not after:
            continue
        last, first = begin + int(loud[silences[0]]), begin + after[0]
        audible = np.flatnonzero(np.abs(channel[first : round(one.end * rate)]) > limit)
        if len(audible):
            yield Span(start, (last + 1) / rate)
            start = (first + int(audible[0])) / rate
    yield Span(start, one.end)
