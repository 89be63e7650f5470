"""Records the real detectors' reports on recordings, faster than real time, in at most two processes."""

import asyncio
import hashlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.lab.curve.recorded import Clip, DetectorReports, Detectors
from pipelines.settings import Turns, Vad
from pipelines.versions import versions
from voice.client.fixtures.fixture import Fixture, FixtureTurn
from voice.errors import FixtureError

if TYPE_CHECKING:
    from pipelines.lab.curve.heard_words import Recognition
    from pipelines.lab.curve.word_times import WordAligner
    from voice.turns.turn_models import TurnModels

MOST_PROCESSES = 2
LEAST_CLIPS = 8
"""Fewer recordings are played in this process, because another takes seconds to start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A recording to play to the detectors, and its properties."""

    name: str
    turn: FixtureTurn
    inserted: bool


def record(fixtures: Sequence[Fixture], *, inserted: bool, progress: Callable[[int, int], None]) -> DetectorReports:
    """Play every turn that wants an answer to the detectors.

    Args:
        fixtures: the recordings.
        inserted: whether their pauses were inserted.
        progress: called with the number of finished recordings and their total.

    Raises:
        FixtureError: there is no labelled speech in any of them.
    """
    tasks = [
        Task(name=f"{fixture.name}/{turn.name}", turn=turn, inserted=inserted)
        for fixture in fixtures
        for turn in fixture.turns
        if turn.wants_answer
    ]
    if not tasks:
        raise FixtureError("None of the recordings holds a turn that wants an answer.")
    detectors = current_detectors()
    clips = []
    progress(0, len(tasks))
    for done, clip in enumerate(_listened(tasks, detectors), 1):
        clips.append(clip)
        progress(done, len(tasks))
    return DetectorReports(detectors=detectors, clips=tuple(clips))


def current_detectors() -> Detectors:
    """The detectors of this installation, as they are set by default."""
    # Imported now: pipecat and the models' runtime take a second.
    from pipelines.lab.curve.heard_words import reader, recogniser
    from voice.turns.smart_turn import MODEL_FILE

    vad, turns = Vad(), Turns()
    return Detectors(
        silero=_sha256("pipecat.audio.vad.data", "silero_vad.onnx"),
        smart_turn=_sha256("pipecat.audio.turn.smart_turn.data", MODEL_FILE),
        versions={name: version for name, version in versions().items() if name in ("pipecat-ai", "onnxruntime")},
        confidence=vad.confidence,
        start=vad.start_ms / 1000,
        stop=vad.stop_ms / 1000,
        volume=vad.min_volume,
        hint=turns.hint_ms / 1000,
        recogniser=recogniser(),
        reader=reader(),
    )


def _listened(tasks: Sequence[Task], detectors: Detectors) -> Iterator[Clip]:
    work = partial(listen_to, detectors=detectors)
    processes = min(MOST_PROCESSES, os.cpu_count() or 1)
    if len(tasks) < LEAST_CLIPS or processes < 2:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=_prepare) as pool:
        try:
            with _uninterrupted():
                # Not `map`, which cancels what still waits: the pool would stumble over that when its processes end.
                clips = [pool.submit(work, task) for task in tasks]
            for clip in clips:
                yield clip.result()
        except KeyboardInterrupt:
            # They would first finish their work or their imports.
            for process in active_children():
                process.terminate()
            # Otherwise the pool waits until a recording is written to a pipe that nobody reads (python/cpython#94777).
            pool._call_queue._reader.close()  # type: ignore[attr-defined]
            raise


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait: a pool stumbles over a process that is only half started."""
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def listen_to(task: Task, detectors: Detectors) -> Clip:
    """The detectors' reports on one recording."""
    from pipecat.audio.vad.vad_analyzer import VADParams

    from pipelines.lab.curve.listening import Listener, labelled, with_silence

    turn = task.turn
    params = VADParams(
        confidence=detectors.confidence,
        start_secs=detectors.start,
        stop_secs=detectors.stop,
        min_volume=detectors.volume,
    )
    models, aligner, recognition = _models()
    heard = asyncio.run(Listener(models, params, detectors.hint).listen(with_silence(turn)))
    words, alignment = aligner.align(turn)
    return Clip(
        name=task.name,
        wav=str(Path(turn.wav).absolute()),
        sha256=turn.sha256,
        speaker=turn.speaker,
        synthetic=turn.synthetic,
        inserted=task.inserted,
        text=turn.text,
        truth=turn.truth,
        speech=turn.speech,
        alignment=alignment,
        silences=labelled(heard, turn, words, lambda began, said: recognition.before(turn, began, said)),
    )


def _prepare() -> None:
    from pipelines.process import prepare_process

    prepare_process(verbose=False)


@cache
def _models() -> "tuple[TurnModels, WordAligner, Recognition]":
    """This process's own models, which take a second to load."""
    from pipelines.lab.curve.heard_words import Recognition
    from pipelines.lab.curve.word_times import WordAligner
    from voice.turns.turn_models import TurnModels

    return TurnModels(smart_turn=True), WordAligner(), Recognition()


def _sha256(package: str, file: str) -> str:
    return hashlib.sha256(resources.files(package).joinpath(file).read_bytes()).hexdigest()
