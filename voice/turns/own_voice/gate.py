"""Keeps the agent's own voice, and laughter, from the turns of a call.

One processor stands behind the output, one behind the recogniser.
"""

import time
from collections.abc import Callable

from loguru import logger
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    Frame,
    TranscriptionFrame,
    TTSTextFrame,
    VADUserStartedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.frames import NothingHeardFrame, OwnVoiceFrame
from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords
from voice.turns.own_voice.hearing import Hearing
from voice.turns.own_voice.spoken_words import SpokenWords
from voice.turns.words.laughter import without_laughter


class SpokenWordsTap(FrameProcessor):
    """Stands behind the output, and notes each word that was played."""

    def __init__(self, spoken: SpokenWords, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._spoken = spoken
        self._clock = clock

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Note words."""
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSTextFrame):
            self._spoken.add(frame.text, self._clock())
        await self.push_frame(frame, direction)


class OwnVoiceGate(FrameProcessor):
    """Stands behind the recogniser. In place of a transcript of the agent's own voice an `OwnVoiceFrame` passes.

    The first one of a call is logged. Laughter at the end of a transcript is removed, because it is no part of a
    request; in place of a transcript that is nothing else, a `NothingHeardFrame` passes.

    Args:
        spoken: what the agent has spoken.
        language: the words of the language that is spoken.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        spoken: SpokenWords,
        *,
        language: TurnWords = ENGLISH,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.hearing = Hearing(spoken)
        self._language, self._clock = language, clock

    def is_own(self, words: str) -> bool:
        """Whether the words of the speech under way are the agent's own, as far as they are known."""
        return self.hearing.is_own(words, self._clock(), final=False)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass on what is not the agent's own voice."""
        await super().process_frame(frame, direction)
        now = self._clock()
        match frame:
            case BotStartedSpeakingFrame() if direction is FrameDirection.UPSTREAM:
                self.hearing.agent_started(now)
            case BotStoppedSpeakingFrame() if direction is FrameDirection.UPSTREAM:
                self.hearing.agent_stopped(now)
            case VADUserStartedSpeakingFrame() if direction is FrameDirection.DOWNSTREAM:
                self.hearing.speech_began(now - frame.start_secs)
            case TranscriptionFrame() if self.hearing.is_own(frame.text, now, final=True):
                frame = self._own(frame)
                # The recogniser must not hear it again with what the caller says next.
                await self.push_frame(OwnVoiceFrame(text=frame.text, final=frame.final), FrameDirection.UPSTREAM)
            case EagerTranscriptionFrame():
                frame.text = without_laughter(frame.text, self._language)
                if not frame.text:
                    return
            case TranscriptionFrame():
                text = without_laughter(frame.text, self._language)
                if not text and frame.finalized:
                    frame = NothingHeardFrame()
                else:
                    frame.text = text
            case _:
                pass
        await self.push_frame(frame, direction)

    def _own(self, frame: TranscriptionFrame) -> OwnVoiceFrame:
        if self.hearing.note_own(frame.text, self._clock()):
            logger.warning(
                f'The agent hears itself: its words came back as "{frame.text}". From now on it stops only for words '
                "that are surely not its own. Cancel the echo at the client, or use headphones."
            )
        return OwnVoiceFrame(text=frame.text, final=frame.finalized)
