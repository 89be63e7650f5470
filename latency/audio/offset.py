"""Removes a constant or slowly drifting offset from a channel, which no listener hears but which counts as level.

Microphones and sound cards without a coupling capacitor add one, and so do some codecs. It shows where the channel is
otherwise quiet: frame after frame keeps to one side of zero and hardly varies, as no voice, noise or rumble does. A
constant offset is subtracted, so that the sound keeps its shape. One that drifts, sways or jumps is taken out by a
filter that shifts nothing in time and reaches 12.5 ms to either side.
"""

import numpy as np
import numpy.typing as npt

from latency.audio.loudness import DIGITAL_SILENCE, Floats, runs

CLEAR = 3.0
"""How many times the mean of a 10 ms frame exceeds what the frame varies by, if it shows an offset."""
LASTS = 10
"""Frames in a row, all on one side of zero."""
DRIFT = 0.0125
"""Seconds over which a changing offset is averaged, twice: what is slower than some 25 Hz goes, voices stay."""
QUIETEST = 20.0
"""Percent of the frames that show an offset, by which it is measured."""
CONSTANT = 95.0
"""Percent of those frames that agree on a constant offset."""


def without_offset(samples: Floats, rate: int) -> Floats:
    """The channel without its offset; the same array where there is none.

    Args:
        samples: The channel, as floats.
        rate: Sample rate, Hz.
    """
    size = rate // 100
    frames = samples[: len(samples) // size * size].reshape(-1, size)
    means = frames.mean(axis=1, dtype=np.float64)
    powers = np.einsum("ij,ij->i", frames, frames, dtype=np.float64) / size
    varies = np.sqrt(np.maximum(powers - means**2, 0.0))
    clear = np.abs(means) > np.maximum(CLEAR * varies, DIGITAL_SILENCE)
    shows = _lasting(clear & (means > 0)) | _lasting(clear & (means < 0))
    if not shows.any():
        return samples
    # Over a large offset, soft speech shows it, too, but not to the same amount. Quiet frames count that show none: the
    # offset may begin or end in the middle.
    quiet = varies <= np.percentile(varies[shows], QUIETEST)
    there = means[quiet | (np.sqrt(powers) <= DIGITAL_SILENCE)]
    constant = float(np.median(there))
    level: Floats = samples - np.float32(constant)
    if np.percentile(np.abs(there - constant), CONSTANT) <= max(DIGITAL_SILENCE, float(np.median(varies[quiet]))):
        return level
    return level - _slow(level, round(DRIFT * rate))


def _lasting(frames: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Those that are in a row of at least `LASTS`."""
    found = np.zeros(len(frames), np.bool_)
    for first, end in runs(frames).tolist():
        found[first:end] = end - first >= LASTS
    return found


def _slow(samples: Floats, width: int) -> Floats:
    """What is left of the samples after two averages over `width` of them, centred."""
    values = samples.astype(np.float64)
    for _ in range(2):
        # Mirrored in its ends, a straight line goes on beyond them.
        padded = np.pad(values, (width // 2, width - 1 - width // 2), "reflect", reflect_type="odd")
        sums = np.concatenate([[0.0], np.cumsum(padded)])
        values = (sums[width:] - sums[:-width]) / width
    return values.astype(np.float32)
