"""Smart Turn, which judges by its sound whether a turn is complete: one model and one thread for all calls."""

import asyncio
import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources

import numpy as np
import onnxruntime
from pipecat.audio.turn.smart_turn.base_smart_turn import BaseSmartTurn
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3

MODEL_FILE = "smart-turn-v3.2-cpu.onnx"
SAMPLE_RATE = 16000
BEFORE_SPEECH = 0.5
"""Seconds of audio before the first word in Smart Turn's input, as in pipecat."""
LONGEST_JUDGED = 8.0
"""Seconds of the latest audio that Smart Turn judges."""
VERDICT_WITHIN = 1.0
"""Seconds to wait for Smart Turn's verdict, which takes 30 ms, or longer in a queue."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SmartTurnVerdict:
    """Smart Turn's opinion of a turn."""

    probability: float
    """The probability that the turn is complete, 0 to 1."""
    seconds: float
    """The duration of the inference."""


class SmartTurn:
    """One call's end-of-turn detector: keeps the turn's audio and asks the shared model about it.

    Uses no clock, only the length of its audio (16 kHz mono, signed 16 bit).

    Args:
        model: the shared model; with None, every verdict is None.
        start_secs: seconds that the voice detector takes to report speech.
    """

    def __init__(self, model: "SharedSmartTurn | None", *, start_secs: float) -> None:
        self._model = model
        self._before = BEFORE_SPEECH + start_secs
        self._pcm = bytearray()
        self._heard_speech = False
        self._begins = self._began = 0
        """The beginnings of this turn and of the one before, as offsets into the audio in bytes."""

    def hear(self, pcm: bytes, *, speaking: bool) -> None:
        """Add audio; `speaking`: whether the voice detector reports ongoing speech."""
        self._heard_speech = self._heard_speech or speaking
        self._pcm += pcm
        if not self._heard_speech:
            self._begins = max(self._begins, len(self._pcm) - 2 * round(self._before * SAMPLE_RATE))
        excess = len(self._pcm) - 2 * round(LONGEST_JUDGED * SAMPLE_RATE)
        if excess > 0:
            del self._pcm[:excess]
            self._begins, self._began = max(0, self._begins - excess), max(0, self._began - excess)

    async def judge(self) -> SmartTurnVerdict | None:
        """Judge whether the speech so far is a complete turn.

        None without a model, without speech, and when the model fails or takes longer than `VERDICT_WITHIN`.
        """
        if self._model is None or not self._heard_speech:
            return None
        try:
            async with asyncio.timeout(VERDICT_WITHIN):
                verdict = await asyncio.wrap_future(self._model.submit(bytes(self._pcm[self._begins :])))
        except TimeoutError:
            log.warning("Smart Turn gave no verdict within %g s; silence decides", VERDICT_WITHIN)
            return None
        except Exception as error:
            # The engine raises errors of any type, and the turn must end without it.
            log.warning("Smart Turn failed; silence decides: %s", error)
            return None
        if not 0 <= verdict.probability <= 1:
            log.warning("Smart Turn gave a probability of %g; silence decides", verdict.probability)
            return None
        return verdict

    def clear(self) -> None:
        """End the turn; the next one is judged by itself, including audio from just before its start."""
        if self._heard_speech:
            self._began = self._begins
        self._heard_speech = False

    def resume(self) -> None:
        """The last ended turn goes on: its audio is judged again, with the following audio."""
        self._begins, self._heard_speech = self._began, True


class SharedSmartTurn:
    """The Smart Turn model and the thread that runs it."""

    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        path = resources.files("pipecat.audio.turn.smart_turn.data").joinpath(MODEL_FILE)
        self._predictor = _Predictor(
            onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="smart-turn")

    def submit(self, pcm: bytes) -> "Future[SmartTurnVerdict]":
        """Queue a turn's audio for the model's thread."""
        return self._thread.submit(self._predictor.judge, pcm)

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class _Predictor(LocalSmartTurnAnalyzerV3):
    """pipecat's features and inference, on a session shared by all calls."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        # Not LocalSmartTurnAnalyzerV3's own initialiser, which would load the model with other options.
        BaseSmartTurn.__init__(self, sample_rate=SAMPLE_RATE)
        self.set_sample_rate(SAMPLE_RATE)
        self._session = session
        self._log_data = False

    def judge(self, pcm: bytes) -> SmartTurnVerdict:
        """Blocks for some 30 ms."""
        began = time.perf_counter()
        audio = np.frombuffer(pcm, np.int16).astype(np.float32) / 32768
        probability = float(self._predict_endpoint(audio)["probability"])
        return SmartTurnVerdict(probability, time.perf_counter() - began)
