"""Which pass runs when, and what becomes of passes that nobody waits for any more."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faster_whisper import WhisperModel
from numpy.typing import NDArray

from pipelines.lab.scripted import model_folder
from voice.asr.whisper.decoding import SAMPLE_RATE, Decoding
from voice.asr.whisper.model import SharedWhisper
from voice.inference_queue import InferenceQueue, IsWanted, WithdrawnError

WITHIN = 30.0
"""Seconds that a step may take on a busy machine."""


class Steps:
    """A pass of two steps; the first ends when `go` is set, and `began` says that it has begun."""

    def __init__(self) -> None:
        self.began, self.go = threading.Event(), threading.Event()
        self.steps = 0

    def __call__(self, is_wanted: IsWanted) -> str:
        self.began.set()
        self.steps += 1
        assert self.go.wait(WITHIN)
        if not is_wanted():
            raise WithdrawnError
        self.steps += 1
        return "text"


@pytest.fixture
def queue() -> Iterator[InferenceQueue]:
    queue = InferenceQueue("pass", threads=2)
    yield queue
    queue.close()


def test_passes_run_one_at_a_time_in_order_of_arrival(queue: InferenceQueue) -> None:
    first, second = Steps(), Steps()
    passes = queue.submit(first), queue.submit(second)
    assert first.began.wait(WITHIN)
    assert not second.began.wait(0.1)
    first.go.set()
    assert passes[0].result(WITHIN) == "text"
    assert second.began.wait(WITHIN)
    assert not queue.is_idle
    second.go.set()
    assert passes[1].result(WITHIN) == "text"
    assert queue.is_idle


def test_a_withdrawn_pass_that_waits_never_begins(queue: InferenceQueue) -> None:
    first, second, third = Steps(), Steps(), Steps()
    running, waiting, last = (queue.submit(steps) for steps in (first, second, third))
    assert first.began.wait(WITHIN)
    assert waiting.cancel()
    first.go.set()
    third.go.set()
    assert running.result(WITHIN) == last.result(WITHIN) == "text"
    assert second.steps == 0
    with pytest.raises(CancelledError):
        waiting.result(WITHIN)


def test_the_next_pass_begins_while_the_withdrawn_one_still_computes(queue: InferenceQueue) -> None:
    withdrawn, next_one = Steps(), Steps()
    passing = queue.submit(withdrawn)
    assert withdrawn.began.wait(WITHIN)
    later = queue.submit(next_one)
    assert not passing.cancel()
    assert next_one.began.wait(WITHIN)
    next_one.go.set()
    assert later.result(WITHIN) == "text"
    withdrawn.go.set()
    with pytest.raises(CancelledError):
        passing.result(WITHIN)
    assert withdrawn.steps == 1


def test_withdrawn_passes_take_no_more_than_the_threads_there_are(queue: InferenceQueue) -> None:
    steps = [Steps(), Steps(), Steps()]
    passes = []
    for pass_steps in steps[:2]:
        passes.append(queue.submit(pass_steps))
        assert pass_steps.began.wait(WITHIN)
        passes[-1].cancel()
    last = queue.submit(steps[2])
    assert not steps[2].began.wait(0.1)
    steps[0].go.set()
    assert steps[2].began.wait(WITHIN)
    for pass_steps in steps:
        pass_steps.go.set()
    assert last.result(WITHIN) == "text"


async def test_to_cancel_the_task_that_waits_withdraws_the_pass(queue: InferenceQueue) -> None:
    steps = Steps()
    passing = queue.submit(steps)
    waiting = asyncio.ensure_future(asyncio.wrap_future(passing))
    assert await asyncio.to_thread(steps.began.wait, WITHIN)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert not passing.is_wanted
    steps.go.set()


def test_a_failure_goes_to_whoever_waits_and_the_next_pass_runs(queue: InferenceQueue) -> None:
    def fail(_: IsWanted) -> str:
        raise OSError("no memory")

    steps = Steps()
    steps.go.set()
    failing, later = queue.submit(fail), queue.submit(steps)
    with pytest.raises(OSError, match="no memory"):
        failing.result(WITHIN)
    assert later.result(WITHIN) == "text"


def test_a_closed_queue_ends_its_passes_and_takes_no_more(queue: InferenceQueue) -> None:
    steps = Steps()
    running, waiting = queue.submit(steps), queue.submit(steps)
    assert steps.began.wait(WITHIN)
    queue.close()
    steps.go.set()
    for passing in (running, waiting):
        with pytest.raises(CancelledError):
            passing.result(WITHIN)
    with pytest.raises(RuntimeError, match="has been closed"):
        queue.submit(steps)


class Halted:
    """A model that waits before one of its steps until `go` is set, and counts how often it takes each."""

    def __init__(self, model: Any, before: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.there, self.go = threading.Event(), threading.Event()
        self.taken = {"encode": 0, "generate_with_fallback": 0}
        for name in self.taken:
            monkeypatch.setattr(model, name, self._noting(name, getattr(model, name), halts=name == before))

    def _noting(self, name: str, step: Callable[..., Any], *, halts: bool) -> Callable[..., Any]:
        def noting(*args: Any) -> Any:
            self.taken[name] += 1
            if halts and not self.there.is_set():
                self.there.set()
                assert self.go.wait(WITHIN)
            return step(*args)

        return noting


def noise(seconds: float) -> NDArray[np.float32]:
    return (np.random.default_rng(0).standard_normal(round(seconds * SAMPLE_RATE)) * 0.1).astype(np.float32)


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Callable[..., tuple[SharedWhisper, Any]]]:
    """Loads a model of the text that it is given; returns it with the faster-whisper model inside."""
    loaded: list[SharedWhisper] = []
    engines: list[Any] = []

    def engine(*args: Any, **options: Any) -> Any:
        engines.append(WhisperModel(*args, **options))
        return engines[-1]

    def load(text: str, **options: Any) -> tuple[SharedWhisper, Any]:
        folder = model_folder.build(tmp_path / "model", text=text)
        loaded.append(SharedWhisper.load(folder, model_class=engine, **options))
        return loaded[-1], engines[-1]

    yield load
    for whisper in loaded:
        whisper.close()


@pytest.mark.parametrize(
    ("step", "taken"),
    [
        # The withdrawn pass takes the step that it is in, and no other; the later pass takes one of each.
        ("encode", {"encode": 2, "generate_with_fallback": 1}),
        ("generate_with_fallback", {"encode": 2, "generate_with_fallback": 2}),
    ],
)
def test_a_later_callers_text_is_there_before_the_withdrawn_pass_has_ended(
    load: Callable[..., tuple[SharedWhisper, Any]], monkeypatch: pytest.MonkeyPatch, step: str, taken: dict[str, int]
) -> None:
    whisper, engine = load("Yes.")
    halted = Halted(engine, step, monkeypatch)
    withdrawn = whisper.submit(noise(2.0))
    assert halted.there.wait(WITHIN)
    later = whisper.submit(noise(1.0))
    withdrawn.cancel()
    assert later.result(WITHIN) == "Yes."
    assert not withdrawn.done()
    halted.go.set()
    wait([withdrawn], WITHIN)
    assert halted.taken == taken


def test_a_withdrawn_pass_is_not_decoded_again_with_the_whole_window(
    load: Callable[..., tuple[SharedWhisper, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    whisper, engine = load("no " * 25, decoding=Decoding(context="auto"))  # a loop, which looks wrong
    halted = Halted(engine, "generate_with_fallback", monkeypatch)
    withdrawn = whisper.submit(noise(2.0))
    assert halted.there.wait(WITHIN)
    withdrawn.cancel()
    halted.go.set()
    with pytest.raises(CancelledError):
        withdrawn.result(WITHIN)
    assert halted.taken == {"encode": 1, "generate_with_fallback": 1}


def test_a_spare_pass_gives_way_to_any_other(queue: InferenceQueue) -> None:
    spare, other = Steps(), Steps()
    check = queue.submit(spare, spare=True)
    assert spare.began.wait(WITHIN)
    assert queue.is_idle
    passing = queue.submit(other)
    assert other.began.wait(WITHIN), "the other one begins at once"
    assert not check.is_wanted
    spare.go.set()
    other.go.set()
    assert passing.result(WITHIN) == "text"
    with pytest.raises(CancelledError):
        check.result(WITHIN)
    assert spare.steps == 1


def test_a_spare_pass_does_not_begin_while_others_run_or_wait(queue: InferenceQueue) -> None:
    running, spare = Steps(), Steps()
    passing = queue.submit(running)
    assert running.began.wait(WITHIN)
    check = queue.submit(spare, spare=True)
    assert check.cancelled()
    running.go.set()
    assert passing.result(WITHIN) == "text"
    assert spare.steps == 0


def test_spare_passes_run_one_after_the_other(queue: InferenceQueue) -> None:
    first, second = Steps(), Steps()
    checks = queue.submit(first, spare=True), queue.submit(second, spare=True)
    assert first.began.wait(WITHIN)
    assert not second.began.wait(0.1)
    first.go.set()
    second.go.set()
    assert [check.result(WITHIN) for check in checks] == ["text", "text"]


def test_a_withdrawn_pass_that_still_computes_does_not_shed_a_spare_one(queue: InferenceQueue) -> None:
    withdrawn, spare = Steps(), Steps()
    passing = queue.submit(withdrawn)
    assert withdrawn.began.wait(WITHIN)
    passing.cancel()
    check = queue.submit(spare, spare=True)
    assert spare.began.wait(WITHIN)
    spare.go.set()
    assert check.result(WITHIN) == "text"
    withdrawn.go.set()
