"""Audio truth: when the bot was audible and when the user spoke, found in the recording alone.

* *Where*: by energy. A 10 ms frame, counted from the first sample, is audible above -45 dBFS RMS. A quiet channel gets
  a lower limit, 28 dB below the level at which it speaks, but never below -75 dBFS. Where steady noise is within 10 dB
  of the limit, sound is what stands out from the noise band by band (`latency.audio.spectrum`).
* *Whether*: the sound must be sustained, 30 of 50 ms (a click is not), and must be a voice (`latency.audio.voicing`; a
  breath, the start of comfort noise and a hiss are not). A sound that is no voice still belongs to a voice less than
  100 ms away, like the "s" of "stop"; a breath is further away.
* Voices less than 300 ms apart are one utterance. It starts and ends at their first and last sample above the limit.

An offset of the whole waveform, which nobody hears, is removed first (`latency.audio.offset`).

Digital silence is no noise, so the bot's channel, which comes from our own playout, is judged by its level alone.

Sound that noise hides is not found. Compared with what the same rule finds in the clean recording, at least 97 % of
onsets are right to 10 ms at a signal-to-noise ratio of 15 dB or better. At 10 dB all human onsets are, and 82 to 88 %
of the synthetic ones: the first consonant of the others is 3 to 13 dB below the noise, and the onset is late by its
length. Ends suffer sooner, because voices fade: 58 to 92 % are right at 20 dB, one in four at 10 dB. So a label takes
precedence, and a measured end is called an estimate.
"""

from collections.abc import Iterator

import numpy as np

from latency.audio import loudness as frames
from latency.audio.loudness import Channel, Floats, Ranges, Span, as_floats, decibels
from latency.audio.offset import without_offset
from latency.audio.spectrum import standing_out
from latency.audio.voicing import is_voice

__all__ = [
    "Channel",
    "Span",
    "as_floats",
    "audible_limit",
    "estimated_speech",
    "first_audible_after",
    "sounds",
    "utterances",
]

AUDIBLE_DB = -45.0
QUIETEST_AUDIBLE_DB = -75.0
BELOW_SPEAKING_LEVEL_DB = 28.0
ABOVE_NOISE_DB = 10.0
"""Steady noise does not reach so far above its own level by chance."""
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
    """Where a user without labels seems to speak; an estimate, never called truth.

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
    is_noisy = bool(noise.any()) and _rms(levels[noise]) < quietest * decibels(EVEN_TENTHS_DB)
    if is_noisy and loudest < quietest * decibels(NOISY_DB):
        ranges = standing_out(samples, rate, noise, loudest * decibels(-35))
    else:
        floor = min(quietest, float(np.percentile(levels, ROOM)))
        limit = min(max(floor * decibels(10), loudest * decibels(-35)), loudest * decibels(-20))
        limit = max(limit, floor * decibels(EVEN_TENTHS_DB))
        ranges = frames.runs(frames.sustained(levels > limit)) * (rate // 100)
    return _voices(samples, rate, levels, ranges, UTTERANCE_PAUSE)


def sounds(channel: Channel, rate: int) -> list[Span]:
    """Sustained sounds above the limit, voices or not, without a pause of 10 ms; arguments as for `utterances`."""
    samples = without_offset(as_floats(channel), rate)
    return [Span(a / rate, b / rate) for a, b in _sounds(samples, rate, frames.levels(samples, rate)).tolist()]


def first_audible_after(right: Channel, rate: int, after: float) -> float | None:
    """When the first utterance at or after `after` starts, in seconds; None when there is none.

    Speech already under way at `after` is no onset, but the next utterance is.
    """
    return next((span.start for span in utterances(right, rate) if span.start >= after), None)


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
        ranges = frames.runs(frames.sustained(levels > limit)) * (rate // 100)
        return _trimmed(samples, ranges, limit)
    ranges = standing_out(samples, rate, noise, limit)
    level = _rms(levels[noise])
    if level > limit:
        return ranges
    return _sharpened(samples, ranges, level * decibels(ABOVE_NOISE_DB), round(ONSET_BLUR * rate))


def _trimmed(samples: Floats, ranges: Ranges, limit: float) -> Ranges:
    def edges() -> Iterator[tuple[int, int]]:
        for first, end in ranges.tolist():
            above = np.flatnonzero(np.abs(samples[first:end]) > limit)
            yield first + int(above[0]), first + int(above[-1]) + 1

    return np.array(list(edges()), np.intp).reshape(-1, 2)


def _sharpened(samples: Floats, ranges: Ranges, limit: float, blur: int) -> Ranges:
    """The ranges with their edges moved to the first and last loud samples; an edge without any nearby stays."""

    def edges() -> Iterator[tuple[int, int]]:
        for first, end in ranges.tolist():
            above = np.flatnonzero(np.abs(samples[first:end]) > limit)
            starts = len(above) > 0 and above[0] < blur
            ends = len(above) > 0 and above[-1] >= end - first - blur
            yield first + int(above[0]) if starts else first, first + int(above[-1]) + 1 if ends else end

    return np.array(list(edges()), np.intp).reshape(-1, 2)


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values.astype(np.float64) ** 2)))
