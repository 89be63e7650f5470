"""The two models of turn taking: Silero (is this speech?) and Smart Turn (is it complete?), loaded once for all calls.

pipecat loads both anew for every call, which takes 60 ms on the event loop; here each call gets light objects on shared
sessions.
"""

from importlib import resources

from pipecat.audio.vad.silero import SileroOnnxModel
from pipecat.audio.vad.vad_analyzer import VADParams

from voice.turns.smart_turn import SAMPLE_RATE, SharedSmartTurn, SmartTurn
from voice.turns.vad import SharedSilero


class TurnModels:
    """Both models. Use `warm_up` before the first call; otherwise its first inference takes 350 ms.

    Args:
        smart_turn: whether to load Smart Turn; without it `SmartTurn` gives no verdicts.
    """

    def __init__(self, *, smart_turn: bool) -> None:
        vad = str(resources.files("pipecat.audio.vad.data").joinpath("silero_vad.onnx"))
        self._silero = SileroOnnxModel(vad)
        self._smart_turn = SharedSmartTurn() if smart_turn else None

    def vad(self, params: VADParams) -> SharedSilero:
        """A voice activity detector for one call."""
        return SharedSilero(self._silero, params)

    def smart_turn(self, *, start_secs: float) -> SmartTurn:
        """An end-of-turn detector for one call; `start_secs` as in `SmartTurn`."""
        return SmartTurn(self._smart_turn, start_secs=start_secs)

    async def warm_up(self) -> None:
        """Run each model once on a second of silence."""
        silence = bytes(2 * SAMPLE_RATE)
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
