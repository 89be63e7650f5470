"""Finds the bot's audible speech and the user's speech in the recording alone.

* *Where*: by energy. A 10 ms frame, counted from the first sample, is audible above -45 dBFS RMS. A quiet channel gets
  a lower limit, 28 dB below the level at which it speaks, but never below -75 dBFS. Where steady noise is within 10 dB
  of the limit, sound is what stands out from the noise band by band (`latency.audio.spectrum`).
* *Whether*: the sound must be sustained, 30 of 50 ms (a click is not), and must be a voice (`latency.audio.voicing`; a
  breath, the start of comfort noise and a hiss are not). Another sound still belongs to a voice less than 100 ms away,
  like the "s" of "stop"; a breath is further away.
* Voices less than 300 ms apart are one utterance. It starts and ends at their first and last sample above the limit.

An offset of the whole waveform, constant or slowly drifting, is removed first: it is inaudible but adds to the level.
Microphones and sound cards without a coupling capacitor add one, and so do some codecs. It shows where the channel is
otherwise quiet: consecutive frames stay on one side of zero and hardly vary, unlike voice, noise or rumble. A constant
offset is subtracted, which keeps the shape of the sound. An offset that drifts, sways or jumps is removed by a filter
without delay that reaches 12.5 ms to either side.

Digital silence is no noise, so the bot's channel, which comes from our own playout, is judged by its level alone.

Sound hidden by noise is not found. Compared with the same rule on the clean recording, at least 97 % of onsets are
right to 10 ms at a signal-to-noise ratio of 15 dB or better. At 10 dB all human onsets are right, and 82 to 88 % of the
synthetic ones: the first consonant of the others is 3 to 13 dB below the noise, and the onset is late by its length.
Ends suffer more, because voices fade: 58 to 92 % are right at 20 dB, one in four at 10 dB. So a label takes precedence,
and a measured end is called an estimate.
"""

import math

import numpy as np
import numpy.typing as npt

from latency.audio import loudness as frames
from latency.audio.loudness import DIGITAL_SILENCE, Channel, Floats, Ranges, Span, as_floats, decibels, rms, runs
from latency.audio.spectrum import standing_out
from latency.audio.voicing import is_voice

__all__ = ["Channel", "Span", "as_floats", "audible_limit", "estimated_speech", "sounds", "utterances"]

AUDIBLE_DB = -45.0
QUIETEST_AUDIBLE_DB = -75.0
BELOW_SPEAKING_LEVEL_DB = 28.0
ABOVE_NOISE_DB = 10.0
"""Decibels above its own level that steady noise never reaches by chance."""
CLOSURE = 0.1
"""Seconds of silence allowed between a consonant and the voice that it belongs to."""
UTTERANCE_PAUSE = 0.3
"""Seconds of silence that separate two utterances."""
EVEN_TENTHS_DB = 3.0
"""Largest difference between the quietest tenth of a second and the background that it is part of."""
ROOM = 4.0
"""Percent of a recording's frames that are no louder than the room."""
NOISY_DB = 32.0
"""Largest difference between the quietest and the loudest tenth of a second of a user in noise; more in quiet."""
ONSET_BLUR = 0.015
"""Seconds by which a spectrum shows the start of a sound early, and its end late."""
OFFSET_CLEAR = 3.0
"""The least ratio of a 10 ms frame's mean to its variation if it shows an offset."""
OFFSET_LASTS = 10
"""Frames in a row, all on one side of zero."""
OFFSET_DRIFT = 0.0125
"""Seconds over which a changing offset is averaged, twice: this removes sound below about 25 Hz and keeps voices."""
OFFSET_QUIETEST = 20.0
"""Percent of the frames showing an offset that are used to measure it."""
OFFSET_CONSTANT = 95.0
"""Percent of those frames that agree on a constant offset."""


def utterances(channel: Channel, rate: int, *, pause: float = UTTERANCE_PAUSE) -> list[Span]:
    """The audible utterances on a channel, in order.

    Args:
        channel: The bot's as it was played, or a user's without labels, with or without background noise.
        rate: Sample rate, Hz, at least 8000.
        pause: Shortest silence between two utterances, seconds.

    Raises:
        ValueError: The array is not one channel.
    """
    samples = without_offset(as_floats(channel), rate)
    levels = frames.levels(samples, rate)
    return _voices(samples, rate, levels, _sounds(samples, rate, levels), pause)


def estimated_speech(channel: Channel, rate: int) -> list[Span]:
    """Where a user without labels probably speaks; an estimate.

    The limit is lower than for a bot, because a person's last sound fades: 10 dB above the room and 35 dB below the
    loudest tenth of a second, but at most 20 dB below that and at least 3 dB above the room. The room's level is the
    4th percentile of the frames' levels: a tightly cut clip contains little of the room, and the closures of its
    consonants are as quiet. In steady noise, speech is what stands out from it.

    Args:
        channel: The user's channel or a bare recording, with or without background noise.
        rate: Sample rate, Hz, at least 8000.

    Raises:
        ValueError: The array is not one channel.
    """
    samples = without_offset(as_floats(channel), rate)
    levels = frames.levels(samples, rate)
    quietest, loudest = frames.extremes(levels)
    if quietest is None or loudest is None:
        return []
    noise = frames.background(levels, above=quietest * decibels(-EVEN_TENTHS_DB))
    is_noisy = bool(noise.any()) and rms(levels[noise]) < quietest * decibels(EVEN_TENTHS_DB)
    if is_noisy and loudest < quietest * decibels(NOISY_DB):
        ranges = standing_out(samples, rate, noise, loudest * decibels(-35))
    else:
        floor = min(quietest, float(np.percentile(levels, ROOM)))
        limit = min(max(floor * decibels(10), loudest * decibels(-35)), loudest * decibels(-20))
        limit = max(limit, floor * decibels(EVEN_TENTHS_DB))
        ranges = runs(frames.sustained(levels > limit)) * (rate // 100)
    return _voices(samples, rate, levels, ranges, UTTERANCE_PAUSE)


def sounds(channel: Channel, rate: int) -> list[Span]:
    """Sustained sounds above the limit, voices or not, without a pause of 10 ms; arguments as for `utterances`."""
    samples = without_offset(as_floats(channel), rate)
    return [Span(a / rate, b / rate) for a, b in _sounds(samples, rate, frames.levels(samples, rate)).tolist()]


def audible_limit(levels: Floats) -> float:
    """The amplitude above which a channel is audible, from the levels of its 10 ms frames."""
    active = frames.active_level(levels)
    if active is None:
        return decibels(AUDIBLE_DB)
    below = active * decibels(-BELOW_SPEAKING_LEVEL_DB)
    return min(decibels(AUDIBLE_DB), max(decibels(QUIETEST_AUDIBLE_DB), below))


def _voices(samples: Floats, rate: int, levels: Floats, ranges: Ranges, pause: float) -> list[Span]:
    phrases = frames.join(ranges, CLOSURE * rate)
    voices = phrases[is_voice(samples, rate, levels, phrases)]
    return [Span(first / rate, end / rate) for first, end in frames.join(voices, pause * rate).tolist()]


def _sounds(samples: Floats, rate: int, levels: Floats) -> Ranges:
    """Ranges of samples of sustained sound, voice or not."""
    limit = audible_limit(levels)
    noise = frames.background(levels, above=limit * decibels(-ABOVE_NOISE_DB))
    if not noise.any():
        ranges = runs(frames.sustained(levels > limit)) * (rate // 100)
        return _trimmed(samples, ranges, limit)
    ranges = standing_out(samples, rate, noise, limit)
    level = rms(levels[noise])
    if level > limit:
        return ranges
    return _trimmed(samples, ranges, level * decibels(ABOVE_NOISE_DB), round(ONSET_BLUR * rate))


def _trimmed(samples: Floats, ranges: Ranges, limit: float, reach: float = math.inf) -> Ranges:
    """The ranges from their first loud sample to their last; an edge without a loud sample within `reach` stays."""
    found = []
    for first, end in ranges.tolist():
        above = first + np.flatnonzero(np.abs(samples[first:end]) > limit)
        starts = len(above) > 0 and above[0] - first < reach
        ends = len(above) > 0 and end - above[-1] <= reach
        found.append((above[0] if starts else first, above[-1] + 1 if ends else end))
    return np.array(found, np.intp).reshape(-1, 2)


def without_offset(samples: Floats, rate: int) -> Floats:
    """The channel without its offset; the same array where there is none."""
    size = rate // 100
    framed = samples[: len(samples) // size * size].reshape(-1, size)
    means = framed.mean(axis=1, dtype=np.float64)
    powers = np.einsum("ij,ij->i", framed, framed, dtype=np.float64) / size
    varies = np.sqrt(np.maximum(powers - means**2, 0.0))
    clear = np.abs(means) > np.maximum(OFFSET_CLEAR * varies, DIGITAL_SILENCE)
    shows = _lasting(clear & (means > 0)) | _lasting(clear & (means < 0))
    if not shows.any():
        return samples
    # Soft speech over a large offset also shows one, but of another size. Quiet frames without an offset count, because
    # the offset may begin or end in the middle.
    quiet = varies <= np.percentile(varies[shows], OFFSET_QUIETEST)
    there = means[quiet | (np.sqrt(powers) <= DIGITAL_SILENCE)]
    constant = float(np.median(there))
    level: Floats = samples - np.float32(constant)
    is_constant = np.percentile(np.abs(there - constant), OFFSET_CONSTANT) <= max(
        DIGITAL_SILENCE, float(np.median(varies[quiet]))
    )
    return level if is_constant else level - _slow(level, round(OFFSET_DRIFT * rate))


def _lasting(clear: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The frames in rows of at least `OFFSET_LASTS`."""
    found = np.zeros(len(clear), np.bool_)
    for first, end in runs(clear).tolist():
        found[first:end] = end - first >= OFFSET_LASTS
    return found


def _slow(samples: Floats, width: int) -> Floats:
    """The samples averaged twice over `width` of them, centred."""
    values = samples.astype(np.float64)
    for _ in range(2):
        # Mirroring at the ends continues a straight line beyond them.
        padded = np.pad(values, (width // 2, width - 1 - width // 2), "reflect", reflect_type="odd")
        values = frames.sums_of(padded, width) / width
    return values.astype(np.float32)
