import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml

from voice.tts.piper.voice import Voice, embedded_voice

RATE = 16000
SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture(scope="session")
def speak() -> Callable[[str], bytes]:
    """Somebody saying a text of the samples, half a second of faint noise around it: mono s16 at 16 kHz.

    Recorded, because our own voice says a text differently each time, and the recogniser mishears some of those.
    """
    noise = np.random.default_rng(1).normal(0, 6, RATE // 2).astype(np.int16).tobytes()
    recordings: dict[str, Path] = {}
    for scenario in sorted(SAMPLES.glob("[!n]*/scenario.yaml")):
        for turn in yaml.safe_load(scenario.read_text())["scenarios"][0]["turns"]:
            recordings.setdefault(turn["user"], scenario.with_name(turn["audio"]))

    def speak(text: str) -> bytes:
        recording = recordings[text]
        labels = [line.split("\t") for line in recording.with_suffix(".txt").read_text().splitlines()]
        with wave.open(str(recording)) as file:
            assert (file.getframerate(), file.getnchannels()) == (RATE, 1)
            first, last = (round(float(edge) * RATE) for edge in (labels[0][0], labels[-1][1]))
            file.setpos(first)
            return noise + file.readframes(last - first) + noise

    return speak


@pytest.fixture(scope="session")
def turn_rig() -> ModuleType:
    """The module tests.voice.speculating.turn_rig: a call from turn taking to speech, driven frame by frame."""
    from tests.voice.speculating import turn_rig as module

    return module


@pytest.fixture(scope="session")
def embedded() -> Iterator[Voice]:
    """The project's own voice."""
    voice = Voice(embedded_voice())
    yield voice
    voice.close()
