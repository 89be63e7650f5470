"""How far a sound that was found in noise reaches beyond where it was found: its edges are its softest parts.

The generalised likelihood ratio of a change in level (M. Basseville and I. V. Nikiforov, "Detection of Abrupt Changes",
1993, 2.4): for each stretch beside the sound, how much better its mean powers explain it than the noise's do, summed
over the bands, each weighted by how much its power says. The best stretch begins the sound anew if it says enough, and
the search goes on from there. A hiss of which no single instant stands out is found by its length.
"""

import numpy as np
import numpy.typing as npt

Powers = npt.NDArray[np.float64]

SHORTEST = 4
"""Spectra (10 ms) of a stretch at the least; one that adjoins the sound may have any length from that on."""
LENGTHS = (4, 8, 12, 16, 24, 32)
"""Spectra of a stretch that lies apart from it."""
REACH = 80
"""Spectra (0.2 s) by which one stretch may move an edge."""
SILENCE = 16
"""Spectra (40 ms) of nothing that may lie between a stretch and what it belongs to: the closure of a consonant."""
ENOUGH = 20.0
"""Nats that the best of some hundred stretches must say. Noise alone rarely does: it moves one onset in fifty."""
PRESENT = 1.5
"""Nats that a band must say for its power to count as sound."""
BLOCK = 8
"""Spectra (20 ms) that overlap so little with the next as many that their means are as good as independent."""
BLUR = 1
"""Spectra by which a stretch is seen too early, because a spectrum sees what comes next."""


class Background:
    """The noise of a channel, and every stretch of the channel against it.

    Args:
        powers: Mean squares, shape (spectra, bands).
        noise: Which of the spectra are nothing but noise.
        limit: Amplitude (RMS) below which a stretch is no sound, noise apart.
    """

    def __init__(self, powers: Powers, noise: npt.NDArray[np.bool_], limit: float) -> None:
        self._mean = np.maximum(powers[noise].mean(axis=0), 1e-14)
        self._limit = limit**2
        relative = powers / self._mean
        self._weights = _degrees(relative[noise])
        self._sums = np.concatenate([np.zeros((1, powers.shape[1])), np.cumsum(relative, axis=0)])
        # Of the sound played backwards, in which its end is a beginning.
        self._backwards = (self._sums[-1] - self._sums)[::-1]

    def begins(self, first: int, *, after: int) -> int:
        """Where a sound begins that was found from the spectrum `first` on, at `after` at the earliest."""
        return _moved(self._sums, self, first, after)

    def ends(self, end: int, *, before: int) -> int:
        """Where a sound ends that was found up to the spectrum `end`, at `before` at the latest."""
        count = len(self._sums) - 1
        return count - _moved(self._backwards, self, count - end, count - before)

    def says(self, mean: Powers, length: npt.NDArray[np.intp]) -> Powers:
        """Nats by which stretches of so many spectra are sound rather than noise; 0 for what is too soft.

        Args:
            mean: Their mean powers relative to the noise, shape (stretches, bands).
            length: In spectra, shape (stretches, 1).
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
        if nats[best] <= ENOUGH:
            return _unblurred(reached, first)
        reached = int(starts[best])


def _stretches(reached: int, after: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Start and length of what is tried: of any length up to what was reached, of some lengths a little before it."""
    adjoining = np.arange(max(after, reached - REACH), reached - SHORTEST + 1)
    starts, lengths = [adjoining], [reached - adjoining]
    for length in LENGTHS:
        apart = np.arange(max(after, reached - REACH, reached - SILENCE - length), reached - length)
        starts.append(apart)
        lengths.append(np.full(len(apart), length))
    return np.concatenate(starts), np.concatenate(lengths)


def _unblurred(reached: int, first: int) -> int:
    return first if reached == first else min(reached + BLUR, first)


def _degrees(noise: Powers) -> Powers:
    """How many independent powers a spectrum holds in each band, from how much the noise's means vary."""
    blocks = noise[: len(noise) // BLOCK * BLOCK].reshape(-1, BLOCK, noise.shape[1]).mean(axis=1)
    degrees: Powers = 1 / (BLOCK * np.maximum(blocks.var(axis=0), 1e-3))
    return degrees
