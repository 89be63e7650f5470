"""Audio truth: when the bot was audible and when the user spoke, read from a recording and from nothing else.

Levels are RMS over whole 10 ms frames counted from the first sample, dB relative to full scale (dBFS).

* The bot is audible in a frame above -45 dBFS. A voice that speaks quietly gets a lower limit: 15 dB below its own
  speaking level, but never below -60 dBFS.
* An audible frame counts when 50 ms that hold it are audible for at least 30 ms: a click does not.
* Frames that count, less than 300 ms apart, are one utterance; it begins and ends at their first and last sample above
  the limit.

The bot's channel is clean: it comes from our own playout, and silence is digital silence. The user's may be noisy.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Channel = npt.NDArray[Any]
"""One channel, shape (samples,): floats in [-1, 1] or int16."""
_Floats = npt.NDArray[np.float32]
_Spans = npt.NDArray[np.intp]

AUDIBLE_DB = -45.0
QUIETEST_AUDIBLE_DB = -60.0
BELOW_SPEAKING_LEVEL_DB = 15.0
WINDOW, SUSTAINED = 5, 3
"""Frames of which so many must be audible for a sound to count."""
UTTERANCE_PAUSE = 0.3
"""Seconds of silence that separate two utterances."""

DIGITAL_SILENCE = 2 / 32768
"""Amplitude up to which a sample is silence: resampling and rounding leave no more."""
SHORTEST_GAP = 0.04
GAP_REACH = 1.0
"""Seconds: a longer silence is the end of what the bot had to say, however it came about."""
EDGE = 0.005
"""Seconds beside a silence whose level tells a drop-out from a pause between sentences."""
HARD_EDGE_DB = -14.0
"""Level of a hard edge relative to the speech around it; speech that ends by itself fades below."""


class Span(NamedTuple):
    """A stretch of a recording, seconds."""

    start: float
    end: float


def as_floats(channel: Channel) -> _Floats:
    """A channel as float32 in [-1, 1]; who asks several questions of one channel converts it once."""
    if channel.ndim != 1:
        raise ValueError(f"a channel has one dimension, got an array of shape {channel.shape}")
    if np.issubdtype(channel.dtype, np.integer):
        return channel.astype(np.float32) / np.float32(32768)
    return channel.astype(np.float32, copy=False)


def utterances(channel: Channel, rate: int, *, pause: float = UTTERANCE_PAUSE) -> list[Span]:
    """What the bot audibly said, in order.

    Args:
        channel: The bot's channel as it was played.
        rate: Sample rate, Hz.
        pause: Shortest silence between two utterances, seconds.
    """
    samples = as_floats(channel)
    levels = _levels(samples, rate)
    limit = _audible_limit(levels)
    size = rate // 100
    found = []
    for first, end in _stretches(levels > limit, pause).tolist():
        above = first * size + np.flatnonzero(np.abs(samples[first * size : end * size]) > limit)
        found.append(Span(int(above[0]) / rate, (int(above[-1]) + 1) / rate))
    return found


def first_audible_after(right: Channel, rate: int, after: float) -> float | None:
    """Seconds at which the first utterance that begins at or after `after` begins; None when there is none.

    Speech that was already under way at `after` is no onset, but its next utterance is.
    """
    return next((span.start for span in utterances(right, rate) if span.start >= after), None)


def gaps(
    channel: Channel, rate: int, *, underruns: Iterable[tuple[float, float]] = (), flushes: Sequence[float] = ()
) -> list[Span]:
    """Drop-outs the user could hear: digital silence of at least 40 ms inside the bot's speech.

    Such a silence is a drop-out when the loudspeaker ran dry meanwhile, or when the speech beside it breaks off or
    sets in at full level; a pause between sentences fades. A silence in which an interruption emptied the
    loudspeaker is an answer that was stopped.

    Args:
        channel: The bot's channel as it was played.
        rate: Sample rate, Hz.
        underruns: When the loudspeaker ran dry, (start, end).
        flushes: When an interruption emptied the loudspeaker.
    """
    samples, dry = as_floats(channel), list(underruns)
    limit, edge = _audible_limit(_levels(samples, rate)), round(EDGE * rate)
    found = []
    for speech in utterances(samples, rate, pause=GAP_REACH):
        begin = round(speech.start * rate)
        part = samples[begin : round(speech.end * rate)]
        hard = 10 ** (HARD_EDGE_DB / 20) * _rms(part[np.abs(part) > limit])
        silences = _runs(np.abs(part) <= DIGITAL_SILENCE)
        for first, end in silences[np.diff(silences, axis=1)[:, 0] >= SHORTEST_GAP * rate].tolist():
            gap = Span((begin + first) / rate, (begin + end) / rate)
            if any(gap.start - 2 * EDGE <= at <= gap.end for at in flushes):
                continue
            ran_dry = any(gap.start < dry_end and dry_start < gap.end for dry_start, dry_end in dry)
            before, behind = part[max(0, first - edge) : first], part[end : end + edge]
            if ran_dry or max(_rms(before), _rms(behind)) > hard:
                found.append(gap)
    return found


def estimated_speech(channel: Channel, rate: int) -> list[Span]:
    """Where the user seems to speak in audio without labels, to 10 ms; an estimate, never called truth.

    A frame is speech at 10 dB or more above the background (3rd percentile of the levels, digital silence apart) and
    at most 25 dB below the loud parts (95th percentile). Where these lie less than 15 dB apart, sound between digital
    silences is all speech, and sound without them is all background. On 17 labelled recordings of people the end was
    off by 12 ms in the median and, where breath or echo followed, by up to 210 ms.

    Args:
        channel: The user's channel or a bare recording, with or without background noise.
        rate: Sample rate, Hz.
    """
    levels = _levels(as_floats(channel), rate)
    sounding = levels[levels > DIGITAL_SILENCE]
    if not len(sounding):
        return []
    background, loud = (float(level) for level in np.percentile(sounding, [3, 95]))
    if loud < background * 10 ** (15 / 20):
        if len(sounding) == len(levels):
            return []
        background = 0.0
    limit = max(background * 10 ** (10 / 20), loud * 10 ** (-25 / 20))
    return [Span(first / 100, end / 100) for first, end in _stretches(levels > limit, UTTERANCE_PAUSE).tolist()]


def _levels(samples: _Floats, rate: int) -> _Floats:
    size = rate // 100
    frames = samples[: len(samples) // size * size].reshape(-1, size)
    levels: _Floats = np.sqrt(np.einsum("ij,ij->i", frames, frames) / np.float32(size))
    return levels


def _rms(samples: _Floats) -> float:
    return float(np.sqrt(np.mean(samples.astype(np.float64) ** 2))) if len(samples) else 0.0


def _audible_limit(levels: _Floats) -> float:
    """The amplitude above which this bot is audible."""
    sounding = levels[levels > DIGITAL_SILENCE]
    if not len(sounding):
        return float(10 ** (AUDIBLE_DB / 20))
    # The level that a fifth of the sounding frames exceed: neither pauses nor a click move it.
    speaking = 20 * float(np.log10(np.percentile(sounding, 80)))
    limit = min(AUDIBLE_DB, max(QUIETEST_AUDIBLE_DB, speaking - BELOW_SPEAKING_LEVEL_DB))
    return float(10 ** (limit / 20))


def _runs(true: npt.NDArray[np.bool_]) -> _Spans:
    """Index ranges (first, end) of consecutive true values, shape (n, 2)."""
    edges: _Spans = np.flatnonzero(np.diff(true.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    return edges


def _stretches(loud: npt.NDArray[np.bool_], pause: float) -> _Spans:
    """Frame ranges of sustained sound; those less than `pause` seconds apart are one."""
    if not loud.any():
        return np.empty((0, 2), np.intp)
    window = np.ones(WINDOW, np.intp)
    # Of the windows that end at frame i, i + 1, ... i + 4, each of which holds frame i, one must be busy enough.
    busy = np.convolve(loud, window) >= SUSTAINED
    around = np.convolve(busy, window)[WINDOW - 1 :][: len(loud)]
    return _join(_runs(loud & (around > 0)), round(pause * 100))


def _join(spans: _Spans, distance: int) -> _Spans:
    """Unite ranges that lie less than `distance` apart."""
    if len(spans) < 2:
        return spans
    apart = np.flatnonzero(spans[1:, 0] - spans[:-1, 1] >= distance)
    return np.stack([spans[np.append(0, apart + 1), 0], spans[np.append(apart, len(spans) - 1), 1]], axis=1)
