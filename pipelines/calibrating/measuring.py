"""Lets weights hear recordings in several ways of decoding, and notes words and times."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latency.judge.scoring import word_errors
from pipelines.calibrating.decision import (
    CONTEXTS,
    LEAST_UTTERANCES,
    LEAST_WORDS,
    Measurement,
    choose,
    options,
    thread_counts,
)
from pipelines.calibrating.recordings import Utterance, spread
from voice.asr.whisper.decoding import Decoding, WhisperPasses, always
from voice.asr.whisper.model import load_model, loading
from voice.pass_queue import IsWanted
from voice.priority import core_count

Hear = Callable[[Decoding, NDArray[np.float32]], str]
"""Decodes samples in a given way; its wall time is what is measured."""
BUDGET = 60.0
"""Seconds that all passes should take together; slow weights hear fewer recordings, as many as can decide."""
MORE = 1.5
"""How much longer all passes take than those over the contexts, which are measured first."""
ENOUGH_WORDS = 1.5
"""Recordings are left out only while the others have this many times the least number of words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights as they will be used.

    Parameters:
        name: their name in reports.
        path: their folder.
        device, compute_type: as in the `[asr]` table.
        model_class: what runs the folder; None for faster-whisper's own class.
    """

    name: str
    path: Path
    device: str
    compute_type: str
    model_class: Callable[..., Any] | None = None

    def hear(self, is_wanted: IsWanted = always) -> Hear:
        """Decodes with these weights; models are loaded when they are first needed.

        Args:
            is_wanted: whether anybody still waits for the result.

        Raises, when it is called:
            ConfigurationError, ComponentError: as `voice.asr.whisper.model.loading`.
            WithdrawnError: nobody waits any more.
        """
        models: dict[int, Any] = {}
        passes: dict[Decoding, WhisperPasses] = {}

        def hear(decoding: Decoding, samples: NDArray[np.float32]) -> str:
            if decoding not in passes:
                passes[decoding] = self._passes(decoding, models)
            return passes[decoding].transcribe(samples, is_wanted=is_wanted)

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
    """What was found.

    Parameters:
        words: how many words each utterance has.
        rows: the ways of decoding, the reference first.
        chosen: the one to use.
    """

    words: tuple[int, ...]
    rows: tuple[Measurement, ...]
    chosen: Decoding


def measure_all(
    hear: Hear,
    found: Sequence[Utterance],
    *,
    say: Callable[[str], None],
    cores: int | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Measured:
    """Measure the contexts, then what could improve the chosen one, and choose.

    Args:
        hear: decodes.
        found: the recordings.
        say: shows a line of progress.
        cores: of this machine; None to ask it.
        clock: seconds.
    """
    each = MORE * sum(row.seconds[0] for row in _measure(hear, CONTEXTS, found[:1], clock))
    heard = spread(found, _number(found, each))
    words = tuple(one.words for one in heard)
    say(f"  {len(heard)} recordings with {sum(words)} words, about {each * len(heard):.0f} s")
    rows = _measure(hear, CONTEXTS, heard, clock, say)
    for stage in (options, lambda chosen: thread_counts(chosen, cores or core_count())):
        best = choose(rows, words)
        mean = next(row for row in rows if row.decoding == best).mean_seconds
        say(f"  fastest so far: {best}, {mean * 1000:.0f} ms")
        rows += _measure(hear, stage(best), heard, clock)
    return Measured(words=words, rows=tuple(rows), chosen=choose(rows, words))


def _number(found: Sequence[Utterance], each: float) -> int:
    """How many of the utterances are heard, each of which takes `each` seconds in all."""
    mean_words = sum(one.words for one in found) / len(found)
    enough = max(LEAST_UTTERANCES, round(ENOUGH_WORDS * LEAST_WORDS / max(1.0, mean_words)))
    return max(enough, round(BUDGET / each))


def _measure(
    hear: Hear,
    decodings: Sequence[Decoding],
    found: Sequence[Utterance],
    clock: Callable[[], float],
    say: Callable[[str], None] | None = None,
) -> list[Measurement]:
    """Each utterance in every way, one after the other, so that a busy moment hits all ways alike."""
    errors: dict[Decoding, list[int]] = {decoding: [] for decoding in decodings}
    seconds: dict[Decoding, list[float]] = {decoding: [] for decoding in decodings}
    for decoding in decodings:
        hear(decoding, found[0].samples)  # the first pass is the slowest, and is not counted
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
