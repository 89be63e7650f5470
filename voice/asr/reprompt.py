"""Asks callers whose words were lost to repeat them; otherwise they would wait in silence."""

from pipecat.frames.frames import Frame, TranscriptionFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.frames import HoldPhraseFrame, RecogniserFailedFrame
from voice.language.english.phrases import ENGLISH
from voice.language.phrases import Phrases


class Reprompt(FrameProcessor):
    """Follows the recogniser and reports a lost utterance to the caller, in words that do not count as an answer.

    Args:
        phrases: the agent's phrases in the language of the call.
    """

    def __init__(self, phrases: Phrases = ENGLISH) -> None:
        super().__init__()
        self._phrases = phrases
        self._lost = 0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass everything on."""
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if isinstance(frame, RecogniserFailedFrame):
            self._lost += 1
            await self.push_frame(
                HoldPhraseFrame(text=self._phrases.say_again if self._lost == 1 else self._phrases.cannot_hear)
            )
        elif isinstance(frame, TranscriptionFrame):
            self._lost = 0
