"""The start of the user's turn while the agent speaks: pipecat's start strategies over `BargeInDecision`."""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

import numpy as np
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    UserBackchannelFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.turns.types import ProcessFrameResult
from pipecat.turns.user_start import BaseUserTurnStartStrategy
from pipecat.utils.time import time_now_iso8601

from latency.record.turn import OverlapRecord
from voice.frames import (
    DoubtfulTranscriptionFrame,
    EagerHintFrame,
    NothingHeardFrame,
    OverlapEvidenceFrame,
    OverlapFrame,
    OwnVoiceFrame,
    RecogniserFailedFrame,
    SpeechResumedFrame,
)
from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords
from voice.turns.barge_in.decision import Action, BargeInDecision, Rules
from voice.turns.barge_in.meaning import Meaning, meaning_of
from voice.turns.vad import SharedSilero
from voice.turns.words.agent_question import asked

REMEMBERED = 4
"""Stretches of speech whose median is the caller's usual level."""
SHORTEST = 0.3
"""The least seconds of speech that give a level."""
FULL_SCALE = 32768.0
AT_ONCE = 0.5
"""Seconds from an answer's start in which speech silences it at once: the caller may not have finished."""


class CallerLevel:
    """The caller's usual level, in dB below full scale, and whether a voice is much softer.

    Args:
        far: dB below the caller's usual level from which a voice is far off; 0 for no such limit.
    """

    def __init__(self, far: float) -> None:
        self._far = far
        self._usual: deque[float] = deque(maxlen=REMEMBERED)
        self._power = self._seconds = 0.0

    def hear(self, pcm: bytes, sample_rate: int) -> None:
        """Add sound that is or may be speech: 16-bit mono."""
        samples = np.frombuffer(pcm, np.int16).astype(np.float32) / FULL_SCALE
        seconds = len(samples) / sample_rate
        self._power += float(np.dot(samples, samples)) / max(1, len(samples)) * seconds
        self._seconds += seconds

    def clear(self) -> None:
        """Discard a stretch of sound that was not the caller's."""
        self._power = self._seconds = 0.0

    def keep(self) -> None:
        """Remember the level of a finished stretch of the caller's speech."""
        if self._seconds >= SHORTEST and self._power > 0:
            self._usual.append(self._level())
        self.clear()

    @property
    def is_far(self) -> bool:
        """Whether the sound since the last stretch is much softer than the caller; false while unknown."""
        if not self._far or not self._usual or self._seconds < SHORTEST or self._power <= 0:
            return False
        return self._level() < float(np.median(self._usual)) - self._far

    def _level(self) -> float:
        return 10 * math.log10(self._power / self._seconds)


class Voice(Protocol):
    """The agent's voice, as the caller hears it."""

    @property
    def saying(self) -> str:
        """The sentence being spoken."""

    def duck(self) -> None:
        """Speak more softly from now on."""

    def silence(self) -> None:
        """Be silent from now on, but able to `resume`."""

    def resume(self) -> None:
        """Speak as usual; after a silence, go on where it began."""


class BargeInStart(BaseUserTurnStartStrategy):
    """Starts a turn at once while the agent has nothing to say; otherwise the words of the speech decide.

    Args:
        vad: the call's voice activity detector.
        voice: the agent's voice.
        rules: when speech stops an answer.
        far: dB below the caller's usual level from which a voice is far off; 0 for no such limit.
        set_aside: called when speech turns out not to be a turn, so that others forget it.
        whole_request: whether words are a whole request for the agent; None if it cannot tell.
        is_own: whether words are the agent's own, heard through the microphone; None without such a check.
        awaits_answer: whether the caller awaits the first sound of an answer, which sounds without words only delay.
        hears_itself: whether the agent hears itself in this call; speech without words then never stops it.
        language: the words of the spoken language.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        *,
        vad: SharedSilero,
        voice: Voice,
        rules: Rules,
        far: float,
        set_aside: Callable[[], None],
        whole_request: Callable[[str], bool | None] | None = None,
        is_own: Callable[[str], bool] | None = None,
        awaits_answer: Callable[[], bool] = lambda: False,
        hears_itself: Callable[[], bool] = lambda: False,
        language: TurnWords = ENGLISH,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(enable_interruptions=True)
        self._vad, self._voice, self._set_aside = vad, voice, set_aside
        self._whole_request, self._is_own, self._now = whole_request, is_own, clock
        self._awaits_answer, self._hears_itself, self._language = awaits_answer, hears_itself, language
        self._level = CallerLevel(far)
        self._overlap = BargeInDecision(rules, self._meaning, is_far=lambda: self._level.is_far)
        self._earlier: list[str] = []
        """The words of earlier stretches of this speech."""
        self._audible_since: float | None = None
        self._turn_open = False

    async def handle_user_turn_started(self) -> None:
        """A turn begins; its interruption restores the agent's voice."""
        self._turn_open = True
        self._overlap.clear()
        self._earlier = []

    async def handle_user_turn_stopped(self) -> None:
        """A turn is over: its level is that of the caller."""
        self._turn_open = False
        self._level.keep()

    async def process_frame(self, frame: Frame) -> ProcessFrameResult:
        """Follow the sound, the words and the agent's voice."""
        match frame:
            case BotStartedSpeakingFrame():
                self._audible_since = self._now()
            case BotStoppedSpeakingFrame():
                self._audible_since = None
            case InputAudioRawFrame():
                if self._vad.may_be_starting or self._vad.pause == 0:
                    self._level.hear(frame.audio, frame.sample_rate)
            case _:
                pass
        if self._turn_open:
            return ProcessFrameResult.CONTINUE
        if isinstance(frame, VADUserStartedSpeakingFrame) and self._has_nothing_to_say():
            self._level.clear()
            await self.trigger_user_turn_started()
            return ProcessFrameResult.STOP
        action = self._decide(frame, self._now())
        if action is not None:
            await self._act(action, frame)
        return ProcessFrameResult.STOP if action is Action.STOP else ProcessFrameResult.CONTINUE

    def _has_nothing_to_say(self) -> bool:
        """Whether speech that begins now interrupts nothing, and so is a turn."""
        return not self._overlap.spoken and self._audible_since is None and not self._awaits_answer()

    def _is_early(self, now: float) -> bool:
        """Whether speech that begins now comes before the answer, or in its first moment."""
        if self._audible_since is None:
            return True
        return now - self._audible_since < AT_ONCE and not self._hears_itself()

    def _decide(self, frame: Frame, now: float) -> Action | None:
        """The action that follows from a frame."""
        overlap = self._overlap
        if isinstance(frame, VADUserStartedSpeakingFrame):
            return overlap.started(now, early=self._is_early(now))
        if isinstance(frame, InputAudioRawFrame):
            return self._listen(now)
        if not overlap.spoken:
            return None
        match frame:
            case EagerHintFrame():
                return overlap.paused(now, frame.silence)
            case VADUserStoppedSpeakingFrame():
                return overlap.paused(now, frame.stop_secs)
            case SpeechResumedFrame():
                overlap.went_on()
            case OverlapEvidenceFrame():
                overlap.leans(frame.nats)
            case DoubtfulTranscriptionFrame():
                return overlap.words(self._all(frame.text), now, final=False, doubtful=True)
            case InterimTranscriptionFrame():
                return overlap.words(self._all(frame.text), now, final=False)
            case EagerTranscriptionFrame():
                return overlap.words(self._all(frame.text), now, final=False, settled=True)
            case TranscriptionFrame():
                final = frame.finalized or self._vad.pause is None
                text = self._all(frame.text)
                if not final:
                    self._earlier.append(frame.text)
                return overlap.words(text, now, final=final)
            case OwnVoiceFrame() if frame.final or self._vad.pause is None:
                return overlap.words(self._all(frame.text), now, final=True)
            case NothingHeardFrame():
                return overlap.words(self._all(""), now, final=True)
            case RecogniserFailedFrame():
                return overlap.lost(now)
            case _:
                pass
        return None

    def _listen(self, now: float) -> Action | None:
        if self._overlap.idle:
            audible = self._audible_since is not None and now - self._audible_since >= AT_ONCE
            return self._overlap.likely(now) if audible and self._vad.is_likely else None
        if not self._overlap.spoken and not self._vad.may_be_starting and self._vad.pause is None:
            return self._overlap.unlikely(now)
        return self._overlap.tick(now)

    def _all(self, text: str) -> str:
        return " ".join(filter(None, [*self._earlier, text]))

    async def _act(self, action: Action, frame: Frame) -> None:
        record = self._overlap.record
        assert record is not None
        await self.push_frame(OverlapFrame(record=record, awaits=not self._overlap.idle))
        match action:
            case Action.DUCK:
                # Earlier sounds do not belong to this one: knocks may look like speech for a moment.
                self._level.clear()
                self._voice.duck()
            case Action.SILENCE:
                if not record.decided and record.ducked == record.silenced:
                    self._level.clear()
                self._voice.silence()
            case Action.RESUME:
                self._voice.resume()
                if self._overlap.idle:
                    await self._forget(record)
            case Action.STOP:
                await self.trigger_user_turn_started()

    async def _forget(self, record: OverlapRecord) -> None:
        """The speech was no turn."""
        self._level.clear()
        self._earlier = []
        self._set_aside()
        await self.trigger_reset_aggregation()  # type: ignore[no-untyped-call]
        if record.because == "backchannel" and record.words:
            await self.push_frame(UserBackchannelFrame(record.words, "", time_now_iso8601()))

    def _meaning(self, text: str, final: bool) -> Meaning:
        return meaning_of(
            text,
            final=final,
            asked=asked(self._voice.saying, self._language),
            whole_request=self._whole_request,
            is_own=self._is_own,
            language=self._language,
        )


class UninterruptibleStart(BaseUserTurnStartStrategy):
    """Starts a turn only while the agent is silent; speech that outlasts an answer starts one when the answer ends.

    Args:
        set_aside: called when speech was not a turn.
    """

    def __init__(self, set_aside: Callable[[], None]) -> None:
        super().__init__(enable_interruptions=True)
        self._set_aside = set_aside
        self._audible = self._speaking = self._turn_open = self._unheard = False

    async def handle_user_turn_started(self) -> None:
        """A turn begins."""
        self._turn_open, self._unheard = True, False

    async def handle_user_turn_stopped(self) -> None:
        """A turn is over."""
        self._turn_open = False

    async def process_frame(self, frame: Frame) -> ProcessFrameResult:
        """Follow the voice detector and the agent's voice."""
        starts = False
        match frame:
            case BotStartedSpeakingFrame():
                self._audible = True
            case BotStoppedSpeakingFrame():
                self._audible = False
                starts = self._speaking
            case VADUserStartedSpeakingFrame():
                self._speaking, self._unheard = True, self._audible
                starts = not self._audible
            case VADUserStoppedSpeakingFrame():
                self._speaking = False
            case TranscriptionFrame() | OwnVoiceFrame() | NothingHeardFrame() | RecogniserFailedFrame() if (
                self._unheard
            ):
                if not self._turn_open and not self._speaking:
                    self._set_aside()
                    await self.trigger_reset_aggregation()  # type: ignore[no-untyped-call]
            case _:
                pass
        if starts and not self._turn_open:
            await self.trigger_user_turn_started()
            return ProcessFrameResult.STOP
        return ProcessFrameResult.CONTINUE
