"""Finds sound that stands out from steady background noise, band by band.

It uses the likelihood ratio of speech to noise in each of 16 bands (J. Sohn, N. S. Kim and W. Sung, "A statistical
model-based voice activity detection", IEEE Signal Processing Letters 6, 1999), averaged over the bands, which are
equally wide for the ear (B. R. Glasberg and B. C. J. Moore, 1990). The ratio is scaled by its deviation in the noise
itself. The hiss of a consonant, which no level would show, stands out in bands where the noise is weak.
"""

import numpy as np
import numpy.typing as npt

from latency.audio.change_point import Background
from latency.audio.loudness import Floats, Ranges, decibels, runs, sustained

HOP = 0.0025
SPECTRUM_SECONDS = 0.016
"""Seconds between spectra, and seconds of sound in each."""
BANDS = 16
LOWEST, HIGHEST = 90.0, 7600.0
"""Hz."""
SMOOTHED = 4
"""Spectra (10 ms) over which the ratio is averaged."""
SURE, BELONGS = 8.0, 3.5
"""Standard deviations above the mean of the noise: a sound is detected above the first, and extends as far as the
second is exceeded (hysteresis)."""
BUSY, NEEDED = 20, 12
"""Spectra in a window (50 ms), and how many of them must be above the first limit."""
RATIO_LIMIT = 50.0
"""Upper limit of the ratio in one band, so that a clean onset does not outweigh the other bands."""
AHEAD, LEAST = 16, 6
"""Spectra (40 ms) before a sure sound within which a weaker sound of this length (15 ms) is its start, a consonant."""
LATE_SPECTRA = 2
"""Spectra (5 ms) that still contain a part of a sound that has ended."""
SOFT_SPEECH_REACH = 60
"""Spectra (0.15 s) around a sound in which there may be speech too soft for the first pass."""
RUMBLE = 60.0
"""Hz; hum and wind are below."""
WEAKEST_DB = -6.0
"""Power relative to the noise; weaker sound is silence, not that noise."""
_CHUNK = 20000
_Powers = npt.NDArray[np.float64]
_Choice = npt.NDArray[np.bool_]


def standing_out(samples: Floats, rate: int, noise: _Choice, limit: float) -> Ranges:
    """Ranges of a channel's samples in which sound stands out from the noise, in order.

    Args:
        noise: Which of its 10 ms frames certainly contain only noise; at least 0.2 s of them.
        limit: Amplitude (RMS) that the sound must have without the noise.
    """
    hop = round(HOP * rate)
    powers = _band_powers(_without_rumble(samples, rate), rate, hop)
    surely = noise[np.minimum(np.arange(len(powers)) * hop // (rate // 100), len(noise) - 1)]
    found = _found(powers, surely, limit)
    # The frames that are certainly noise are its calmest part. All of the noise is a fairer reference, because next to
    # the calmest part the rest looks like sound.
    total = powers.sum(axis=1)
    rest = total > total[surely].mean() * decibels(WEAKEST_DB) ** 2
    for first, end in found.tolist():
        rest[max(0, first - SOFT_SPEECH_REACH) : end + SOFT_SPEECH_REACH] = False
    noisy = rest if rest.sum() >= surely.sum() else surely
    found = _found(powers, noisy, limit) - np.array([0, LATE_SPECTRA])
    return np.minimum(_reaching(found, Background(powers, noisy, limit), len(powers)) * hop, len(samples))


def _reaching(found: Ranges, background: Background, count: int) -> Ranges:
    """The sounds extended by soft starts and ends, which only their length distinguishes from the noise."""
    reached = []
    after = 0
    for (first, end), following in zip(found.tolist(), [*found[1:, 0].tolist(), count], strict=False):
        begins, ends = background.begins(first, after=after), background.ends(end, before=following)
        reached.append((begins, ends))
        after = ends
    return np.array(reached, np.intp).reshape(-1, 2)


def _found(powers: _Powers, noise: _Choice, limit: float) -> Ranges:
    """Ranges of spectra that stand out from the noise."""
    mean = powers[noise].mean(axis=0)
    above = np.maximum(powers / np.maximum(mean, 1e-14), 1)
    ratio = _smoothed(np.minimum(above - 1 - np.log(above), RATIO_LIMIT).mean(axis=1))
    score = (ratio - ratio[noise].mean()) / max(float(ratio[noise].std()), 1e-9)
    loud = _smoothed(np.maximum(powers - mean, 0).sum(axis=1)) > limit**2
    seeds = np.concatenate([[0], np.cumsum(sustained(score > SURE, BUSY, NEEDED))])
    going_on = runs((score > BELONGS) & loud)
    is_sure = seeds[going_on[:, 1]] > seeds[going_on[:, 0]]
    found: list[tuple[int, int]] = []
    # The starts of softer sounds that may belong to the next sure one.
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
    """The channel minus its mean over 17 ms, because frequencies below a voice would leak into the lowest bands."""
    size = round(rate / RUMBLE)
    sums = np.cumsum(np.pad(samples, (size // 2 + 1, size - size // 2 - 1)), dtype=np.float64)
    cleared: Floats = samples - ((sums[size:] - sums[:-size]) / size).astype(np.float32)
    return cleared


def _band_powers(samples: Floats, rate: int, hop: int) -> _Powers:
    """Mean square in each band around each `hop`-th sample, shape (spectra, bands)."""
    size = round(SPECTRUM_SECONDS * rate)
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
    """The bins where the bands start and the last one ends; narrow bands hold one bin."""
    low, high = (21.4 * np.log10(1 + 0.00437 * edge) for edge in (LOWEST, min(HIGHEST, 0.475 * rate)))
    hertz = (10 ** (np.linspace(low, high, BANDS + 1) / 21.4) - 1) / 0.00437
    return np.unique(np.round(hertz * size / rate).astype(np.intp))
