"""What it saves to withdraw a Whisper pass that nobody waits for any more, beside letting it run to its end.

python -m pytest tests/benchmarks/test_withdrawn_passes.py -m slow -s

A caller's pass is given up at a tenth, at half or at nine tenths of its time, and another caller's pass arrives at that
moment. The two ways alternate. The model has tiny's true shape and a scripted text.
"""

import os
import statistics
import time
from pathlib import Path

import numpy as np
import pytest

from pipelines.lab.scripted import model_folder
from voice.asr.whisper.decoding import SAMPLE_RATE, Context, Decoding
from voice.asr.whisper.model import SharedWhisper

pytestmark = pytest.mark.slow

ROUNDS = 15


@pytest.mark.parametrize("context", ["full", "auto"])
def test_a_later_pass_does_not_wait_for_a_withdrawn_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], context: Context
) -> None:
    folder = model_folder.build(tmp_path, text="set a timer for ten minutes please", size="tiny")
    whisper = SharedWhisper.load(folder, decoding=Decoding(context=context))
    audio = (np.random.default_rng(0).standard_normal(3 * SAMPLE_RATE) * 0.1).astype(np.float32)
    alone = statistics.median(timed(whisper, audio) for _ in range(ROUNDS))
    for share in (0.1, 0.5, 0.9):
        waits: dict[bool, list[float]] = {False: [], True: []}
        spent: dict[bool, list[float]] = {False: [], True: []}
        for number in range(2 * ROUNDS):
            withdrawn = number % 2 == 1
            cpu = time.process_time()
            given_up = whisper.submit(audio)
            time.sleep(share * alone)
            if withdrawn:
                given_up.cancel()
            waits[withdrawn].append(timed(whisper, audio))
            while not whisper._queue.is_idle:
                time.sleep(0.002)
            spent[withdrawn].append(time.process_time() - cpu)
        kept_wait, wait = (statistics.median(waits[way]) for way in (False, True))
        kept_cpu, cpu = (statistics.median(spent[way]) for way in (False, True))
        with capsys.disabled():
            print(
                f"\nscripted:whisper tiny int8, context {context}, a pass alone {alone * 1000:.0f} ms, given up at "
                f"{share:.0%}: the later text after {kept_wait * 1000:.0f} ms, {wait * 1000:.0f} if withdrawn "
                f"(× {wait / kept_wait:.2f}); processor time of both {kept_cpu * 1000:.0f} ms, {cpu * 1000:.0f} "
                f"(× {cpu / kept_cpu:.2f}); n {ROUNDS} each, load {os.getloadavg()[0]:.1f}"
            )
        if share < 0.5:
            assert wait < kept_wait
    whisper.close()


def timed(whisper: SharedWhisper, audio: np.ndarray) -> float:
    began = time.perf_counter()
    whisper.submit(audio).result()
    return time.perf_counter() - began
