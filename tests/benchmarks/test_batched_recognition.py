"""Whether passes of several callers are done sooner as one batch, or one after the other as the agent does them.

python -m pytest tests/benchmarks/test_batched_recognition.py -m slow -s

The model has tiny's true shape and a scripted text; features are made once, because a batch saves nothing there. A
batch gives every caller its text at its end; one after the other, the first caller does not wait for the others: the
mean over the callers counts, beside the time until the last one has its text.
"""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipelines.lab.scripted import model_folder
from voice.asr.whisper.decoding import SAMPLE_RATE

pytestmark = pytest.mark.slow

SPOKEN = 3.0
"""Seconds of audio of each caller."""
ROUNDS = 9


@pytest.mark.parametrize("frames", [600, 3000], ids=["auto", "full"])
@pytest.mark.parametrize("callers", [2, 4])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_beside_one_after_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], callers: int, frames: int, threads: int
) -> None:
    from ctranslate2 import StorageView
    from faster_whisper import WhisperModel
    from faster_whisper.audio import pad_or_trim
    from faster_whisper.tokenizer import Tokenizer

    folder = model_folder.build(tmp_path, text="set a timer for ten minutes please", size="tiny")
    model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads)
    audio = (np.random.default_rng(0).standard_normal(round(SPOKEN * SAMPLE_RATE)) * 0.1).astype(np.float32)
    features = np.ascontiguousarray(pad_or_trim(model.feature_extractor(audio), frames)[None], np.float32)
    tokenizer = Tokenizer(model.hf_tokenizer, model.model.is_multilingual, task="transcribe", language="en")
    prompt = model.get_prompt(tokenizer, [], without_timestamps=True)

    def recognise(number: int) -> None:
        batch = np.ascontiguousarray(np.repeat(features, number, axis=0))
        encoded = model.model.encode(StorageView.from_array(batch), to_cpu=False)
        results = model.model.generate(encoded, [prompt] * number, beam_size=1, max_length=64)
        texts = {tuple(result.sequences_ids[0]) for result in results}
        assert len(results) == number
        assert len(texts) == 1

    recognise(callers)
    alone, batched = [], []
    for _ in range(ROUNDS):
        alone.append(timed(lambda: recognise(1)))
        batched.append(timed(lambda: recognise(callers)))
    one, batch = statistics.median(alone), statistics.median(batched)
    mean_in_turn, last = one * (callers + 1) / 2, callers * one
    with capsys.disabled():
        print(
            f"\nscripted:whisper tiny int8, {frames / 100:.0f} s encoded, {threads} thread(s), {callers} callers: one "
            f"after the other {mean_in_turn * 1000:.0f} ms on average, {last * 1000:.0f} for the last one; as a "
            f"batch {batch * 1000:.0f} ms for all (× {batch / mean_in_turn:.2f} on average, × {batch / last:.2f} for "
            f"the last); n {ROUNDS}, load {os.getloadavg()[0]:.1f}"
        )


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
