"""Inserts pauses into recordings of speech, between two words.

A pause goes into the longest soft gap of a labelled stretch of speech and is filled with noise of the recording's own
spectrum and level, so that neither a click nor dead air distinguishes it from a person who stops to think. More speech
follows, so ending the turn in such a pause is always wrong. This is harder than real speech: the speaker's voice does
not prepare for the pause, and the longest gap of a recording may lie between two phrases or two sentences.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile
import yaml

from voice.client.fixtures.fixture import Fixture, FixtureTurn
from voice.client.sound.pcm import RATE, Pcm
from voice.errors import FixtureError

SHORTEST, LONGEST = 0.2, 5.0
"""Seconds of the shortest and the longest pause."""
SHAPE, SCALE = 1.5, 0.22
"""How long people pause: Lomax beyond `SHORTEST`, cut at `LONGEST`. Of 705 pauses in 400 English turns said to agents
(LiveKit's eot-bench, `output/`), 55.6 % are longer than 0.3 s, 21.7 % than 0.6, at most 10 % than 1.0, at most 5 % than
1.6 and 1.3 % than 2.5; of those drawn 57, 20, 9, 4 and 2 %."""
BEFORE, AFTER = 0.5, 0.4
"""Seconds of speech required on either side of a pause, so that what precedes it can be mistaken for a turn."""
SOFT_DB = 22.0
"""Decibels by which a gap between words is softer than the loud parts of its stretch."""
SHORTEST_SOFTNESS = 0.03
"""Seconds; a shorter soft place lies inside a word."""
GAPS_APART = 0.25
"""Least seconds between two gaps of a recording."""
BLOCK, FADE = 0.01, 0.005
FLOOR = 1e-4
"""-80 dB of full scale; lower levels count as this one."""
DECAY = 0.03
"""Seconds after the end of a label that still belong to its sound."""

Floats = npt.NDArray[np.float64]
Span = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class PausedTurn:
    """A recording with a pause inserted: its samples, and its stretches of speech in seconds."""

    samples: Pcm
    speech: tuple[Span, ...]


def with_pauses(fixtures: Sequence[Fixture], out: Path, *, copies: int, seed: int = 1) -> Path:
    """Write fixtures in which every recording has a pause inserted, a different one in each copy.

    Args:
        fixtures: Recordings of speech; those without room for a pause are left out.
        out: Folder to create; it gets a scenario file with one conversation for each copy.
        copies: The number of copies of each recording.
        seed: Seeds the pauses' lengths and noise.

    Raises:
        FixtureError: No recording has room for a pause.
    """
    out.mkdir(parents=True, exist_ok=True)
    turns = [turn for fixture in fixtures for turn in fixture.turns if turn.speech]
    scenarios = []
    for copy in range(1, copies + 1):
        entries = []
        for number, turn in enumerate(turns, start=1):
            chance = random.Random(f"{seed} {turn.sha256} {copy}")
            gaps = word_gaps(turn)
            if gaps:
                paused = insert_pause(turn, gaps[(copy - 1) % len(gaps)], pause_length(chance.random()), chance)
                entries.append(_write(turn, paused, out, f"{copy}-{number:02}-{Path(turn.name).stem}.wav"))
        scenarios.append({"name": f"paused-{copy}", "turns": entries})
    if not scenarios or not scenarios[0]["turns"]:
        raise FixtureError("No recording has a gap between words that a pause could be inserted into.")
    scenario = {"name": "pauses", "user": {"modality": "audio"}, "scenarios": scenarios}
    (out / "scenario.yaml").write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
    return out


def pause_length(share: float) -> float:
    """Seconds of the pause that this share of pauses, 0 to 1, does not exceed."""
    beyond = (1 + (LONGEST - SHORTEST) / SCALE) ** -SHAPE
    survival = 1 - share * (1 - beyond)
    return SHORTEST + SCALE * (math.pow(survival, -1 / SHAPE) - 1)


def word_gaps(turn: FixtureTurn) -> list[Span]:
    """The gaps between words, in seconds of the recording, the longest first."""
    found = list(chain.from_iterable(_soft_places(turn.samples, stretch) for stretch in turn.speech))
    kept: list[Span] = []
    for gap in sorted(found, key=lambda gap: gap[0] - gap[1]):
        if all(abs(gap[0] - other[0]) >= GAPS_APART for other in kept):
            kept.append(gap)
    return kept


def insert_pause(turn: FixtureTurn, gap: Span, seconds: float, chance: random.Random) -> PausedTurn:
    """The turn with `seconds` of its own background noise in the middle of a gap; `chance` seeds the noise."""
    cut = round((gap[0] + gap[1]) / 2 * RATE)
    length, fade = round(seconds * RATE), round(FADE * RATE)
    samples = turn.samples.astype(np.float64)
    noise = _like(_background(turn, gap), length + 2 * fade, np.random.default_rng(chance.getrandbits(32)))
    ramp = np.linspace(0.0, 1.0, fade)
    # The noise fades in over the samples before the cut, and out over those after it.
    noise[:fade] = noise[:fade] * ramp + samples[cut - fade : cut] * ramp[::-1]
    noise[-fade:] = noise[-fade:] * ramp[::-1] + samples[cut : cut + fade] * ramp
    joined = np.concatenate([samples[: cut - fade], noise, samples[cut + fade :]])
    added = length / RATE
    speech: list[Span] = []
    for start, end in turn.speech:
        if end <= gap[0]:
            speech.append((start, end))
        elif start >= gap[1]:
            speech.append((start + added, end + added))
        else:
            speech += [(start, gap[0]), (gap[1] + added, end + added)]
    return PausedTurn(np.rint(joined).clip(-32768, 32767).astype(np.int16), tuple(speech))


def noise_of(turn: FixtureTurn, seconds: float) -> Pcm:
    """Noise of this length like the recording where nobody speaks; like its last moment if it is all speech."""
    background = _background(turn, (turn.seconds - FADE, turn.seconds))
    length = round(seconds * RATE)
    return np.rint(_like(background, length, np.random.default_rng(length))).clip(-32768, 32767).astype(np.int16)


def _soft_places(samples: Pcm, stretch: Span) -> Iterator[Span]:
    """The soft places inside a stretch, away from its ends."""
    size = round(BLOCK * RATE)
    first, last = (round(edge * RATE) for edge in stretch)
    count = (last - first) // size
    blocks = samples[first : first + count * size].astype(np.float64).reshape(count, size) / 32768
    level = np.maximum(np.sqrt((blocks**2).mean(axis=1)), FLOOR)
    soft = level <= np.percentile(level, 90) * 10 ** (-SOFT_DB / 20)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], soft.astype(int), [0]])))
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        start, stop = stretch[0] + begin * BLOCK, stretch[0] + end * BLOCK
        has_room = start - stretch[0] >= BEFORE and stretch[1] - stop >= AFTER
        if has_room and stop - start >= SHORTEST_SOFTNESS:
            yield float(start), float(stop)


def _background(turn: FixtureTurn, gap: Span) -> Floats:
    """The recording where nobody speaks; the gap itself in a recording that is all speech."""
    edges = [0.0, *chain.from_iterable((start, end + DECAY) for start, end in turn.speech), turn.seconds]
    silences = [turn.samples[round(a * RATE) : round(b * RATE)] for a, b in zip(edges[::2], edges[1::2], strict=True)]
    silences = [one for one in silences if len(one) >= FADE * RATE]
    if not silences:
        silences = [turn.samples[round(gap[0] * RATE) : round(gap[1] * RATE)]]
    # The softest one: a breath before the first word is not background.
    return min((one.astype(np.float64) for one in silences), key=_rms)


def _like(background: Floats, length: int, random: np.random.Generator) -> Floats:
    """Noise with the spectrum and level of `background`, `length` samples long."""
    size = 1 << max(5, (len(background) - 1).bit_length())
    shape = np.abs(np.fft.rfft(background * np.hanning(len(background)), size))
    white = np.fft.rfft(random.standard_normal(length))
    noise = np.fft.irfft(white * np.interp(np.linspace(0, 1, len(white)), np.linspace(0, 1, len(shape)), shape), length)
    rms = _rms(noise)
    return noise * (_rms(background) / rms) if rms else noise


def _rms(samples: Floats) -> float:
    return float(np.sqrt((samples**2).mean()))


def _write(turn: FixtureTurn, paused: PausedTurn, out: Path, name: str) -> dict[str, Any]:
    """Write the recording and its labels; returns its entry in the scenario."""
    soundfile.write(out / name, paused.samples, RATE)
    labels = "".join(f"{start:.3f}\t{end:.3f}\tspeech\n" for start, end in paused.speech)
    (out / name).with_suffix(".txt").write_text(labels, encoding="utf-8")
    return {"user": turn.text, "audio": name, "speaker": turn.speaker, "expect": [{"event": "bot_started_speaking"}]}
