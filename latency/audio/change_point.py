"""Finds the true edges of a sound detected in noise, which extend beyond the detection because edges are soft.

The method is the generalised likelihood ratio of a change in level (M. Basseville and I. V. Nikiforov, "Detection of
Abrupt Changes", 1993, 2.4): for each stretch next to the sound, it sums over the bands how much better the stretch's
own mean powers explain it than the noise's do, weighted by the information in each band's power. If the evidence for
the best stretch suffices, the sound starts there, and the search continues from that point. A hiss that stands out at
no single instant is found by its length.
"""

import numpy as np
import numpy.typing as npt

Powers = npt.NDArray[np.float64]

SHORTEST_STRETCH = 4
"""Spectra (10 ms); the least length of a stretch that adjoins the sound."""
LENGTHS = (4, 8, 12, 16, 24, 32)
"""Lengths, in spectra, to try for a stretch apart from the sound."""
EDGE_REACH = 80
"""Spectra (0.2 s) by which one stretch may move an edge."""
SILENCE = 16
"""Spectra (40 ms) of silence allowed between a stretch and the sound it belongs to: the closure of a consonant."""
EVIDENCE_NEEDED = 20.0
"""Nats of evidence for the best of some hundred stretches. Noise alone rarely has them: it moves one onset in fifty."""
PRESENT = 1.5
"""Nats of evidence with which the power of a band counts as sound."""
SPECTRA_IN_A_BLOCK = 8
"""Spectra (20 ms) in a block; blocks overlap so little that their means are practically independent."""
SPECTRUM_BLUR = 1
"""Spectra by which a stretch is detected too early, because a spectrum includes the sound that follows."""


class Background:
    """The noise of a channel, and a comparison of every stretch of the channel with it.

    Args:
        powers: Mean squares, shape (spectra, bands).
        noise: Which spectra contain only noise.
        limit: Amplitude (RMS, without the noise) below which a stretch is no sound.
    """

    def __init__(self, powers: Powers, noise: npt.NDArray[np.bool_], limit: float) -> None:
        self._mean = np.maximum(powers[noise].mean(axis=0), 1e-14)
        self._limit = limit**2
        relative = powers / self._mean
        self._weights = _degrees(relative[noise])
        self._sums = np.concatenate([np.zeros((1, powers.shape[1])), np.cumsum(relative, axis=0)])
        # For the reversed sound, whose beginning is the end.
        self._backwards = (self._sums[-1] - self._sums)[::-1]

    def begins(self, first: int, *, after: int) -> int:
        """The first spectrum of a sound that was detected at `first`; not before `after`."""
        return _moved(self._sums, self, first, after)

    def ends(self, end: int, *, before: int) -> int:
        """The end of a sound that was detected up to `end`; not beyond `before`."""
        count = len(self._sums) - 1
        return count - _moved(self._backwards, self, count - end, count - before)

    def says(self, mean: Powers, length: npt.NDArray[np.intp]) -> Powers:
        """Evidence, in nats, that stretches are sound rather than noise; 0 for stretches that are too soft.

        Args:
            mean: Their mean powers relative to the noise, shape (stretches, bands).
            length: Their lengths in spectra, shape (stretches, 1).
        """
        above = np.maximum(mean, 1.0)
        nats = length * self._weights * (above - 1 - np.log(above))
        power = ((above - 1) * self._mean * (nats > PRESENT)).sum(axis=1)
        found: Powers = np.where(power > self._limit, nats.sum(axis=1), 0.0)
        return found


def _moved(sums: Powers, background: Background, first: int, after: int) -> int:
    reached = first
    while True:
        starts, lengths = _stretches(reached, after)
        if not len(starts):
            return _unblurred(reached, first)
        nats = background.says((sums[starts + lengths] - sums[starts]) / lengths[:, None], lengths[:, None])
        best = int(nats.argmax())
        if nats[best] <= EVIDENCE_NEEDED:
            return _unblurred(reached, first)
        reached = int(starts[best])


def _stretches(reached: int, after: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Starts and lengths of the stretches to try: any length up to `reached`, and some lengths a little before it."""
    adjoining = np.arange(max(after, reached - EDGE_REACH), reached - SHORTEST_STRETCH + 1)
    starts, lengths = [adjoining], [reached - adjoining]
    for length in LENGTHS:
        apart = np.arange(max(after, reached - EDGE_REACH, reached - SILENCE - length), reached - length)
        starts.append(apart)
        lengths.append(np.full(len(apart), length))
    return np.concatenate(starts), np.concatenate(lengths)


def _unblurred(reached: int, first: int) -> int:
    return first if reached == first else min(reached + SPECTRUM_BLUR, first)


def _degrees(noise: Powers) -> Powers:
    """How many independent powers a spectrum holds in each band, estimated from the variance of the noise's means."""
    blocks = (
        noise[: len(noise) // SPECTRA_IN_A_BLOCK * SPECTRA_IN_A_BLOCK]
        .reshape(-1, SPECTRA_IN_A_BLOCK, noise.shape[1])
        .mean(axis=1)
    )
    degrees: Powers = 1 / (SPECTRA_IN_A_BLOCK * np.maximum(blocks.var(axis=0), 1e-3))
    return degrees
