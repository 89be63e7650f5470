from typing import Any

import numpy as np
import pytest

from latency.audio.change_point import SPECTRUM_BLUR, Background

SPECTRA, BANDS = 2000, 16
SOUND = 1000
"""Where a loud sound begins, in spectra."""


def powers(seed: int, *soft: tuple[int, int, int, float]) -> Any:
    """Noise of unit power with a loud sound in it, and softer ones: first, end, band, power relative to the noise."""
    found = np.random.default_rng(seed).gamma(4, 1 / 4, (SPECTRA, BANDS))
    found[SOUND : SOUND + 200] *= 100
    for first, end, band, power in soft:
        found[first:end, band] *= 1 + power
    return found


def background(found: Any, limit: float = 0.0) -> Background:
    noise = np.ones(SPECTRA, np.bool_)
    noise[SOUND - 200 : SOUND + 400] = False
    return Background(found, noise, limit)


@pytest.mark.parametrize("seed", range(4))
def test_a_soft_beginning_and_end_is_found_by_its_length(seed: int) -> None:
    heard = background(powers(seed, (SOUND - 24, SOUND, 14, 1.5), (SOUND + 200, SOUND + 240, 13, 2.0)))
    assert heard.begins(SOUND, after=0) == pytest.approx(SOUND - 24 + SPECTRUM_BLUR, abs=2)
    assert heard.ends(SOUND + 200, before=SPECTRA) == pytest.approx(SOUND + 240 - SPECTRUM_BLUR, abs=4)


def test_a_consonant_before_a_closure_belongs_to_the_sound_and_a_distant_one_does_not() -> None:
    near = background(powers(1, (SOUND - 30, SOUND - 14, 12, 4.0)))
    far = background(powers(1, (SOUND - 110, SOUND - 94, 12, 4.0)))
    assert near.begins(SOUND, after=0) == pytest.approx(SOUND - 30 + SPECTRUM_BLUR, abs=2)
    assert far.begins(SOUND, after=0) == SOUND
    assert near.begins(SOUND, after=SOUND - 10) == SOUND


def test_noise_alone_moves_an_edge_once_in_fifty_times_at_the_most() -> None:
    heard = [background(powers(seed)) for seed in range(60)]
    moved = [one.begins(SOUND, after=0) != SOUND for one in heard]
    moved += [one.ends(SOUND + 200, before=SPECTRA) != SOUND + 200 for one in heard]
    assert sum(moved) <= len(moved) / 50


def test_inaudible_sound_moves_no_edge() -> None:
    soft = powers(2, (SOUND - 40, SOUND, 14, 1.5))
    assert background(soft, limit=1.1).begins(SOUND, after=0) < SOUND
    assert background(soft, limit=1.5).begins(SOUND, after=0) == SOUND
