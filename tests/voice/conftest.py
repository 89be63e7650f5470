import importlib.util
import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from types import ModuleType

import pytest

# Before numpy is imported: idle OpenBLAS threads would spin on the cores that the tests need.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

RATE = 16000


@pytest.fixture(scope="session")
def speak() -> Callable[[str], bytes]:
    """Speech of the embedded voice, half a second of faint noise around it: mono s16 at 16 kHz."""
    import numpy as np
    from piper import PiperVoice

    with resources.as_file(resources.files("voice.tts.voices") / "en_US-slt-small.onnx") as model:
        voice = PiperVoice.load(model)
    assert voice.config.sample_rate == RATE
    spoken: dict[str, bytes] = {}

    def speak(text: str) -> bytes:
        if text not in spoken:
            noise = np.random.default_rng(1).normal(0, 6, RATE // 2).astype(np.int16).tobytes()
            spoken[text] = noise + b"".join(chunk.audio_int16_bytes for chunk in voice.synthesize(text)) + noise
        return spoken[text]

    return speak


@pytest.fixture(scope="session")
def fake_hub() -> ModuleType:
    """The module fake_hub.py beside this file: a Hugging Face hub on loopback."""
    spec = importlib.util.spec_from_file_location("fake_hub", Path(__file__).with_name("fake_hub.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
