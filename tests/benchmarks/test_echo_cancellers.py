"""What echo cancellers leave of the agent's voice, and of a caller who interrupts it, in a simulated room.

pip install livekit aec-audio-processing; python -m pytest tests/benchmarks/test_echo_cancellers.py -m slow -s
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADParams, VADState

from tests.benchmarks.echo_cancellers import CANCELLERS, cleaned
from tests.voice.client.sound.simulated_room import SimulatedRoom
from voice.asr.sphinx.language_model import build_language_model
from voice.asr.sphinx.worker import load_decoder
from voice.client.fixtures.fixture import FixtureTurn, load_fixtures
from voice.client.sound.echo_canceller import Process, webrtc
from voice.client.sound.pcm import RATE, Pcm, resample
from voice.responder.sentences import domain_sentences
from voice.turns.vad import SharedSilero

ROOT = Path(__file__).parents[2]
VOICE = ROOT / "voice/tts/voices/en_US-slt-small.onnx"
ANSWERS = (
    "Today is Sunday, November 22. 10 miles is 16.09 kilometers. I will remember that your car is on level three.",
    "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20. There are 3600 seconds in an hour.",
    "I can tell the time, do arithmetic, convert units, set timers, spell words and remember things.",
)
ROOMS = [(-6, 0.04), (-6, 0.2), *((-12, delay) for delay in (0.04, 0.1, 0.2, 0.3)), (-20, 0.04), (-20, 0.2)]
"""Level of the echo in dB, and its delay in seconds; the microphone's clock is 50 ppm fast."""
STOPS = 0.4
"""Seconds after the onset of the caller's speech in which the agent is still heard."""


@lru_cache
def agent() -> Pcm:
    """Half a minute of the embedded voice, with a pause after each sentence."""
    from piper import PiperVoice

    voice = PiperVoice.load(VOICE)
    sentences = (chunk for text in ANSWERS for chunk in voice.synthesize(text))
    pause = np.zeros(RATE // 2, np.int16)
    parts = [(resample(one.audio_int16_array, one.sample_rate, RATE), pause) for one in sentences]
    return np.concatenate([sound for part in parts for sound in part])


@lru_cache
def silero() -> SileroVADAnalyzer:
    return SileroVADAnalyzer(sample_rate=RATE)


def starts_of_speech(pcm: Pcm) -> list[float]:
    """When our voice detector reports speech."""
    vad = SharedSilero(silero()._model, VADParams(start_secs=0.2, min_volume=0.4))
    vad.set_sample_rate(RATE)
    found, before = [], VADState.QUIET
    for at in range(0, len(pcm) - 511, 512):
        state = vad._run_analyzer(pcm[at : at + 512].tobytes())
        if state is VADState.SPEAKING and before not in (VADState.SPEAKING, VADState.STOPPING):
            found.append(at / RATE)
        before = state
    return found


def level(pcm: Pcm) -> float:
    return float(10 * np.log10(np.mean(pcm.astype(np.float64) ** 2) + 1e-9))


@dataclass(frozen=True)
class EchoAlone:
    attenuation: float
    starts: int
    cpu: float


def echo_alone(make: Callable[[], Process], *, delay: float, decibels: float) -> EchoAlone:
    played = agent()
    heard = SimulatedRoom(delay=delay, level=decibels, drift=50).hear(played)
    process = make()
    began = time.process_time()
    left = cleaned(process, heard, played)
    cpu = (time.process_time() - began) / (len(heard) / RATE)
    settled = 5 * RATE
    return EchoAlone(level(heard[settled : len(left)]) - level(left[settled:]), len(starts_of_speech(left)), cpu)


def seconds_until_found_again(make: Callable[[], Process]) -> float:
    """Seconds of the agent's speech until the echo is 15 dB softer for a second, after its delay jumped by 120 ms."""
    played = np.tile(agent()[: 10 * RATE], 3)
    early, late = (SimulatedRoom(delay=delay, level=-12).hear(played) for delay in (0.05, 0.17))
    jump = 12 * RATE
    heard = np.concatenate([early[:jump], late[jump:]])
    left = cleaned(make(), heard, played)
    step = RATE // 2
    for at in range(jump, len(left) - 2 * step, step):
        if level(heard[at : at + 2 * step]) - level(left[at : at + 2 * step]) > 15:
            return (at - jump) / RATE
    return float("inf")


@lru_cache
def requests() -> tuple[FixtureTurn, ...]:
    fixtures = load_fixtures([ROOT / "samples/tour", ROOT / "samples/commands"])
    return tuple(turn for fixture in fixtures for turn in fixture.turns)[:20]


def word_errors(make: Callable[[], Process] | None, decoder: object, *, decibels: float) -> float:
    """The word error rate of requests that begin while the agent speaks, which stops 0.4 s later."""
    gap = 3 * RATE
    total = 5 * RATE + sum(len(turn.samples) + gap for turn in requests())
    blocks = [agent()[at : at + 1600] for at in range(0, len(agent()), 1600)]
    loud = np.concatenate([block for block in blocks if np.abs(block).max() > 300])
    played = np.tile(loud, total // len(loud) + 1)[:total].copy()
    said, at, places = np.zeros(total, np.int16), 5 * RATE, []
    for turn in requests():
        said[at : at + len(turn.samples)] = turn.samples
        played[at + round(STOPS * RATE) : at + len(turn.samples)] = 0
        places.append(at)
        at += len(turn.samples) + gap
    heard = SimulatedRoom(delay=0.1, level=decibels, drift=50).hear(played, said)
    left = cleaned(make(), heard, played) if make else heard
    wrong = words = 0
    for turn, place in zip(requests(), places, strict=True):
        text = recognised(decoder, left[place : place + len(turn.samples) + RATE // 10])
        wrong += distance(turn.text.split(), text.split())
        words += len(turn.text.split())
    return wrong / words


def recognised(decoder: object, pcm: Pcm) -> str:
    quiet = np.zeros(RATE // 5, np.int16)
    decoder.start_utt()  # type: ignore[attr-defined]
    decoder.process_raw(np.concatenate([quiet, pcm, quiet]).tobytes(), full_utt=True)  # type: ignore[attr-defined]
    decoder.end_utt()  # type: ignore[attr-defined]
    found = decoder.hyp()  # type: ignore[attr-defined]
    return re.sub(r"\(\d\)", "", found.hypstr) if found else ""


def distance(said: list[str], heard: list[str]) -> int:
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1]


def errors(make: Callable[[], Process] | None, decoder: object) -> str:
    return ", ".join(f"{d} dB: {word_errors(make, decoder, decibels=d):.0%}" for d in (-6, -12))


def described(make: Callable[[], Process], decoder: object) -> str:
    try:
        make()
    except ImportError:
        return "not installed"
    alone = {(d, delay): echo_alone(make, delay=delay, decibels=d) for d, delay in ROOMS}
    removed = ", ".join(
        f"{d} dB: {min(one.attenuation for (other, _), one in alone.items() if other == d):.0f}" for d in (-6, -12, -20)
    )
    return (
        f"removes at least {removed} dB; {sum(one.starts for one in alone.values())} false starts; found again after "
        f"{seconds_until_found_again(make):.1f} s; word errors {errors(make, decoder)}; "
        f"CPU {max(one.cpu for one in alone.values()):.1%}"
    )


@pytest.mark.slow
def test_the_cancellers_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints the table of docs/benchmarks/2026-11-24-echo.md."""
    model = build_language_model(domain_sentences, edition="echo", cache=tmp_path)
    decoder = load_decoder(model.path)
    raw = [len(starts_of_speech(SimulatedRoom(delay=0.1, level=d, drift=50).hear(agent()))) for d in (-6, -12, -20)]
    with capsys.disabled():
        print(f"\nnothing: {raw} false starts in {len(agent()) / RATE:.0f} s; word errors {errors(None, decoder)}")
        for name, make in CANCELLERS.items():
            print(f"{name}: {described(make, decoder)}", flush=True)
    ours = [echo_alone(webrtc, delay=delay, decibels=-12) for delay in (0.04, 0.2)]
    assert all(one.attenuation > 25 and one.starts == 0 for one in ours)
