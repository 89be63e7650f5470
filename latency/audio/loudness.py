"""The level of a channel in each 10 ms frame, and its stretches of sustained sound.

Levels are RMS over whole 10 ms frames, counted from the first sample. A frame above a limit counts only if at least
30 of some 50 ms around it are above the limit too, so that a click does not count.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Channel = npt.NDArray[Any]
"""One channel, shape (samples,): floats in [-1, 1] or int16."""
Floats = npt.NDArray[np.float32]
Ranges = npt.NDArray[np.intp]
"""Index ranges (first, end), shape (n, 2)."""

WINDOW, SUSTAINED = 5, 3
"""Frames in a window, and how many of them must be loud for a sound to count."""
DIGITAL_SILENCE = 2 / 32768
"""Largest amplitude of silence; resampling and rounding leave no more."""
TENTH = 10
"""Frames in a tenth of a second."""
ACTIVE_DB = 20.0
"""A frame within these decibels of the loudest one (without clicks) is active; a relative gate, see ITU-R BS.1770."""
STEADY = 30
"""Consecutive frames (0.3 s) with almost equal levels are background and not speech."""
STEADY_DB = 3.0
"""Largest standard deviation of a background's levels. White noise has 0.5 dB, pink 1 dB, speech at least 4 dB."""
EVEN_PARTS_DB = 1.5
"""How much louder one part of a background may be than another."""
QUIETER_DB, QUIETER_SHARE = 5.0, 0.1
"""How much quieter than the background a tenth of all sound may be, because noise varies."""
EVEN_DEVIATION = 2.0
"""Factor by which its standard deviation may grow."""
BACKGROUND_MARGIN = 5
"""Frames at either end of a background that may already contain a sound."""
BELOW_LOUDEST_DB = 12.0
"""The least distance of a background from the loudest frame; a long vowel, which is as steady, is louder."""


class Span(NamedTuple):
    """A stretch of a recording, seconds."""

    start: float
    end: float


def as_floats(channel: Channel) -> Floats:
    """A channel as float32 in [-1, 1]; convert a channel once if several functions need it.

    Raises:
        ValueError: The array is not one channel.
    """
    if channel.ndim != 1:
        raise ValueError(f"a channel has one dimension, got an array of shape {channel.shape}")
    if np.issubdtype(channel.dtype, np.integer):
        # In one pass, because a recording is larger than the cache.
        return np.multiply(channel, np.float32(1 / 32768), dtype=np.float32, casting="unsafe")
    return channel.astype(np.float32, copy=False)


def levels(samples: Floats, rate: int) -> Floats:
    """RMS amplitude of each whole 10 ms frame."""
    size = rate // 100
    frames = samples[: len(samples) // size * size].reshape(-1, size)
    found: Floats = np.sqrt(np.einsum("ij,ij->i", frames, frames) / np.float32(size))
    return found


def loudest(frames: Floats) -> float:
    """The highest of the frames' levels without clicks: the maximum of the medians of five frames."""
    if len(frames) < WINDOW:
        return 0.0
    return float(_steadied(frames).max())


def active_level(frames: Floats) -> float | None:
    """The amplitude at which a channel speaks, without pauses and clicks; None for one without sound."""
    if len(frames) < WINDOW:
        return None
    steadied = _steadied(frames)
    top = float(steadied.max())
    if top <= DIGITAL_SILENCE:
        return None
    return rms(steadied[steadied > top * decibels(-ACTIVE_DB)])


def extremes(frames: Floats) -> tuple[float, float] | tuple[None, None]:
    """The levels of the quietest and loudest tenth of a second of sound, without clicks; None without sound."""
    if len(frames) < TENTH:
        return None, None
    sounding = np.lib.stride_tricks.sliding_window_view(frames > DIGITAL_SILENCE, TENTH).all(axis=1)
    if not sounding.any():
        return None, None
    tenths = np.sqrt(np.maximum(sums_of(frames.astype(np.float64) ** 2, TENTH), 0)[sounding] / TENTH)
    return float(np.percentile(tenths, 1)), float(tenths.max())


def background(frames: Floats, above: float) -> npt.NDArray[np.bool_]:
    """The frames of steady background noise, such as comfort noise, a room or a line.

    Args:
        frames: Levels.
        above: The amplitude above which a background matters.
    """
    found = np.zeros(len(frames), np.bool_)
    top = loudest(frames) * decibels(-BELOW_LOUDEST_DB)
    if len(frames) < STEADY or top <= above:
        return found
    level = 20 * np.log10(np.maximum(frames, 1e-7).astype(np.float64))
    mean = sums_of(level, STEADY) / STEADY
    deviation = np.sqrt(np.maximum(sums_of(level**2, STEADY) / STEADY - mean**2, 0))
    steady = (deviation < STEADY_DB) & (mean < 20 * np.log10(top)) & (mean > 20 * np.log10(above))
    if steady.any():
        sounding = level[frames > DIGITAL_SILENCE]
        # A background is the quietest sound, so this is a long vowel.
        if np.mean(sounding < mean[steady].min() - QUIETER_DB) > QUIETER_SHARE:
            return found
        # Frames that are slightly louder are soft speech over the noise.
        even = mean < mean[steady].min() + EVEN_PARTS_DB
        steady &= even & (deviation < EVEN_DEVIATION * deviation[steady].min())
    for first in np.flatnonzero(steady).tolist():
        found[first + BACKGROUND_MARGIN : first + STEADY - BACKGROUND_MARGIN] = True
    return found


def _steadied(frames: Floats) -> Floats:
    """The median of each five frames, by comparisons, because sorting takes ten times as long."""
    a, b, c, d, e = (frames[at : len(frames) - 4 + at] for at in range(WINDOW))
    low, high = np.maximum(np.minimum(a, b), np.minimum(c, d)), np.minimum(np.maximum(a, b), np.maximum(c, d))
    median: Floats = np.maximum(np.minimum(low, high), np.minimum(np.maximum(low, high), e))
    return median


def decibels(value: float) -> float:
    """Decibels as a ratio of amplitudes."""
    return float(10 ** (value / 20))


def rms(samples: npt.NDArray[np.floating]) -> float:
    """The RMS amplitude of some samples; 0 for none."""
    return float(np.sqrt(np.mean(samples.astype(np.float64) ** 2))) if len(samples) else 0.0


def sums_of(values: npt.NDArray[np.float64], width: int) -> npt.NDArray[np.float64]:
    """The sum of every `width` consecutive values."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    found: npt.NDArray[np.float64] = sums[width:] - sums[:-width]
    return found


def runs(true: npt.NDArray[np.bool_]) -> Ranges:
    """Index ranges of consecutive true values."""
    edges: Ranges = np.flatnonzero(np.diff(true.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    return edges


def sustained(loud: npt.NDArray[np.bool_], window: int = WINDOW, needed: int = SUSTAINED) -> npt.NDArray[np.bool_]:
    """The loud frames that count: those within some `window` frames of which at least `needed` are loud."""
    if not loud.any():
        return np.zeros(len(loud), np.bool_)
    ones = np.ones(window, np.intp)
    # One of the windows that contain frame i (they end at frame i, i + 1, ...) must have enough loud frames.
    busy = np.convolve(loud, ones) >= needed
    around = np.convolve(busy, ones)[window - 1 :][: len(loud)]
    counts: npt.NDArray[np.bool_] = loud & (around > 0)
    return counts


def join(ranges: Ranges, distance: float) -> Ranges:
    """Join ranges that are less than `distance` apart."""
    if len(ranges) < 2:
        return ranges
    apart = np.flatnonzero(ranges[1:, 0] - ranges[:-1, 1] >= distance)
    return np.stack([ranges[np.append(0, apart + 1), 0], ranges[np.append(apart, len(ranges) - 1), 1]], axis=1)
