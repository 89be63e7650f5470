"""Decodes labelled recordings, ours or the user's, in several ways, and measures errors and times."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latency.judge.answer import normalised, word_errors
from pipelines.calibrating.decision import (
    LEAST_UTTERANCES,
    PATIENCE,
    Measurement,
    choose,
    thread_counts,
    with_threads,
)
from voice.asr.whisper.decoding import SAMPLE_RATE, Decoding, WhisperPasses
from voice.asr.whisper.model import load_model, loading
from voice.client.fixtures.fixture import Fixture
from voice.priority import core_count

Hear = Callable[[Decoding, NDArray[np.float32]], str]
"""Decodes samples in a given way; its wall time is measured."""
BUDGET = 36.0
"""Seconds for all passes whose words count: the command then takes less than a minute. Slow weights decode fewer
recordings, but at least `LEAST_UTTERANCES`."""
TIMED = 6
"""Recordings on which times are measured, for each number of threads. Words, which threads do not change, are counted
on more, with all cores."""
BEFORE, AFTER = 0.5, 0.1
"""Seconds around the speech that a final pass gets in a call: the audio kept from before it, and a hint's silence."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Utterance:
    """The speech of a turn.

    Parameters:
        text: its words.
        samples: float32 in -1..1, 16 kHz mono, shape (samples,), cut as for the recogniser in a call.
    """

    text: str
    samples: NDArray[np.float32]

    @property
    def words(self) -> int:
        """The number of words in it."""
        return len(normalised(self.text).split())


def utterances(fixtures: Iterable[Fixture]) -> list[Utterance]:
    """The turns with known words and speech."""
    found = []
    for turn in (turn for fixture in fixtures for turn in fixture.turns if turn.text and turn.speech):
        start = round(max(0.0, turn.onset - BEFORE) * SAMPLE_RATE)
        cut = turn.samples[start : round((turn.end + AFTER) * SAMPLE_RATE)]
        found.append(Utterance(text=turn.text, samples=(cut / 32768).astype(np.float32)))
    return found


def spread(found: Sequence[Utterance], most: int) -> list[Utterance]:
    """At most `most` of the utterances, evenly spaced."""
    if len(found) <= most:
        return list(found)
    return [found[index * len(found) // most] for index in range(most)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights and how they run.

    Parameters:
        name: their name in reports.
        path: their folder.
        device, compute_type: as in the `[asr]` table.
        model_class: the class that runs the folder; None for faster-whisper's own.
    """

    name: str
    path: Path
    device: str
    compute_type: str
    model_class: Callable[..., Any] | None = None

    def hear(self) -> Hear:
        """Decodes with these weights; models are loaded when they are first needed.

        Raises, when it is called:
            ConfigurationError, ComponentError: as `voice.asr.whisper.model.loading`.
        """
        models: dict[int, Any] = {}
        passes: dict[Decoding, WhisperPasses] = {}

        def hear(decoding: Decoding, samples: NDArray[np.float32]) -> str:
            if decoding not in passes:
                passes[decoding] = self._passes(decoding, models)
            return passes[decoding].transcribe(samples)

        return hear

    def _passes(self, decoding: Decoding, models: dict[int, Any]) -> WhisperPasses:
        with loading(self.path, device=self.device, compute_type=self.compute_type):
            if decoding.threads not in models:
                models[decoding.threads] = load_model(
                    self.path,
                    name=self.name,
                    device=self.device,
                    compute_type=self.compute_type,
                    threads=decoding.threads,
                    model_class=self.model_class,
                )
            return WhisperPasses(models[decoding.threads], name=self.name, language="en", decoding=decoding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The measurements and the choice.

    Parameters:
        words: how many words each utterance has.
        rows: the ways of decoding on one thread, the reference first; a beam that takes longer than `PATIENCE` is left
            out, because its words were not counted.
        chosen: the way to use, and its number of threads.
    """

    words: tuple[int, ...]
    rows: tuple[Measurement, ...]
    chosen: Decoding


def measure_all(
    hear: Hear,
    found: Sequence[Utterance],
    ways: Sequence[Decoding],
    *,
    say: Callable[[str], None],
    cores: int | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Measured:
    """Measure the times of all ways of decoding, then the words of those that may be chosen, then numbers of threads.

    Args:
        hear: decodes.
        found: the recordings.
        ways: of decoding, on one thread; the reference is first.
        say: shows a line of progress.
        cores: of this machine; None to ask it.
        clock: seconds.
    """
    for way in ways:
        hear(way, found[0].samples)  # loads the model; the first pass is the slowest
    timed = spread(found, TIMED)
    times = [
        row for row in _measure(hear, ways, timed, clock) if row.decoding.beam_size == 1 or row.mean_seconds <= PATIENCE
    ]
    counts = thread_counts(cores or core_count())
    on_all = [replace(row.decoding, threads=counts[-1]) for row in times]
    if len(counts) > 1:
        for way in on_all:
            hear(way, found[0].samples)
        each = sum(row.mean_seconds for row in _measure(hear, on_all, timed, clock))
    else:
        each = sum(row.mean_seconds for row in times)
    heard = spread(found, max(LEAST_UTTERANCES, round(BUDGET / each)))
    words = tuple(one.words for one in heard)
    say(f"  {len(heard)} recordings with {sum(words)} words, about {each * len(heard):.0f} s")
    counted = _measure(hear, on_all, heard, clock, say)
    rows = tuple(replace(row, errors=count.errors) for row, count in zip(times, counted, strict=True))
    chosen = choose(rows, words)
    if len(counts) > 1:
        chosen = with_threads(_measure(hear, [replace(chosen, threads=n) for n in counts], timed, clock))
    return Measured(words=words, rows=rows, chosen=chosen)


def _measure(
    hear: Hear,
    decodings: Sequence[Decoding],
    found: Sequence[Utterance],
    clock: Callable[[], float],
    say: Callable[[str], None] | None = None,
) -> list[Measurement]:
    """Measure each utterance in every way, one after the other, so that a busy moment affects all ways alike."""
    errors: dict[Decoding, list[int]] = {decoding: [] for decoding in decodings}
    seconds: dict[Decoding, list[float]] = {decoding: [] for decoding in decodings}
    for number, utterance in enumerate(found, 1):
        for decoding in decodings:
            began = clock()
            text = hear(decoding, utterance.samples)
            seconds[decoding].append(clock() - began)
            errors[decoding].append(word_errors(utterance.text, text)[0])
        if say is not None and 4 * number // len(found) > 4 * (number - 1) // len(found):
            say(f"  {number} of {len(found)} recordings heard in {len(decodings)} ways")
    return [
        Measurement(decoding=decoding, errors=tuple(errors[decoding]), seconds=tuple(seconds[decoding]))
        for decoding in decodings
    ]
