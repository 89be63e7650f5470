"""When the user's turn is over, and what is answered ahead of that: the strategy that pipecat asks."""

import time
from collections.abc import Callable

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.turns.types import ProcessFrameResult, UserTurnSpeculation
from pipecat.turns.user_stop import BaseUserTurnStopStrategy

from voice.asr.no_transcript import NothingHeardFrame, RecogniserFailedFrame
from voice.turns.endpointing import Endpointing, Evidence, Pauses, Silence
from voice.turns.evidence import Weighing, unknown, unread
from voice.turns.models import SharedSilero, SmartTurn
from voice.turns.speculation import Speculation, Waiting
from voice.turns.turn_frames import EagerHintFrame, EndedBy, SpeechResumedFrame, TurnEndFrame

JUDGE_AFTER = 0.096
"""Seconds of silence before Smart Turn is asked; asked after 0.064 s, it finds 5 % fewer of 237 human ends."""
START_TRIES = 0.2
"""Seconds after what may have been the start of speech that are no silence either: one start in ten of people who go on
is sure at the second try only (7 of 66, 0.17 s later at most). Of 94 clean ends none was followed by such a sound."""
ONE_TURN = 1.5
"""A caller who speaks again within so many seconds of silence goes on with the turn, though it was taken for over."""


class TurnStop(BaseUserTurnStopStrategy):
    """Ends turns by `Endpointing`, and has the likely ones answered ahead of their end by `Speculation`.

    Smart Turn runs beside the call, from the hint at an end of speech on, so that its verdict is there when the voice
    detector reports the stop. A turn is committed when its last words are recognised and there was enough silence;
    silence is counted in audio, not on a clock, and what may be the start of speech is none, nor is a moment behind it.
    While the latest sound is in doubt silence commits no turn.

    Two ends need no waiting: the recogniser has finished and heard no words, or it has failed.

    Args:
        vad: the call's voice activity detector.
        smart_turn: the call's end-of-turn detector.
        endpointing: how much silence ends a turn.
        waiting: who waits for an answer in this process.
        speculate: answer ahead.
        reads: how finished words read; see `Evidence.read`.
        whole_request: whether words are a whole request to whoever answers; see `Evidence.whole`.
        lagging: whether the event loop lagged lately; nothing is answered ahead then.
    """

    def __init__(
        self,
        *,
        vad: SharedSilero,
        smart_turn: SmartTurn,
        endpointing: Endpointing,
        waiting: Waiting | None = None,
        speculate: bool = False,
        reads: Callable[[str], float | None] = unread,
        whole_request: Callable[[str], bool | None] = unknown,
        lagging: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__()
        self._vad, self._smart_turn, self._endpointing = vad, smart_turn, endpointing
        self._waiting = waiting or Waiting()
        self._speculate, self._lagging = speculate, lagging
        self._weighing = Weighing(smart_turn, reads=reads, whole_request=whole_request)
        self.speculation = Speculation()
        self.pauses = Pauses()
        self._speaking = False
        self._silence: float | None = None
        """Seconds since the last speech; None while the user speaks, and before the first."""
        self._since_start = START_TRIES
        """Seconds since what may have been the start of speech."""
        self._words: list[str] = []
        self._ahead = ""
        """The words of the stretch of speech that may just have ended, before the recogniser stands by them."""
        self._final = False
        self._doubted = False
        """Whether the silence is longer than needed because of sounds in doubt."""
        self._open = self._ending = False

    async def cleanup(self) -> None:
        """Stop judging."""
        await super().cleanup()  # type: ignore[no-untyped-call]
        self._waiting.end(id(self))
        self._weighing.forget()

    async def handle_user_turn_started(self) -> None:
        """A turn begins."""
        self._waiting.end(id(self))
        self._words, self._final, self._ahead = [], False, ""
        self._open = True
        if self._silence is not None and self._silence < ONE_TURN:
            self.pauses.turn_goes_on()
        else:
            # The silence before it was the other side's turn.
            self._silence = None
        self.speculation.turn_began()

    async def handle_user_turn_stopped(self) -> None:
        """A turn is over, whoever decided that."""
        self._open = self._doubted = False
        self._words, self._final, self._ahead = [], False, ""
        self.pauses.turn_over()
        self._smart_turn.clear()
        self._weighing.forget()
        # Whatever is still being answered ahead was not confirmed.
        await self._withdraw()

    async def process_frame(self, frame: Frame) -> ProcessFrameResult:
        """Follow audio, the voice detector and the recogniser."""
        await super().process_frame(frame)
        match frame:
            case InputAudioRawFrame():
                await self._hear(frame)
            case VADUserStartedSpeakingFrame():
                if self._silence is not None:
                    self.pauses.add(self._silence)
                self._speaking, self._silence, self._final = True, None, False
                await self._went_on()
            case EagerHintFrame():
                self._silence = frame.silence
                self._judge_in_time()
            case SpeechResumedFrame():
                self._silence = None
                await self._went_on()
            case VADUserStoppedSpeakingFrame():
                self._speaking, self._silence = False, frame.stop_secs
                self._judge_in_time()
                await self._consider()
            case EagerTranscriptionFrame():
                # One that comes after the speaker went on is of no use.
                if self._silence is not None and not self._final:
                    self._ahead = frame.text
                    await self._consider()
            case TranscriptionFrame():
                self._words.append(frame.text)
                self._final, self._ahead = frame.finalized, ""
                await self._consider()
            case NothingHeardFrame() if self._words and not self._speaking:
                self._final = True
                await self._consider()
            case NothingHeardFrame() if not self._speaking:
                await self._end("nothing_heard")
            case RecogniserFailedFrame():
                await self._end("recogniser_failed", failure=frame.reason)
            case EagerEndOfTurnCancelFrame():
                self.speculation.refuse()
            case InterruptionFrame():
                # It takes with it the request for an answer ahead that has not reached the model yet.
                await self._withdraw()
            case BotStartedSpeakingFrame():
                self._waiting.end(id(self))
            case _:
                pass
        return ProcessFrameResult.CONTINUE

    async def _hear(self, frame: InputAudioRawFrame) -> None:
        self._smart_turn.hear(frame.audio, speaking=self._speaking)
        seconds = frame.num_frames / frame.sample_rate
        self._since_start = 0.0 if self._vad.may_be_starting else self._since_start + seconds
        if self._silence is None or self._since_start <= START_TRIES:
            return
        self._silence += seconds
        if self._open:
            self._judge_in_time()
            await self._consider(in_doubt=self._vad.in_doubt)

    def _judge_in_time(self) -> None:
        """Have Smart Turn judge the turn, beside everything else, once a silence."""
        if self._silence is not None and self._silence >= JUDGE_AFTER:
            self._weighing.judge(self.task_manager, self._consider)

    async def _went_on(self) -> None:
        """The user has not finished after all."""
        self._ahead, self._doubted = "", False
        self._weighing.forget()
        await self._withdraw()

    async def _withdraw(self) -> None:
        if self.speculation.withdraw():
            await self.trigger_user_turn_speculation_cancelled()  # type: ignore[no-untyped-call]

    async def _consider(self, *, in_doubt: bool = False) -> None:
        """Commit the turn, or have it answered ahead, if it is time for that; `in_doubt`: more audio will tell."""
        if not self._open or self._ending or self._silence is None:
            return
        text = " ".join(filter(None, [*self._words, self._ahead]))
        evidence = self._weighing.weigh(text)
        if not (self._weighing.judged or evidence.whole):
            return
        meaning = self._endpointing.judge(evidence, self.pauses)
        if self._final and self._words and not self._speaking and self._silence >= meaning.needed:
            self._doubted = self._doubted or in_doubt
            if not in_doubt:
                needed = self._silence if self._doubted else meaning.needed
                await self._end(self._decided_by(evidence, meaning.needed), evidence=evidence, needed=needed)
        elif self._final or self._ahead:
            await self._speculate_on(text, meaning)

    async def _speculate_on(self, text: str, meaning: Silence) -> None:
        now, silence = time.monotonic(), self._silence
        if self.speculation.text is not None and not self.speculation.stands(text):
            await self._withdraw()
        if not self._speculate or silence is None or self._waiting.others(id(self), now) or self._lagging():
            return
        if self.speculation.due(text, silence=silence, meaning=meaning, now=now):
            self.speculation.start(text, now)
            await self.trigger_user_turn_inference_triggered(speculation=UserTurnSpeculation(text=text))

    def _decided_by(self, evidence: Evidence, needed: float) -> EndedBy:
        if needed > self._endpointing.stop:
            return "fallback"
        return "whole_request" if evidence.whole else "smart_turn"

    async def _end(
        self,
        ended_by: EndedBy,
        *,
        evidence: Evidence | None = None,
        needed: float | None = None,
        failure: str | None = None,
    ) -> None:
        """Commit the turn, announcing first what decided it."""
        if not self._open or self._ending:
            return
        # Audio and transcripts come in tasks of their own: the turn is committed once.
        self._ending = True
        try:
            await self._commit(ended_by, evidence, needed, failure)
        finally:
            self._ending = False

    async def _commit(
        self, ended_by: EndedBy, evidence: Evidence | None, needed: float | None, failure: str | None
    ) -> None:
        confirmed = self.speculation.confirm(" ".join(self._words))
        judgement = self._weighing.judgement
        if not confirmed:
            await self._withdraw()
        if ended_by != "nothing_heard":
            self._waiting.begin(id(self), time.monotonic())
        await self.push_frame(
            TurnEndFrame(
                ended_by=ended_by,
                probability=judgement.probability if judgement else None,
                inference=judgement.seconds if judgement else None,
                finished=evidence.probability if evidence else None,
                silence=needed,
                failed=failure,
                speculated=self.speculation.started,
                discarded=self.speculation.discarded,
                confirmed=confirmed,
            )
        )
        if confirmed and not self._speaking:
            # Its answer is on the way: only the end of the turn is told, which releases it.
            await self.trigger_user_turn_finalized(confirms_speculation=True)
        elif not self._speaking:
            await self.trigger_user_turn_stopped()
        if confirmed and self._open:
            # The user spoke again at this very moment, and the turn goes on.
            await self.trigger_user_turn_speculation_cancelled()  # type: ignore[no-untyped-call]
