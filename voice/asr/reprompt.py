"""Tells callers whose words were lost that they should say them again: otherwise they would wait in silence."""

from pipecat.frames.frames import Frame, TranscriptionFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.asr.no_transcript import RecogniserFailedFrame
from voice.llm.answer.answer_frames import HoldPhraseFrame

AGAIN = "Sorry, I did not hear that. Please say it again."
STILL_DEAF = "Sorry, I cannot hear you at the moment. Please try again in a while."
"""Said from the second loss in a row."""


class Reprompt(FrameProcessor):
    """Follows the recogniser and says so when it has lost an utterance; these words are no answer."""

    def __init__(self) -> None:
        super().__init__()
        self._lost = 0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass everything on."""
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if isinstance(frame, RecogniserFailedFrame):
            self._lost += 1
            await self.push_frame(HoldPhraseFrame(text=AGAIN if self._lost == 1 else STILL_DEAF))
        elif isinstance(frame, TranscriptionFrame):
            self._lost = 0
