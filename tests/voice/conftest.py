import importlib.util
import sys
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml

from voice.tts.voice import Voice, embedded_voice

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


def load(name: str) -> ModuleType:
    """A module beside this file."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up the names in their annotations there.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


load("policy_play")
"""For imports: tables of cases are made of what is in it."""


@pytest.fixture(scope="session")
def fake_hub() -> ModuleType:
    """The module fake_hub.py beside this file: a Hugging Face hub on loopback."""
    return load("fake_hub")


@pytest.fixture(scope="session")
def rig() -> ModuleType:
    """The module budgeted_rig.py beside this file: the budgeted service and a server that fails as providers do."""
    return load("budgeted_rig")


@pytest.fixture(scope="session")
def turn_rig() -> ModuleType:
    """The module turn_rig.py beside this file: a call from turn taking to speech, driven frame by frame."""
    return load("turn_rig")


@pytest.fixture(scope="session")
def embedded() -> Iterator[Voice]:
    """The project's own voice."""
    voice = Voice(embedded_voice())
    yield voice
    voice.close()


@pytest.fixture(scope="session")
def vits() -> ModuleType:
    """The module vits_graph.py beside this file: voices of the true architecture with random weights."""
    return load("vits_graph")


@pytest.fixture(scope="session")
def tts_rig() -> ModuleType:
    """The module tts_rig.py beside this file: a call's speech."""
    return load("tts_rig")
