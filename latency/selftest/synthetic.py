"""Synthetic sounds for the self-test: a voice, a breath, a click, music, noise. Floats, repeatable by seed.

The voice is a source and its resonances: harmonics of a moving pitch, weighted by the formants of vowels that follow
one another (means of men's vowels, G. E. Peterson and H. L. Barney, 1952), and hisses between syllables. It is not a
language, but it has the features of speech, and it begins and ends at a known sample.
"""

import numpy as np
import numpy.typing as npt

from latency.audio.loudness import decibels, rms

Signal = npt.NDArray[np.float64]
Random = np.random.Generator

VOWELS = ((270, 2290, 3010), (530, 1840, 2480), (730, 1090, 2440), (570, 840, 2410), (300, 870, 2240))
"""Formants of the vowels of "heed", "head", "hod", "hawed" and "who'd", Hz."""
BANDWIDTHS = (60.0, 90.0, 150.0)
HIGHEST = 3800.0
"""Hz; a telephone carries nothing above it."""
SYLLABLE = (0.14, 0.24)
HISS = 0.05
ATTACK, RELEASE = 0.004, 0.012
"""Seconds in which a voice fades in and out."""


def voice(seconds: float, rate: int, random: Random, *, pitch: float = 120.0, level: float = -20.0) -> Signal:
    """A sound that is like speech from its first sample to its last.

    Args:
        rate: Sample rate, Hz, at least 8000.
        pitch: Mean pitch, Hz.
        level: RMS, dBFS.
    """
    count = round(seconds * rate)
    time = np.arange(count) / rate
    syllables = np.cumsum(random.uniform(*SYLLABLE, size=int(seconds / SYLLABLE[0]) + 1))
    bounds = np.array([0.0, *syllables[syllables < seconds - SYLLABLE[0]], seconds])
    centres = (bounds[1:] + bounds[:-1]) / 2
    vowels = np.array(VOWELS)[random.integers(len(VOWELS), size=len(centres))]
    fundamental = pitch * (1 + 0.12 * np.sin(2 * np.pi * 0.7 * time + random.uniform(0, 6)) - 0.1 * time / seconds)
    turning = np.exp(2j * np.pi * np.cumsum(fundamental) / rate)
    wave = turning.copy()
    # Formants glide slowly: a hundred gains per second with linear interpolation are enough.
    size = rate // 100
    blocks = -(-count // size)
    coarse, ramp = np.arange(blocks + 1) / 100, np.arange(size) / size
    formants = [np.interp(coarse, centres, vowels[:, number]) for number in range(3)]
    moving = np.interp(coarse, time, fundamental)
    sound = np.zeros(count)
    for harmonic in range(1, int(HIGHEST / pitch)):
        first, second, third = (
            1 / (1 + ((harmonic * moving - f) / b) ** 2) for f, b in zip(formants, BANDWIDTHS, strict=True)
        )
        gain = first + 0.5 * second + 0.25 * third + 0.02 / harmonic
        sound += (gain[:-1, None] + np.diff(gain)[:, None] * ramp).ravel()[:count] * wave.real
        wave *= turning
    # Each syllable swells and falls; the first begins and the last ends in full voice.
    depth = np.interp(time, [0, 0.1, max(0.1, seconds - 0.1), seconds], [0, 0.35, 0.35, 0])
    sound *= 1 - depth + depth * np.interp(time, np.sort([*bounds, *centres]), [0, 1] * len(centres) + [0])
    sound *= decibels(level) / rms(sound)
    for bound in bounds[1:-1][random.random(len(bounds) - 2) < 0.5]:
        first = round((bound - HISS / 2) * rate)
        hiss = _between(random.normal(size=round(HISS * rate)), rate, 2000, HIGHEST)
        hiss *= decibels(level - 14) / rms(hiss)
        sound[first : first + len(hiss)] += hiss * np.hanning(len(hiss))
    return faded(sound, rate, ATTACK, RELEASE)


def breath(seconds: float, rate: int, random: Random, *, level: float) -> Signal:
    """A breath: the noise of air, without pitch, that swells and falls."""
    air = _between(random.normal(size=round(seconds * rate)), rate, 400, 3500)
    return faded(air * decibels(level) / rms(air), rate, seconds / 3, seconds / 3)


def click(rate: int, *, level: float = -3.0) -> Signal:
    """A click of 2 ms."""
    time = np.arange(round(0.002 * rate)) / rate
    ticking: Signal = decibels(level) * np.cos(2 * np.pi * 1500 * time) * np.exp(-time / 0.0007)
    return ticking


def music(seconds: float, rate: int, random: Random, *, level: float) -> Signal:
    """Chords of plucked notes, three a second."""
    count, rings = round(seconds * rate), round(1.2 * rate)
    time = np.arange(rings) / rate
    sound = np.zeros(count + rings)
    for begin in range(0, count, rate // 3):
        for note in 220 * 2 ** (random.choice([0, 3, 5, 7, 10, 12], size=3, replace=False) / 12):
            plucked = sum(np.sin(2 * np.pi * note * k * time) / k**1.5 for k in (1, 2, 3, 4))
            sound[begin : begin + rings] += plucked * np.exp(-time / 0.25)
    return sound[:count] * decibels(level) / rms(sound[:count])


def noise(seconds: float, rate: int, random: Random, *, level: float, pink: bool = False) -> Signal:
    """Steady noise, white or with equal power in each octave."""
    sound = random.normal(size=round(seconds * rate))
    if pink:
        spectrum = np.fft.rfft(sound)
        sound = np.fft.irfft(spectrum / np.sqrt(np.maximum(np.arange(len(spectrum)), 1)), len(sound))
    return sound * decibels(level) / rms(sound)


def resampled(sound: Signal, rate: int, to: int) -> Signal:
    """The same sound at another rate, without delay."""
    count = round(len(sound) * to / rate)
    spectrum = np.fft.rfft(sound)
    kept = np.zeros(count // 2 + 1, spectrum.dtype)
    shared = min(len(kept), len(spectrum))
    kept[:shared] = spectrum[:shared]
    return np.fft.irfft(kept, count) * (count / len(sound))


def faded(sound: Signal, rate: int, attack: float, release: float) -> Signal:
    """The sound with a linear fade at each end; `attack` and `release` in seconds."""
    sound = sound.copy()
    rise, fall = round(attack * rate), round(release * rate)
    sound[:rise] *= np.linspace(0, 1, rise)
    sound[len(sound) - fall :] *= np.linspace(1, 0, fall)
    return sound


def dying(sound: Signal, rate: int) -> Signal:
    """The sound with a sentence's end: its last 0.2 s fade by 40 dB, like a voice."""
    sound = sound.copy()
    count = round(0.2 * rate)
    sound[len(sound) - count :] *= decibels(-40) ** np.linspace(0, 1, count)
    return sound


def _between(sound: Signal, rate: int, low: float, high: float) -> Signal:
    spectrum = np.fft.rfft(sound)
    hertz = np.fft.rfftfreq(len(sound), 1 / rate)
    spectrum[(hertz < low) | (hertz > min(high, 0.475 * rate))] = 0
    return np.fft.irfft(spectrum, len(sound))
