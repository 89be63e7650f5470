"""What stands out of steady background noise, band by band.

The likelihood ratio of speech and noise in each of 16 bands (J. Sohn, N. S. Kim and W. Sung, "A statistical model-based
voice activity detection", IEEE Signal Processing Letters 6, 1999), averaged over the bands, which are equally wide for
the ear (B. R. Glasberg and B. C. J. Moore, 1990). Its scale is what it does in the noise itself. A hiss of a consonant
that no level would show stands out where the noise is weak.
"""

import numpy as np
import numpy.typing as npt

from latency.audio.change_point import Background
from latency.audio.loudness import Floats, Ranges, decibels, runs, sustained

HOP = 0.0025
WINDOW = 0.016
"""Seconds between spectra, and of sound that each is made of."""
BANDS = 16
LOWEST, HIGHEST = 90.0, 7600.0
"""Hz."""
SMOOTHED = 4
"""Spectra (10 ms) over which the ratio is averaged."""
SURE, BELONGS = 8.0, 3.5
"""Standard deviations above the noise's own: from the first on a sound has been detected, and as far as the second
reaches it has been going on. The lower of two thresholds says where."""
BUSY, NEEDED = 20, 12
"""Spectra (50 ms) of which so many must be sure."""
LIMIT = 50.0
"""Of the ratio in one band: a clean onset must not outweigh what the other bands say."""
AHEAD, LEAST = 16, 6
"""Spectra (40 ms) before a sure sound within which one of so many (15 ms) is its beginning, a consonant."""
LATE = 2
"""Spectra (5 ms) that still hold something of a sound that is over."""
APART = 60
"""Spectra (0.15 s) from any sound within which there may be speech too soft to be found at first."""
RUMBLE = 60.0
"""Hz; hum and wind lie below."""
WEAKEST_DB = -6.0
"""Of the noise: what is weaker is not that noise, but silence between."""
_CHUNK = 20000
_Powers = npt.NDArray[np.float64]
_Choice = npt.NDArray[np.bool_]


def standing_out(samples: Floats, rate: int, noise: _Choice, limit: float) -> Ranges:
    """Ranges of samples in which something stands out of the noise, in order.

    Args:
        samples: The channel.
        rate: Sample rate, Hz.
        noise: Which of its 10 ms frames are surely nothing but noise; at least 0.2 s of them.
        limit: Amplitude (RMS) that it must have without the noise.
    """
    hop = round(HOP * rate)
    powers = _band_powers(_without_rumble(samples, rate), rate, hop)
    surely = noise[np.minimum(np.arange(len(powers)) * hop // (rate // 100), len(noise) - 1)]
    found = _found(powers, surely, limit)
    # What is surely noise is its calmest part, and makes the rest of it look like sound; all of it is fairer.
    total = powers.sum(axis=1)
    rest = total > total[surely].mean() * decibels(WEAKEST_DB) ** 2
    for first, end in found.tolist():
        rest[max(0, first - APART) : end + APART] = False
    noisy = rest if rest.sum() >= surely.sum() else surely
    found = _found(powers, noisy, limit) - np.array([0, LATE])
    return np.minimum(_reaching(found, Background(powers, noisy, limit), len(powers)) * hop, len(samples))


def _reaching(found: Ranges, background: Background, count: int) -> Ranges:
    """The same sounds with the soft beginnings and ends that only their length tells from the noise."""
    reached = []
    after = 0
    for (first, end), following in zip(found.tolist(), [*found[1:, 0].tolist(), count], strict=False):
        begins, ends = background.begins(first, after=after), background.ends(end, before=following)
        reached.append((begins, ends))
        after = ends
    return np.array(reached, np.intp).reshape(-1, 2)


def _found(powers: _Powers, noise: _Choice, limit: float) -> Ranges:
    """Ranges of spectra that stand out of those that are noise."""
    mean = powers[noise].mean(axis=0)
    above = np.maximum(powers / np.maximum(mean, 1e-14), 1)
    ratio = _smoothed(np.minimum(above - 1 - np.log(above), LIMIT).mean(axis=1))
    score = (ratio - ratio[noise].mean()) / max(float(ratio[noise].std()), 1e-9)
    loud = _smoothed(np.maximum(powers - mean, 0).sum(axis=1)) > limit**2
    seeds = np.concatenate([[0], np.cumsum(sustained(score > SURE, BUSY, NEEDED))])
    going_on = runs((score > BELONGS) & loud)
    is_sure = seeds[going_on[:, 1]] > seeds[going_on[:, 0]]
    found: list[tuple[int, int]] = []
    # Where softer sounds begin that may belong to the next sure one.
    soft: list[int] = []
    reached = -AHEAD
    for (first, end), sure in zip(going_on.tolist(), is_sure.tolist(), strict=True):
        if first - reached >= AHEAD:
            soft = []
        if sure:
            found.append((min([first, *soft]), end))
            soft = []
        elif end - first >= LEAST:
            soft.append(first)
        else:
            continue
        reached = end
    return np.array(found, np.intp).reshape(-1, 2)


def _smoothed(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.convolve(values, np.full(SMOOTHED, 1 / SMOOTHED), "same")


def _without_rumble(samples: Floats, rate: int) -> Floats:
    """The channel less its mean over 17 ms: what lies below a voice would leak into the lowest bands."""
    size = round(rate / RUMBLE)
    sums = np.cumsum(np.pad(samples, (size // 2 + 1, size - size // 2 - 1)), dtype=np.float64)
    cleared: Floats = samples - ((sums[size:] - sums[:-size]) / size).astype(np.float32)
    return cleared


def _band_powers(samples: Floats, rate: int, hop: int) -> _Powers:
    """Mean square in each band around each `hop`-th sample, shape (spectra, bands)."""
    size = round(WINDOW * rate)
    window = np.hanning(size).astype(np.float32)
    views = np.lib.stride_tricks.sliding_window_view(np.pad(samples, size // 2), size)[::hop]
    edges = _edges(rate, size)
    scale = 2 / (size * float(np.sum(window**2)))
    chunks = []
    for first in range(0, len(views), _CHUNK):
        spectra = np.abs(np.fft.rfft(views[first : first + _CHUNK] * window)) ** 2 * scale
        summed = np.concatenate([np.zeros((len(spectra), 1)), np.cumsum(spectra, axis=1)], axis=1)
        chunks.append(summed[:, edges[1:]] - summed[:, edges[:-1]])
    return np.concatenate(chunks)


def _edges(rate: int, size: int) -> npt.NDArray[np.intp]:
    """Bins at which the bands begin and the last one ends; narrow ones hold one bin."""
    low, high = (21.4 * np.log10(1 + 0.00437 * edge) for edge in (LOWEST, min(HIGHEST, 0.475 * rate)))
    hertz = (10 ** (np.linspace(low, high, BANDS + 1) / 21.4) - 1) / 0.00437
    return np.unique(np.round(hertz * size / rate).astype(np.intp))
