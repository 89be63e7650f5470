"""How long after the end of speech PocketSphinx's text is final: real time, with the real detector.

python -m pytest tests/benchmarks/test_sphinx.py -m slow -s
"""

import asyncio
import statistics
import time
import wave
from pathlib import Path

import pytest
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import TranscriptionFrame, VADUserStoppedSpeakingFrame
from pipecat.processors.audio.vad_processor import VADProcessor

from tests.voice.asr.sphinx.sphinx_call import Call, audio
from voice.asr.sphinx.language_model import build_language_model
from voice.asr.sphinx.service import TTFS_P99, SphinxPool
from voice.responder.sentences import domain_sentences

SAMPLES = Path(__file__).parents[2] / "samples"


def clips() -> list[tuple[bytes, float]]:
    """Recorded requests of one stretch of speech, and where in them the speech ends, in seconds."""
    found = []
    for name in ("commands", "units", "arithmetic", "small_talk"):
        for path in sorted((SAMPLES / name).glob("*.wav")):
            labels = path.with_suffix(".txt").read_text().splitlines()
            if len(labels) == 1:
                with wave.open(str(path)) as file:
                    assert file.getframerate() == 16000
                    found.append((file.readframes(file.getnframes()), float(labels[0].split()[1])))
    return found


@pytest.mark.slow
async def test_the_final_text_comes_soon_after_speech(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints the figures that TTFS_P99 is taken from."""
    pool = SphinxPool(language_model=build_language_model(domain_sentences, edition="a", cache=tmp_path))
    await pool.start()
    after_speech, after_detector = [], []
    async with Call(pool, VADProcessor(vad_analyzer=SileroVADAnalyzer())) as call:
        for pcm, end in clips():
            known = len(call.below.of(TranscriptionFrame))
            start = time.monotonic()
            for index, frame in enumerate(audio(pcm + bytes(32000))):
                await asyncio.sleep(max(0.0, start + (index + 1) * 0.02 - time.monotonic()))
                await call.send(frame)
            texts = await call.wait_for(TranscriptionFrame, count=known + 1)
            came = call.below.times[texts[-1].id]
            after_speech.append(came - start - end)
            after_detector.append(came - call.below.times[call.below.of(VADUserStoppedSpeakingFrame)[-1].id])
    await pool.close()
    with capsys.disabled():
        for name, times in (("speech", after_speech), ("detector's decision", after_detector)):
            p95, p99 = (statistics.quantiles(times, n=100, method="inclusive")[p - 1] * 1000 for p in (95, 99))
            print(
                f"\nfinal text after the end of {name}: median {statistics.median(times) * 1000:.0f} ms, "
                f"p95 {p95:.0f} ms, p99 {p99:.0f} ms, n {len(times)}"
            )
    assert statistics.median(after_speech) < TTFS_P99
    assert statistics.median(after_detector) < 1
