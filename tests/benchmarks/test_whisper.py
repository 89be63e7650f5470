"""How long after the detector's decision Whisper's text is final, and what listening costs, in real time.

python -m pytest tests/benchmarks/test_whisper.py -m slow -s

The models have Whisper's true shapes and scripted words. The detector follows the labels of the recordings: speech is
reported after 0.2 s of it, the hint comes after 96 ms of silence and the end after 192 ms, as Silero's windows have it.
"""

import asyncio
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from pipecat.frames.frames import (
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from pipelines.lab.scripted.model import ScriptedWhisperModel, build_for_fixtures
from voice.asr.whisper.decoding import SAMPLE_RATE, Context, Decoding
from voice.asr.whisper.model import SharedWhisper
from voice.asr.whisper.service import WhisperSTTService
from voice.asr.whisper.weights import from_folder
from voice.client.fixtures.fixture import FixtureTurn, load_fixtures
from voice.frames import EagerHintFrame

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[2] / "samples"
FIXTURES = [SAMPLES / name for name in ("arithmetic", "units", "small_talk", "commands", "barge_in")]
FRAME = 0.02
START, HINT, STOP = 0.2, 0.096, 0.192
SLOW = 5.0
"""Seconds no text may take: the machine is shared, and figures are printed, not judged."""


class Ear(FrameProcessor):
    """Notes when texts and the ends of utterances come, and the processor time between beginning and end."""

    def __init__(self) -> None:
        super().__init__()
        self.stopped: list[float] = []
        self.finals: list[tuple[float, str]] = []
        self.interims = 0
        self.spoken = self.spent = 0.0
        self._since = (0.0, 0.0)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        now = time.monotonic()
        if isinstance(frame, VADUserStartedSpeakingFrame):
            self._since = now, time.process_time()
        elif isinstance(frame, VADUserStoppedSpeakingFrame):
            self.stopped.append(now)
            self.spoken += now - self._since[0]
            self.spent += time.process_time() - self._since[1]
        elif isinstance(frame, TranscriptionFrame):
            self.finals.append((now, frame.text))
        elif isinstance(frame, InterimTranscriptionFrame):
            self.interims += 1
        await self.push_frame(frame, direction)


def timeline(turn: FixtureTurn, *, hints: bool) -> Iterator[list[Frame]]:
    """What arrives every 20 ms: audio, and what a detector that knows the labels reports; a second of silence last."""
    events: dict[int, Frame] = {round((turn.onset + START) / FRAME): VADUserStartedSpeakingFrame(start_secs=START)}
    if hints:
        events[round((turn.end + HINT) / FRAME)] = EagerHintFrame(silence=HINT)
    events[round((turn.end + STOP) / FRAME)] = VADUserStoppedSpeakingFrame(stop_secs=STOP)
    size = round(FRAME * SAMPLE_RATE)
    pcm = np.concatenate([turn.samples, np.zeros(SAMPLE_RATE, np.int16)])
    for index in range(len(pcm) // size):
        frames: list[Frame] = [InputAudioRawFrame(pcm[index * size :][:size].tobytes(), SAMPLE_RATE, 1)]
        yield [*frames, events[index + 1]] if index + 1 in events else frames


async def replay(service: WhisperSTTService, turns: Sequence[FixtureTurn], *, hints: bool) -> Ear:
    ear = Ear()
    worker = PipelineWorker(Pipeline([service, ear]), cancel_on_idle_timeout=False, enable_rtvi=False)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    begin = time.monotonic() + 1.0
    arrivals = (frames for turn in turns for frames in timeline(turn, hints=hints))
    for number, frames in enumerate(arrivals, 1):
        await asyncio.sleep(max(0.0, begin + number * FRAME - time.monotonic()))
        for frame in frames:
            await worker.queue_frame(frame)
    await worker.queue_frame(EndFrame())
    await running
    return ear


def milliseconds(times: Sequence[float]) -> str:
    p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
    return f"p50 {statistics.median(times) * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms, n {len(times)}"


@pytest.mark.parametrize(
    ("size", "context", "streaming", "hints"),
    [
        ("tiny", "auto", True, True),
        ("tiny", "auto", True, False),
        ("tiny", "auto", False, False),
        ("base", "auto", True, True),
        ("base", "auto", True, False),
        ("tiny", "full", True, True),
        ("tiny", "full", True, False),
    ],
)
async def test_final_text_after_the_end_of_speech(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: str, context: Context, streaming: bool, hints: bool
) -> None:
    turns = [turn for fixture in load_fixtures(FIXTURES) for turn in fixture.turns if len(turn.speech) == 1][:22]
    folder = build_for_fixtures(tmp_path, FIXTURES, size=size)
    model = SharedWhisper.load(folder, decoding=Decoding(context=context), model_class=ScriptedWhisperModel)
    ear = await replay(WhisperSTTService(model, streaming=streaming), turns, hints=hints)
    model.close()
    waits = [final - stop for stop, (final, _) in zip(ear.stopped, ear.finals, strict=True)]
    right = sum(text == turn.text for (_, text), turn in zip(ear.finals, turns, strict=True))
    with capsys.disabled():
        print(
            f"\nscripted:whisper-{size} int8, context {context}, streaming {streaming}, hints {hints}: "
            f"final text after the detector's decision {milliseconds(waits)}; "
            f"{ear.spent / ear.spoken:.0%} of a core while the user speaks, pipeline and replay included; "
            f"{ear.interims / len(turns):.1f} partial texts an utterance; {right} of {len(turns)} texts right; "
            f"load {os.getloadavg()[0]:.1f}"
        )
    assert len(waits) >= 20
    assert max(waits) < SLOW


@pytest.mark.skipif("VOICE_WHISPER_DIR" not in os.environ, reason="needs the folder of a Whisper model")
def test_word_error_rate_of_both_contexts(capsys: pytest.CaptureFixture[str]) -> None:
    """`VOICE_WHISPER_DIR=MODEL python -m pytest -m slow -s -k error_rate tests/benchmarks`."""
    folder = from_folder(Path(os.environ["VOICE_WHISPER_DIR"]))
    turns = [turn for fixture in load_fixtures([SAMPLES]) for turn in fixture.turns if turn.text and turn.speech]
    words = sum(len(bare(turn.text)) for turn in turns)
    errors = {}
    for context in ("full", "auto"):
        model = SharedWhisper.load(folder.path, name=folder.name, decoding=Decoding(context=context))
        heard = [model.transcribe(turn.samples.astype(np.float32) / 32768) for turn in turns]
        model.close()
        errors[context] = sum(distance(bare(t.text), bare(text)) for t, text in zip(turns, heard, strict=True))
        with capsys.disabled():
            print(f"\n{folder.name}, context {context}: {errors[context] / words:.1%} of {words} words wrong")
    assert errors["full"] < words
    assert errors["auto"] - errors["full"] <= 0.02 * words


def bare(text: str) -> list[str]:
    return "".join(c for c in text.lower() if c.isalnum() or c.isspace()).split()


def distance(truth: Sequence[str], heard: Sequence[str]) -> int:
    """Word insertions, deletions and substitutions from `truth` to `heard`."""
    costs = np.zeros((len(truth) + 1, len(heard) + 1), int)
    costs[:, 0], costs[0] = range(len(truth) + 1), range(len(heard) + 1)
    for i, j in product(range(len(truth)), range(len(heard))):
        same = costs[i, j] + (truth[i] != heard[j])
        costs[i + 1, j + 1] = min(same, costs[i, j + 1] + 1, costs[i + 1, j] + 1)
    return int(costs[-1, -1])
