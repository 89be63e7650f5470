"""The two models of turn taking, loaded once for all calls: Silero (is this speech?) and Smart Turn (is it over?).

pipecat loads each anew for every call, 60 ms on the event loop; here a call gets light objects on shared sessions.
"""

import asyncio
import copy
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources

import numpy as np
import onnxruntime
from pipecat.audio.turn.smart_turn.base_smart_turn import BaseSmartTurn
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3
from pipecat.audio.vad.silero import SileroOnnxModel, SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams, VADState

from voice.turns.barge_in import SpeechStart

SMART_TURN = "smart-turn-v3.2-cpu.onnx"
SAMPLE_RATE = 16000
BYTES_PER_SECOND = 2 * SAMPLE_RATE
BEFORE_SPEECH = 0.5
"""Seconds of audio from before the first word that Smart Turn is shown, as pipecat does."""
DOUBTFUL = 0.3
"""Confidence from which a window of 32 ms may be the start of speech.

After 130 pauses of people it is reached 47 ms behind their end (median; nine in ten within 78), 24 ms before the
detector begins to count a start; after 154 ends of theirs by no window, in noise like a room full of voices, 10 dB
below the speech, by 4 of 81.
"""
DOUBTFUL_WINDOWS = 4
"""Windows in a row after which a sound that the detector does not count by then is no start of speech."""
LONGEST_JUDGED = 8.0
"""Seconds of audio that Smart Turn looks back on."""


class SharedSilero(SileroVADAnalyzer):
    """One call's voice activity detector: its own recurrent state on the shared Silero session."""

    def __init__(self, model: SileroOnnxModel, params: VADParams) -> None:
        # Not SileroVADAnalyzer's own initialiser, which would load the model again.
        VADAnalyzer.__init__(self, params=params)
        self._model = copy.copy(model)
        self._model.reset_states()
        self._windows_since_reset = 0
        self._low_confidence_windows = 0
        self._doubtful = 0

    def set_params(self, params: VADParams) -> None:
        """Change what counts as speech; what was heard so far is forgotten."""
        super().set_params(params)
        self._start = SpeechStart(self._vad_start_frames, params.confidence)
        self._doubtful = 0

    def voice_confidence(self, buffer: bytes) -> float:
        """That a window is speech, 0 to 1; whether speech starts with it is left to `SpeechStart`."""
        # pipecat calls it a float; it is an array of one.
        confidence = float(np.asarray(super().voice_confidence(buffer)).item())
        self._doubtful = self._doubtful + 1 if confidence >= min(DOUBTFUL, self.params.confidence) else 0
        if self._vad_state in (VADState.SPEAKING, VADState.STOPPING):
            self._start.clear()
        elif self._start.hear(confidence):
            # pipecat counts this window too, provided that it is loud enough, and that makes enough of them.
            self._vad_state, self._vad_starting_count = VADState.STARTING, self._vad_start_frames - 1
        else:
            self._vad_starting_count = 0
        return confidence

    @property
    def may_be_starting(self) -> bool:
        """Whether the last sound may be the start of speech: it takes `start_secs` of it to be sure."""
        return self._vad_state is VADState.STARTING

    @property
    def in_doubt(self) -> bool:
        """Whether the last sound may turn out to be the start of speech, though it is too soft or unclear as yet."""
        return 0 < self._doubtful <= DOUBTFUL_WINDOWS

    @property
    def pause(self) -> float | None:
        """Seconds of silence inside speech, 0 while there is sound; None when nobody speaks."""
        if self._vad_state is VADState.STOPPING:
            return self._vad_stopping_count * self._vad_frames / self.sample_rate
        return 0.0 if self._vad_state is VADState.SPEAKING else None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What Smart Turn made of a turn."""

    probability: float
    """That it is complete, 0 to 1."""
    seconds: float
    """How long it took to say so."""


class SmartTurn:
    """One call's end-of-turn detector: keeps the turn's audio, and asks the shared model about it.

    Knows no clock: what counts is the audio that it was given (16 kHz mono, signed 16 bit).

    Args:
        model: the shared model; None has no opinion on anything.
        start_secs: how long the voice detector takes to report speech.
    """

    def __init__(self, model: "SharedSmartTurn | None", *, start_secs: float) -> None:
        self._model = model
        self._before = BEFORE_SPEECH + start_secs
        self._pcm = bytearray()
        self._heard_speech = False

    def hear(self, pcm: bytes, *, speaking: bool) -> None:
        """Add audio; `speaking` says whether the voice detector has reported speech that goes on."""
        self._heard_speech = self._heard_speech or speaking
        self._pcm += pcm
        kept = LONGEST_JUDGED if self._heard_speech else self._before
        excess = len(self._pcm) - 2 * round(kept * SAMPLE_RATE)
        if excess > 0:
            del self._pcm[:excess]

    async def judge(self) -> Judgement | None:
        """Whether the speech so far is a whole turn; None when there is no model or no speech."""
        if self._model is None or not self._heard_speech:
            return None
        return await asyncio.wrap_future(self._model.submit(bytes(self._pcm)))

    def clear(self) -> None:
        """The turn is over: forget its audio but what may belong to the next one's start."""
        self._heard_speech = False


class SharedSmartTurn:
    """The Smart Turn model and the thread that runs it."""

    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        path = resources.files("pipecat.audio.turn.smart_turn.data").joinpath(SMART_TURN)
        self._predictor = _Predictor(
            onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="smart-turn")

    def submit(self, pcm: bytes) -> "Future[Judgement]":
        """Have a turn's audio judged on the model's own thread."""
        return self._thread.submit(self._predictor.judge, pcm)

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class _Predictor(LocalSmartTurnAnalyzerV3):
    """pipecat's features and inference, on a session that all calls share."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        # Not LocalSmartTurnAnalyzerV3's own initialiser, which would load the model with other options.
        BaseSmartTurn.__init__(self, sample_rate=SAMPLE_RATE)
        self.set_sample_rate(SAMPLE_RATE)
        self._session = session
        self._log_data = False

    def judge(self, pcm: bytes) -> Judgement:
        """Blocks for some 30 ms."""
        began = time.perf_counter()
        audio = np.frombuffer(pcm, np.int16).astype(np.float32) / 32768
        probability = float(self._predict_endpoint(audio)["probability"])
        return Judgement(probability, time.perf_counter() - began)


class TurnModels:
    """Both models, loaded once; `warm_up` before the first call, whose first inference would take 350 ms otherwise."""

    def __init__(self, *, smart_turn: bool) -> None:
        vad = str(resources.files("pipecat.audio.vad.data").joinpath("silero_vad.onnx"))
        self._silero = SileroOnnxModel(vad)
        self._smart_turn = SharedSmartTurn() if smart_turn else None

    def vad(self, params: VADParams) -> SharedSilero:
        """A detector for one call."""
        return SharedSilero(self._silero, params)

    def smart_turn(self, *, start_secs: float) -> SmartTurn:
        """An end-of-turn detector for one call; `start_secs` as in `SmartTurn`."""
        return SmartTurn(self._smart_turn, start_secs=start_secs)

    async def warm_up(self) -> None:
        """Run each model once on silence."""
        silence = bytes(BYTES_PER_SECOND)
        vad = self.vad(VADParams())
        vad.set_sample_rate(SAMPLE_RATE)
        await vad.analyze_audio(silence)
        await vad.cleanup()  # type: ignore[no-untyped-call]
        turn = self.smart_turn(start_secs=0.0)
        turn.hear(silence, speaking=True)
        await turn.judge()

    def close(self) -> None:
        """Let the models' threads end."""
        if self._smart_turn:
            self._smart_turn.close()
