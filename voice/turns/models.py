"""The two models of turn taking, loaded once for all calls: Silero (is this speech?) and Smart Turn (is it over?).

pipecat loads each anew for every call, 60 ms on the event loop; here a call gets light objects on shared sessions.
"""

import copy
import time
from importlib import resources

import numpy as np
import onnxruntime
from pipecat.audio.turn.base_turn_analyzer import EndOfTurnState
from pipecat.audio.turn.smart_turn.base_smart_turn import BaseSmartTurn, SmartTurnParams
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3
from pipecat.audio.vad.silero import SileroOnnxModel, SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams, VADState
from pipecat.metrics.metrics import MetricsData, TurnMetricsData

from voice.turns.frames import EndedBy

SMART_TURN = "smart-turn-v3.2-cpu.onnx"
SAMPLE_RATE = 16000


class SharedSilero(SileroVADAnalyzer):
    """One call's voice activity detector: its own recurrent state on the shared Silero session."""

    def __init__(self, model: SileroOnnxModel, params: VADParams) -> None:
        # Not SileroVADAnalyzer's own initialiser, which would load the model again.
        VADAnalyzer.__init__(self, params=params)
        self._model = copy.copy(model)
        self._model.reset_states()
        self._windows_since_reset = 0
        self._low_confidence_windows = 0

    @property
    def may_be_starting(self) -> bool:
        """Whether the last sound may be the start of speech: it takes `start_secs` of it to be sure."""
        return self._vad_state is VADState.STARTING


class BoundedSmartTurn(LocalSmartTurnAnalyzerV3):
    """One call's end-of-turn detector, which remembers how it came to each verdict.

    Smart Turn misses about 5 % of real ends (and is near chance on synthetic voices); after `params.stop_secs` of
    further silence the turn is complete whatever it said.

    Args:
        session: the shared Smart Turn session; None leaves every decision to the silence.
        params: the fallback silence behind the VAD stop, in seconds, as `stop_secs`.
        vad: the call's voice activity detector. What may be the start of speech is not counted as silence: otherwise
            the turn of a user who has just gone on would end 0.2 s into the next word.
    """

    def __init__(
        self, session: onnxruntime.InferenceSession | None, params: SmartTurnParams, vad: SharedSilero
    ) -> None:
        # Not LocalSmartTurnAnalyzerV3's own initialiser, which would load the model again.
        BaseSmartTurn.__init__(self, params=params)
        self._session = session
        self._vad = vad
        self._log_data = False
        self.ended_by: EndedBy = "timeout"
        self.probability: float | None = None
        self.inference: float | None = None

    def append_audio(self, buffer: bytes, is_speech: bool) -> EndOfTurnState:
        """Add audio (s16 mono at the pipeline's rate); COMPLETE once the fallback silence has passed."""
        if not is_speech and self._vad.may_be_starting:
            self._audio_buffer.append((time.monotonic(), np.frombuffer(buffer, np.int16)))
            return EndOfTurnState.INCOMPLETE
        state = super().append_audio(buffer, is_speech)
        if state == EndOfTurnState.COMPLETE:
            self.ended_by = "fallback"
        return state

    async def analyze_end_of_turn(self) -> tuple[EndOfTurnState, MetricsData | None]:
        """Ask Smart Turn, on its own thread, whether the speech so far is a whole turn."""
        if self._session is None or not self._audio_buffer:
            return EndOfTurnState.INCOMPLETE, None
        state, metrics = await super().analyze_end_of_turn()
        if isinstance(metrics, TurnMetricsData):
            self.probability = metrics.probability
            self.inference = metrics.e2e_processing_time_ms / 1000
        if state == EndOfTurnState.COMPLETE:
            self.ended_by = "smart_turn"
        return state, metrics

    def clear(self) -> None:
        """Forget the turn's audio and how it was judged."""
        super().clear()  # type: ignore[no-untyped-call]
        self.ended_by, self.probability, self.inference = "timeout", None, None


class TurnModels:
    """Both models, loaded once; `warm_up` before the first call, whose first inference would take 350 ms otherwise."""

    def __init__(self, *, smart_turn: bool) -> None:
        vad = str(resources.files("pipecat.audio.vad.data").joinpath("silero_vad.onnx"))
        self._silero = SileroOnnxModel(vad)
        self._smart_turn: onnxruntime.InferenceSession | None = None
        if smart_turn:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            path = resources.files("pipecat.audio.turn.smart_turn.data").joinpath(SMART_TURN)
            self._smart_turn = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def vad(self, params: VADParams) -> SharedSilero:
        """A detector for one call."""
        return SharedSilero(self._silero, params)

    def end_of_turn(self, vad: SharedSilero, *, fallback: float) -> BoundedSmartTurn:
        """A detector for one call; `fallback` seconds of silence behind the VAD stop always end a turn."""
        return BoundedSmartTurn(self._smart_turn, SmartTurnParams(stop_secs=fallback), vad)

    async def warm_up(self) -> None:
        """Run each model once on silence."""
        silence = np.zeros(SAMPLE_RATE, np.int16).tobytes()
        vad = self.vad(VADParams())
        vad.set_sample_rate(SAMPLE_RATE)
        await vad.analyze_audio(silence)
        turn = self.end_of_turn(vad, fallback=1.0)
        turn.set_sample_rate(SAMPLE_RATE)
        turn.append_audio(silence, True)
        await turn.analyze_end_of_turn()
        await turn.cleanup()  # type: ignore[no-untyped-call]
        await vad.cleanup()  # type: ignore[no-untyped-call]
