"""When the user's turn is over: Smart Turn says so, or a bounded silence passes, or there is nothing to wait for."""

from pipecat.frames.frames import Frame
from pipecat.turns.types import ProcessFrameResult
from pipecat.turns.user_stop import TurnAnalyzerUserTurnStopStrategy

from voice.asr.frames import NothingHeardFrame, RecogniserFailedFrame
from voice.turns.frames import EndedBy, TurnEndFrame
from voice.turns.models import BoundedSmartTurn


class TurnStop(TurnAnalyzerUserTurnStopStrategy):
    """pipecat's turn-analyser strategy, which also says how each turn ended.

    It adds two ends that need no waiting: the recogniser has finished and heard no words, or it has failed. Without
    them such a turn would hang until pipecat's 5 s watchdog.
    """

    def __init__(self, *, turn_analyzer: BoundedSmartTurn) -> None:
        super().__init__(turn_analyzer=turn_analyzer)
        self._judge = turn_analyzer
        self._end: EndedBy | None = None
        self._failure: str | None = None

    async def process_frame(self, frame: Frame) -> ProcessFrameResult:
        """Follow audio, VAD and transcripts; see the class."""
        result = await super().process_frame(frame)
        if isinstance(frame, RecogniserFailedFrame):
            self._end, self._failure = "recogniser_failed", frame.reason
            await self.trigger_user_turn_stopped()
        elif isinstance(frame, NothingHeardFrame) and not self._text and not self._vad_user_speaking:
            self._end = "nothing_heard"
            await self.trigger_user_turn_stopped()
        return result

    async def trigger_user_turn_stopped(self, *, enable_user_speaking_frames: bool | None = None) -> None:
        """Commit the turn, announcing first what decided it."""
        await self.push_frame(
            TurnEndFrame(
                ended_by=self._end or self._judge.ended_by,
                probability=self._judge.probability,
                inference=self._judge.inference,
                failed=self._failure,
            )
        )
        self._end, self._failure = None, None
        await super().trigger_user_turn_stopped(enable_user_speaking_frames=enable_user_speaking_frames)
