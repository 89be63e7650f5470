"""A Piper voice, loaded once and shared by all calls: text to 16-bit samples on one thread of its own.

piper-tts is GPL-3.0-or-later; this module is the only one that imports it.
"""

import asyncio
import json
import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from voice.errors import ConfigurationError

EMBEDDED = "en_US-slt-small"
# A block whose RMS is softer than this, -46 dB of full scale, is silence: the voices' noise floor lies 7 dB below it.
AUDIBLE = 0.005
BLOCK = 0.005
# What stays in front of the first audible sample: enough that an onset is not clipped.
LEAD_FIRST = 0.01
LEAD_LATER = 0.06

Samples = npt.NDArray[np.int16]


class Voice:
    """Speaks text with one Piper model.

    The level is the model's own: scaling each sentence to full range, Piper's default, makes soft ones jump.

    Args:
        path: the voice's .onnx file; its .onnx.json lies beside it.

    Raises:
        ConfigurationError: the files are missing or are not a Piper voice.
    """

    def __init__(self, path: Path) -> None:
        # Imported here because loading onnxruntime and Piper takes a second that `voice --help` must not pay.
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors
        from piper import PiperVoice, SynthesisConfig
        from piper.config import PiperConfig

        config = Path(f"{path}.json")
        for file in (path, config):
            if not file.is_file():
                raise ConfigurationError(
                    f"Piper voice file {file} does not exist; give a voice's .onnx file with its .onnx.json beside it, "
                    'or use tts.voice = "embedded".'
                )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            settings = PiperConfig.from_dict(json.loads(config.read_text(encoding="utf-8")))
        except (
            ValueError,
            KeyError,
            onnx_errors.Fail,
            onnx_errors.InvalidProtobuf,
            onnx_errors.InvalidGraph,
        ) as error:
            raise ConfigurationError(f"{path} is not a Piper voice: {error}") from error
        # Piper logs every phoneme it lacks as a warning; its text comes from us, so that is for debugging only.
        logging.getLogger("piper").setLevel(logging.ERROR)
        self.name = path.stem
        self.sample_rate: int = settings.sample_rate
        self._voice: Any = PiperVoice(config=settings, session=session)
        self._speaking_style = SynthesisConfig(normalize_audio=False)
        self._prepared: dict[str, Samples] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="piper")

    def synthesize(self, text: str, *, lead: float = LEAD_LATER) -> Samples:
        """Speak `text`: int16 mono at `sample_rate`, with at most `lead` seconds in front of the first audible sample.

        Piper puts 170–230 ms of silence first, which the listener would hear as a slower answer.
        """
        parts = [chunk.audio_float_array for chunk in self._voice.synthesize(text, self._speaking_style)]
        if not parts:
            return np.zeros(0, np.int16)
        audio = np.concatenate(parts)
        audio = audio[max(0, onset(audio, self.sample_rate) - round(lead * self.sample_rate)) :]
        samples: Samples = np.clip(audio * 32767, -32768, 32767).astype(np.int16)
        return samples

    async def speak(self, text: str, *, lead: float = LEAD_LATER) -> Samples:
        """`synthesize` on the voice's own thread, so that the event loop stays free."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: self.synthesize(text, lead=lead))

    async def prepare(self, phrases: Iterable[str]) -> None:
        """Synthesise phrases that must not wait for the thread; `prepared` has them from then on.

        Raises:
            ConfigurationError: a phrase has nothing that can be spoken.
        """
        for phrase in map(str.strip, phrases):
            if phrase not in self._prepared:
                samples = await self.speak(phrase, lead=LEAD_FIRST)
                if not len(samples):
                    raise ConfigurationError(f"The phrase “{phrase}” has nothing that can be spoken; write words.")
                self._prepared[phrase] = samples

    def prepared(self, text: str) -> Samples | None:
        """A prepared phrase as `synthesize` gives it, `LEAD_FIRST` in front; None for any other text."""
        return self._prepared.get(text.strip())

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def onset(audio: npt.NDArray[np.float32], sample_rate: int) -> int:
    """Index of the first audible block of mono samples in [-1, 1]; 0 when there is none."""
    size = round(BLOCK * sample_rate)
    blocks = audio[: len(audio) // size * size].reshape(-1, size)
    audible = np.flatnonzero(np.sqrt((blocks**2).mean(axis=1)) > AUDIBLE)
    return int(audible[0]) * size if len(audible) else 0


def embedded_voice() -> Path:
    """The .onnx file of the voice that comes with the package."""
    return Path(str(resources.files("voice.tts.voices").joinpath(f"{EMBEDDED}.onnx")))
