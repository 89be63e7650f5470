"""The end of the user's turn, and the start of speculative answers: a stop strategy for pipecat."""

import time
from collections.abc import Callable

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMContextAssistantTurnFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.turns.types import ProcessFrameResult, UserTurnSpeculation
from pipecat.turns.user_stop import BaseUserTurnStopStrategy

from latency.record.turn import EndedBy
from voice.frames import (
    EagerHintFrame,
    NothingHeardFrame,
    OwnVoiceFrame,
    RecogniserFailedFrame,
    RevisedEagerTranscriptionFrame,
    RevisedTranscriptionFrame,
    SpeechResumedFrame,
    TurnEndFrame,
    TurnJoinsFrame,
    VoiceFadedFrame,
    WordsCorrectedFrame,
)
from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords
from voice.turns.early_answers import ExtraRequests
from voice.turns.endpointing import Endpointing
from voice.turns.evidence import Evidence
from voice.turns.evidence_gatherer import EvidenceGatherer
from voice.turns.smart_turn import SmartTurn
from voice.turns.speculation import SpeculationController, SpeculativeAnswer, WaitingCalls
from voice.turns.turn_so_far import TurnSoFar, joined
from voice.turns.vad import SharedSilero
from voice.turns.words.end_reader import EndReader

JUDGE_AFTER = 0.096
"""Seconds of silence before Smart Turn is asked; after 0.064 s, it would find 5 % fewer of 237 human ends."""


class EndOfTurn(BaseUserTurnStopStrategy):
    """Ends turns by `Endpointing`, and starts answers to turns that are probably over by `SpeculativeAnswer`.

    Smart Turn starts in the background at the hint of an end of speech, so that its verdict is ready when the voice
    detector reports the stop. A turn is committed when its last words are recognised and the silence is long enough.
    Silence is counted in audio, not on a clock, without possible starts of speech and the moment after them. While the
    latest sound is in doubt, silence commits no turn.

    A caller who goes on soon after the commit continues the turn (`TurnSoFar.begin`): its words and audio are kept, and
    a `TurnJoinsFrame` removes them from the conversation.

    A turn ends at once if the recogniser has failed, or has finished without words or with only the agent's own.

    Args:
        vad: the call's voice activity detector.
        smart_turn: the call's end-of-turn detector.
        endpointing: the rule for the silence that ends a turn.
        waiting: the calls of this process that wait for an answer.
        speculate: start answers speculatively.
        early: share of extra requests for answers that start during the last words (see `ExtraRequests`); None for no
            such answers.
        reads: how finished words read (see `Evidence.read`); None without a trigram model of the language.
        reader: a language model that judges the same (see `Evidence.ends`); None without one.
        whole_request: whether words are a whole request for the agent (see `Evidence.whole`); None if it cannot tell.
        lagging: whether the event loop has lagged lately; no speculative answer starts then.
        language: the words of the spoken language.
    """

    def __init__(
        self,
        *,
        vad: SharedSilero,
        smart_turn: SmartTurn,
        endpointing: Endpointing,
        waiting: WaitingCalls | None = None,
        speculate: bool = False,
        early: float | None = None,
        reads: Callable[[str], float | None] | None = None,
        reader: EndReader | None = None,
        whole_request: Callable[[str], bool | None] | None = None,
        lagging: Callable[[], bool] = lambda: False,
        language: TurnWords = ENGLISH,
    ) -> None:
        super().__init__()
        self._vad, self._smart_turn, self._endpointing = vad, smart_turn, endpointing
        self._waiting = waiting or WaitingCalls()
        self._speculate, self._lagging = speculate, lagging
        self._weighing = EvidenceGatherer(
            smart_turn, reads=reads, reader=reader, whole_request=whole_request, language=language
        )
        self.speculation = SpeculativeAnswer(ExtraRequests(early or 0.0))
        self.turn = TurnSoFar()
        self._doubted = False
        """Whether doubtful sounds have prolonged the silence."""
        self._ending = False
        self._ahead = SpeculationController(
            self.speculation,
            self._weighing,
            endpointing,
            early=early is not None,
            may_start=self._may_start,
            start=self._start,
            cancel=self._cancel,
        )

    async def cleanup(self) -> None:
        """Stop judging."""
        await super().cleanup()  # type: ignore[no-untyped-call]
        self._waiting.end(id(self))
        self._weighing.forget()

    async def handle_user_turn_started(self) -> None:
        """A turn begins."""
        self._waiting.end(id(self))
        continues = self.turn.begin()
        self._weighing.committed = self.turn.committed if continues else ""
        if continues:
            self.speculation.extra.turn_goes_on()
        if continues and self.turn.committed:
            self._smart_turn.resume()
            await self.push_frame(TurnJoinsFrame(text=self.turn.committed))
        self.speculation.turn_began()

    async def handle_user_turn_stopped(self) -> None:
        """A turn has ended, by this strategy or by another."""
        self.turn.end()
        self._doubted, self._ahead.so_far = False, ""
        self._smart_turn.clear()
        self._weighing.forget()
        # A speculative answer still under way was not confirmed.
        await self._ahead.discard()

    @property
    def awaits_answer(self) -> bool:
        """Whether the caller awaits the first sound of an answer."""
        return self._waiting.waits(id(self), time.monotonic())

    def set_aside(self) -> None:
        """The caller's speech during the answer was not a turn."""
        self.turn.set_aside()
        self._smart_turn.clear()
        self._weighing.forget()

    async def process_frame(self, frame: Frame) -> ProcessFrameResult:
        """Follow audio, the voice detector and the recogniser."""
        await super().process_frame(frame)
        turn = self.turn
        match frame:
            case InputAudioRawFrame():
                await self._hear(frame)
            case VADUserStartedSpeakingFrame():
                turn.speech_started()
                await self._went_on()
            case VoiceFadedFrame(lasting=True) if turn.speaking:
                self._weighing.listen(self.task_manager, turn.lasted, self._take_evidence)
            case VoiceFadedFrame() if turn.speaking:
                self._ahead.so_far = ""
                self._weighing.stop_listening()
            case EagerHintFrame():
                turn.speech_may_have_stopped(frame.silence)
                self._judge_in_time()
                if turn.expect(self._ahead.so_far):
                    await self._consider()
            case SpeechResumedFrame():
                turn.speech_resumed()
                await self._went_on()
            case VADUserStoppedSpeakingFrame():
                turn.speech_stopped(frame.stop_secs)
                self._judge_in_time()
                await self._consider()
            case EagerTranscriptionFrame():
                turn.revises = isinstance(frame, RevisedEagerTranscriptionFrame)
                if turn.expect(frame.text):
                    self._read(turn.text)
                    await self._consider()
                elif turn.speaking and turn.silence is None:
                    self._read(turn.text_with(frame.text))
                    await self._ahead.words_at_fade(turn, frame.text)
            case TranscriptionFrame():
                turn.revises = isinstance(frame, RevisedTranscriptionFrame)
                turn.recognise(frame.text, final=frame.finalized)
                self._read(turn.text)
                await self._consider()
            case NothingHeardFrame() | OwnVoiceFrame(final=True) if turn.words and not turn.speaking:
                turn.final = True
                await self._consider()
            case NothingHeardFrame() if not turn.speaking:
                await self._end("nothing_heard")
            case OwnVoiceFrame(final=True) if not turn.speaking:
                await self._end("own_voice")
            case RecogniserFailedFrame():
                await self._end("recogniser_failed", failure=frame.reason)
            case WordsCorrectedFrame():
                turn.correct(frame.corrected)
            case EagerEndOfTurnCancelFrame():
                self.speculation.refuse()
            case InterruptionFrame():
                # It also removes a speculative request that has not reached the model yet.
                await self._ahead.discard()
            case LLMContextAssistantTurnFrame():
                self._weighing.agent_said(frame.text)
            case BotStartedSpeakingFrame():
                self._waiting.end(id(self))
            case BotStoppedSpeakingFrame():
                turn.answer_ended()
            case _:
                pass
        return ProcessFrameResult.CONTINUE

    async def _hear(self, frame: InputAudioRawFrame) -> None:
        self._smart_turn.hear(frame.audio, speaking=self.turn.speaking)
        seconds = frame.num_frames / frame.sample_rate
        if self.turn.hear(seconds, may_be_starting=self._vad.may_be_starting) and self.turn.is_open:
            self._judge_in_time()
            await self._consider(in_doubt=self._vad.in_doubt)

    def _judge_in_time(self) -> None:
        """Have Smart Turn judge the turn in the background, once per silence."""
        if self.turn.silence is not None and self.turn.silence >= JUDGE_AFTER:
            self._weighing.judge(self.task_manager, self._consider)

    def _read(self, text: str) -> None:
        """Have the reader judge new words in the background."""
        self._weighing.read(text, self.task_manager, self._take_evidence)

    async def _went_on(self) -> None:
        """The user goes on speaking."""
        self._doubted, self._ahead.so_far = False, ""
        self._weighing.forget()
        await self._ahead.discard()

    async def _start(self, text: str) -> None:
        await self.trigger_user_turn_inference_triggered(speculation=UserTurnSpeculation(text=text))

    async def _cancel(self) -> None:
        await self.trigger_user_turn_speculation_cancelled()  # type: ignore[no-untyped-call]

    async def _take_evidence(self) -> None:
        """Smart Turn or the reader has judged a fade or a silence."""
        if self.turn.silence is None:
            await self._ahead.fade_judged(self.turn)
        else:
            await self._consider()

    async def _consider(self, *, in_doubt: bool = False) -> None:
        """Commit the turn or answer it speculatively, if it is time; while `in_doubt`, do not commit yet."""
        turn = self.turn
        if not turn.is_open or self._ending or turn.silence is None:
            return
        evidence = self._weighing.weigh(turn.text, turn.spoken)
        if self._weighing.awaits_reading(turn.text) and not evidence.is_whole:
            return
        if not (self._weighing.judged or evidence.is_whole):
            if turn.may_be_answered:
                await self._ahead.before_verdict(turn, turn.silence)
            return
        meaning = self._endpointing.judge(evidence, turn.pauses)
        if turn.may_be_over and turn.silence >= meaning.needed:
            self._doubted = self._doubted or in_doubt
            if not in_doubt:
                needed = turn.silence if self._doubted else meaning.needed
                await self._end(self._decided_by(evidence, meaning.needed), evidence=evidence, needed=needed)
        elif turn.may_be_answered:
            await self._ahead.in_silence(turn, turn.silence, meaning)

    def _may_start(self) -> bool:
        """Whether an answer may be started speculatively now."""
        waits = self._waiting.others(id(self), time.monotonic())
        return self._speculate and not (self._ending or waits or self._lagging())

    def _decided_by(self, evidence: Evidence, needed: float) -> EndedBy:
        if evidence.is_whole and needed <= self._endpointing.stop:
            return "whole_request"
        return "smart_turn" if self._endpointing.judges_finished(evidence) else "fallback"

    async def _end(
        self,
        ended_by: EndedBy,
        *,
        evidence: Evidence | None = None,
        needed: float | None = None,
        failure: str | None = None,
    ) -> None:
        """Commit the turn only once, although audio and transcripts come in separate tasks."""
        if not self.turn.is_open or self._ending:
            return
        self._ending = True
        try:
            await self._commit(ended_by, evidence, needed, failure)
        finally:
            self._ending = False

    async def _commit(
        self, ended_by: EndedBy, evidence: Evidence | None, needed: float | None, failure: str | None
    ) -> None:
        """Announce what ended the turn, then commit it."""
        words = joined(self.turn.words)
        confirmed = self.speculation.confirm(words)
        verdict = self._weighing.verdict
        if not confirmed:
            await self._ahead.discard()
        if ended_by not in ("nothing_heard", "own_voice"):
            self._waiting.begin(id(self), time.monotonic())
            self.speculation.extra.turn_over()
        await self.push_frame(
            TurnEndFrame(
                ended_by=ended_by,
                probability=verdict.probability if verdict else None,
                inference=verdict.seconds if verdict else None,
                finished=evidence.probability if evidence else None,
                silence=needed,
                failed=failure,
                speculated=self.speculation.started,
                discarded=self.speculation.discarded,
                early=self.speculation.early,
                confirmed=confirmed,
            )
        )
        if confirmed and joined(self.turn.words) != words:
            # They have just been corrected.
            confirmed = False
            await self._cancel()
        if confirmed and not self.turn.speaking:
            # Its answer is on the way: reporting the end of the turn releases it.
            await self.trigger_user_turn_finalized(confirms_speculation=True)
        elif ended_by == "own_voice":
            # Nothing was asked: the turn ends as if it had been answered.
            await self.trigger_user_turn_finalized(confirms_speculation=True)
        elif not self.turn.speaking:
            await self.trigger_user_turn_stopped()
        if confirmed and self.turn.is_open:
            # The user has just spoken again, and the turn goes on.
            await self._cancel()
