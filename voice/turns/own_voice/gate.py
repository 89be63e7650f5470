"""Keeps the agent's own voice from the turns of a call: two processors that share what the agent has spoken."""

import math
import time
from collections.abc import Callable

from loguru import logger
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    Frame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    TTSTextFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.asr.no_transcript import NothingHeardFrame, RecogniserFailedFrame
from voice.turns.own_voice.spoken_words import SpokenWords
from voice.turns.turn_frames import EagerHintFrame, OwnVoiceFrame, SpeechResumedFrame, VoiceFadedFrame

ECHO_FADES = 1.0
"""Seconds after the agent has stopped in which its voice may still be heard: buffers of the client, and the room."""
AT_ONCE = 0.8
"""Seconds after the agent has begun to speak in which an echo begins to be heard; callers rarely begin so soon."""
SUSPICIOUS = 2
"""So many answers in a row in which speech began at once make it likely that the agent hears itself."""
UNDISTURBED = 1.5
"""Seconds of an answer without any speech that show that the agent does not hear itself."""

_OF_SPEECH = (
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
    EagerHintFrame,
    SpeechResumedFrame,
    VoiceFadedFrame,
)


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
    """Stands behind the recogniser. Transcripts of the agent's own voice do not pass.

    Speech interrupts at once as long as the agent has not heard itself in this call, and speech does not begin together
    with its answers. After that, speech that begins while the agent speaks is held back until there are words that are
    surely not the agent's. Speech that turns out to be the agent's own, or to have no words, is dropped.

    When the agent heard itself and the turn had already begun, an `OwnVoiceFrame` follows in place of the transcript,
    and the log says so once.

    Args:
        spoken: what the agent has spoken.
        clock: seconds, monotonic.
    """

    def __init__(self, spoken: SpokenWords, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.heard_itself = 0
        """How often its own voice has begun a turn."""
        self._spoken = spoken
        self._clock = clock
        self._bot_speaks = False
        self._bot_started, self._bot_stopped = -math.inf, -math.inf
        self._suspicion = 0
        """Answers in a row at whose beginning speech began."""
        self._began = -math.inf
        """When the latest speech began."""
        self._held: list[tuple[float, Frame]] = []
        """What the voice detector has said of speech that may be the agent's, and when that was."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass on what is not the agent's own voice."""
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM:
            if not await self._passes(frame):
                return
        elif isinstance(frame, BotStartedSpeakingFrame):
            self._bot_speaks, self._bot_started = True, self._clock()
        elif isinstance(frame, BotStoppedSpeakingFrame):
            self._bot_speaks, self._bot_stopped = False, self._clock()
            if self._began < self._bot_started and self._bot_stopped - self._bot_started > UNDISTURBED:
                self._suspicion = 0
        await self.push_frame(frame, direction)

    async def _passes(self, frame: Frame) -> bool:
        """Whether a frame may go on now; what was held back before it has gone on then."""
        match frame:
            case VADUserStartedSpeakingFrame():
                return self._starts(self._clock() - frame.start_secs, frame)
            case InterimTranscriptionFrame() | EagerTranscriptionFrame() if self._is_own(frame.text):
                return False
            case TranscriptionFrame() if self._is_own(frame.text):
                if frame.finalized:
                    await self._drop(frame.text)
                return False
            case NothingHeardFrame() if self._held:
                self._forget()
                return False
            case InterimTranscriptionFrame() | EagerTranscriptionFrame() if self._held:
                if not self._spoken.are_surely_not_own(frame.text, self._began, self._clock()):
                    return False
                await self._release()
            case TranscriptionFrame() if self._held and self._doubtful(frame.text):
                if frame.finalized:
                    self._forget()
                return False
            case TranscriptionFrame() | RecogniserFailedFrame():
                await self._release()
            case _ if self._held and isinstance(frame, _OF_SPEECH):
                self._held.append((self._clock(), frame))
                return False
            case _:
                pass
        return True

    def _starts(self, began: float, frame: Frame) -> bool:
        """Speech begins; whether the rest of the pipeline may know it."""
        if not self._held:
            if self._bot_speaks and self._began < self._bot_started:
                self._suspicion += began - self._bot_started < AT_ONCE
            self._began = began
        if self._held or self._may_be_own():
            self._held.append((began, frame))
        return not self._held

    def _may_be_own(self) -> bool:
        """Whether the agent hears itself in this call, or seems to, and may be heard now."""
        hears_itself = self.heard_itself > 0 or self._suspicion >= SUSPICIOUS
        return hears_itself and (self._bot_speaks or self._began - self._bot_stopped < ECHO_FADES)

    def _is_own(self, text: str) -> bool:
        return self._spoken.are_own(text, self._began, self._clock())

    def _doubtful(self, text: str) -> bool:
        """Whether words that were said while the agent spoke may be its own, misheard."""
        during = self._began < self._bot_stopped or self._bot_speaks
        return during and not self._spoken.are_surely_not_own(text, self._began, self._clock())

    async def _drop(self, text: str) -> None:
        """These are all words of a stretch of speech, and they are the agent's own."""
        if self._held:
            self._forget()
            return
        if not self.heard_itself:
            logger.warning(
                f'The agent hears itself ("{text}" is what it was saying). From now on, speech during its answers is '
                "heeded only once there are words in it. Cancel the echo at the client, or use headphones."
            )
        self.heard_itself += 1
        await self.push_frame(OwnVoiceFrame())

    def _forget(self) -> None:
        """Drop the speech that has been recognised; speech that has begun since is still held back."""
        ends = [at for at, (_, frame) in enumerate(self._held) if isinstance(frame, VADUserStoppedSpeakingFrame)]
        self._held = self._held[ends[-1] + 1 :] if ends else []
        if self._held:
            self._began = self._held[0][0]

    async def _release(self) -> None:
        """What was held back is not the agent's own voice."""
        held, self._held = self._held, []
        for _, frame in held:
            await self.push_frame(frame)
