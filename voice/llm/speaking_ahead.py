"""Has the first clause of an answer synthesised while the answer is still held back."""

from typing import Any

from pipecat.frames.frames import Frame, LLMFullResponseEndFrame, LLMFullResponseStartFrame, LLMTextFrame
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService

from voice.llm.frames import SpeakAheadFrame
from voice.tts.clauses import ClauseSplitter


class SpeakingAheadLLMService(LLMService[Any]):
    """A language model service whose answers to a turn that is not over are prepared for speech.

    pipecat's speculation gate holds such an answer back. Its first clause goes to synthesis all the same, as a
    `SpeakAheadFrame`, which makes nothing heard: what was prepared only shortens the way to the loudspeaker once the
    gate releases the answer.
    """

    speaks_ahead = False
    """Whether it does so; set per call."""
    _ahead: ClauseSplitter | None = None

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Push a frame, and its answer's first clause ahead if that is complete now."""
        clause = self._first_clause(frame) if direction is FrameDirection.DOWNSTREAM else None
        await super().push_frame(frame, direction)
        if clause is not None:
            await super().push_frame(SpeakAheadFrame(text=clause))

    def _first_clause(self, frame: Frame) -> str | None:
        clause: str | None = None
        match frame:
            case LLMFullResponseStartFrame():
                speculative = self.speaks_ahead and self._speculation_gate.is_speculating
                self._ahead = ClauseSplitter() if speculative else None
            case LLMTextFrame() if self._ahead:
                clause = next(iter(self._ahead.feed(frame.text)), None)
            case LLMFullResponseEndFrame() if self._ahead:
                clause = self._ahead.flush()
            case _:
                return None
        if clause is not None:
            self._ahead = None
        return clause
