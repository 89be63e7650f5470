"""Recordings with a pause where there was none: people's own speech, stopped between two words and gone on with.

A pause is put where the voice is softest for longest inside a labelled stretch of speech, and filled with noise of the
recording's own spectrum and level, so that no click and no dead line tells it from a person who thinks. More follows,
so taking such a pause for the end is always wrong. It is harder than life: the voice does not know that it will pause,
and the longest gap of a recording may lie between two phrases, or two sentences.
"""

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

SHORTEST, LONGEST = 0.3, 1.2
"""Seconds of the pauses; lengths between are equally likely."""
BEFORE, BEHIND = 0.5, 0.4
"""Seconds of speech on either side, so that the part before the pause could be a turn."""
SOFT_DB = 22.0
"""How far below the loud parts of its stretch a gap between words lies."""
SHORTEST_SOFTNESS = 0.03
"""Seconds; softness that is shorter is inside a word."""
GAPS_APART = 0.25
"""Seconds between two gaps of a recording."""
BLOCK, FADE = 0.01, 0.005
FLOOR = 1e-4
"""-80 dB of full scale: below it nothing is softer than anything else."""
DECAY = 0.03
"""Seconds after a label's end that still belong to its sound."""

Floats = npt.NDArray[np.float64]
Span = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class PausedTurn:
    """A recording with a pause inserted: its samples and where its speech is now, seconds."""

    samples: Pcm
    speech: tuple[Span, ...]


def with_pauses(fixtures: Sequence[Fixture], out: Path, *, copies: int, seed: int = 1) -> Path:
    """Write fixtures in which every recording has a pause inserted; each copy of it another one.

    Args:
        fixtures: Recordings of speech; those without room for a pause are left out.
        out: Folder to make; it gets a scenario file with a conversation for each copy.
        copies: How many of each recording.
        seed: Of the pauses' lengths and noise.

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
                paused = insert_pause(turn, gaps[(copy - 1) % len(gaps)], chance.uniform(SHORTEST, LONGEST), chance)
                entries.append(_write(turn, paused, out, f"{copy}-{number:02}-{Path(turn.name).stem}.wav"))
        scenarios.append({"name": f"paused-{copy}", "turns": entries})
    if not scenarios or not scenarios[0]["turns"]:
        raise FixtureError("No recording has a gap between words in which a pause could be put.")
    scenario = {"name": "pauses", "user": {"modality": "audio"}, "scenarios": scenarios}
    (out / "scenario.yaml").write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
    return out


def word_gaps(turn: FixtureTurn) -> list[Span]:
    """Where the voice is soft between words, seconds of the recording, the longest gaps first."""
    found = list(chain.from_iterable(_soft_places(turn.samples, stretch) for stretch in turn.speech))
    kept: list[Span] = []
    for gap in sorted(found, key=lambda gap: gap[0] - gap[1]):
        if all(abs(gap[0] - other[0]) >= GAPS_APART for other in kept):
            kept.append(gap)
    return kept


def insert_pause(turn: FixtureTurn, gap: Span, seconds: float, chance: random.Random) -> PausedTurn:
    """The turn with so many seconds of its own background in the middle of a gap; `chance` seeds the noise."""
    cut = round((gap[0] + gap[1]) / 2 * RATE)
    length, fade = round(seconds * RATE), round(FADE * RATE)
    samples = turn.samples.astype(np.float64)
    noise = _like(_background(turn, gap), length + 2 * fade, np.random.default_rng(chance.getrandbits(32)))
    ramp = np.linspace(0.0, 1.0, fade)
    # The noise fades in over what precedes the cut, and out over what follows it.
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


def _soft_places(samples: Pcm, stretch: Span) -> Iterator[Span]:
    """The runs of soft blocks inside a stretch, away from its ends."""
    size = round(BLOCK * RATE)
    first, last = (round(edge * RATE) for edge in stretch)
    count = (last - first) // size
    blocks = samples[first : first + count * size].astype(np.float64).reshape(count, size) / 32768
    level = np.maximum(np.sqrt((blocks**2).mean(axis=1)), FLOOR)
    soft = level <= np.percentile(level, 90) * 10 ** (-SOFT_DB / 20)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], soft.astype(int), [0]])))
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        start, stop = stretch[0] + begin * BLOCK, stretch[0] + end * BLOCK
        has_room = start - stretch[0] >= BEFORE and stretch[1] - stop >= BEHIND
        if has_room and stop - start >= SHORTEST_SOFTNESS:
            yield float(start), float(stop)


def _background(turn: FixtureTurn, gap: Span) -> Floats:
    """The recording's background where there is no speech; if there is speech throughout, the gap."""
    edges = [0.0, *chain.from_iterable((start, end + DECAY) for start, end in turn.speech), turn.seconds]
    silences = [turn.samples[round(a * RATE) : round(b * RATE)] for a, b in zip(edges[::2], edges[1::2], strict=True)]
    silences = [one for one in silences if len(one) >= FADE * RATE]
    if not silences:
        silences = [turn.samples[round(gap[0] * RATE) : round(gap[1] * RATE)]]
    # The softest of them: a breath before the first word is no background.
    return min((one.astype(np.float64) for one in silences), key=_rms)


def _like(background: Floats, length: int, random: np.random.Generator) -> Floats:
    """Noise of another sound's spectrum and level."""
    size = 1 << max(5, (len(background) - 1).bit_length())
    shape = np.abs(np.fft.rfft(background * np.hanning(len(background)), size))
    white = np.fft.rfft(random.standard_normal(length))
    noise = np.fft.irfft(white * np.interp(np.linspace(0, 1, len(white)), np.linspace(0, 1, len(shape)), shape), length)
    rms = _rms(noise)
    return noise * (_rms(background) / rms) if rms else noise


def _rms(samples: Floats) -> float:
    return float(np.sqrt((samples**2).mean()))


def _write(turn: FixtureTurn, paused: PausedTurn, out: Path, name: str) -> dict[str, Any]:
    """Write the recording and its labels; the scenario's entry."""
    soundfile.write(out / name, paused.samples, RATE)
    labels = "".join(f"{start:.3f}\t{end:.3f}\tspeech\n" for start, end in paused.speech)
    (out / name).with_suffix(".txt").write_text(labels, encoding="utf-8")
    return {"user": turn.text, "audio": name, "expect": [{"event": "bot_started_speaking"}]}
