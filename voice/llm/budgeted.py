"""One language model to the pipeline, several tiers inside, and a deadline that is kept within the turn."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    CancelFrame,
    EagerEndOfTurnCancelFrame,
    EndFrame,
    Frame,
    FunctionCallFromLLM,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMUpdateSettingsFrame,
    StartFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessorSetup
from pipecat.services.settings import LLMSettings
from pipecat.utils.tracing.service_decorators import traced_llm

from latency.budget import DETECTOR_LAG, Budget, Commit, Deadline, what_a_turn_leaves
from voice.errors import ConfigurationError
from voice.llm.bridging import BROKE_OFF, NOT_ANSWERING, Bridging
from voice.llm.frames import AttemptsFrame, HoldPhraseFrame, LLMFailureFrame
from voice.llm.policy import Plan, Policy
from voice.llm.response import Response
from voice.llm.speaking_ahead import SpeakingAheadLLMService
from voice.llm.tier import Tier
from voice.llm.tier_stats import TierBook
from voice.turns.frames import EagerHintFrame, SpeechResumedFrame, TurnEndFrame

HOLD_AGAIN = 2.5
"""Seconds between two hold phrases of one turn."""

Percentile = Callable[[], float | None]


def unmeasured() -> float | None:
    """A percentile nobody measures: the stage's share is taken."""
    return None


class BudgetedLLMService(SpeakingAheadLLMService):
    """Answers each turn by a policy over tiers, with the first speakable clause by the turn's deadline.

    To the pipeline it is an ordinary LLM service: contexts in, one response out, tools run here. It also pushes
    `HoldPhraseFrame`s when no answer is there in time, `AttemptsFrame`s with the record of each request, and, when no
    tier answers, an apology as `LLMFailureFrame` in the answer's place.

    The budget runs from the commit: for a speculative context that is the end of the user's turn, for any other the
    context's arrival. A tier's text counts from its first whole clause, and is passed on clause by clause.

    Args:
        tiers: the language models; see `Tier`.
        policy: which of them is asked, spoken and cancelled, and when; see `voice.llm.policy.make_policy`.
        book: what is known of the tiers' speed; one for all calls of a process.
        budget: the shares of a turn.
        bridging: phrases while no answer is there; the usual ones by default.
        synthesis_p95: measured seconds from a clause to its first sample, or None.
        transport_p95: measured seconds from that sample to the loudspeaker, or None.
        kwargs: for pipecat's `LLMService`.

    Raises:
        ConfigurationError: the policy asks a tier that is not there, or the book does not know one.
    """

    def __init__(
        self,
        tiers: Sequence[Tier],
        policy: Policy,
        *,
        book: TierBook,
        budget: Budget | None = None,
        bridging: Bridging | None = None,
        synthesis_p95: Percentile = unmeasured,
        transport_p95: Percentile = unmeasured,
        **kwargs: Any,
    ) -> None:
        settings = LLMSettings(
            model="+".join(tier.name for tier in tiers),
            system_instruction=None,
            temperature=None,
            max_tokens=None,
            top_p=None,
            top_k=None,
            frequency_penalty=None,
            presence_penalty=None,
            seed=None,
            filter_incomplete_user_turns=False,
            user_turn_completion_config=None,
        )
        super().__init__(settings=settings, **kwargs)
        self._tiers = {tier.name: tier for tier in tiers}
        self._book = book
        self._budget = budget or Budget()
        self._bridging = bridging or Bridging()
        self._synthesis_p95, self._transport_p95 = synthesis_p95, transport_p95
        self._response: Response | None = None
        self._responses = 0
        self._fast_p95: float | None = None
        self._silent_since: float | None = None
        self._vad_stop: float | None = None
        self._silence_needed: float | None = None
        self._spoke = ""
        self._phrase_at: float | None = None
        if unknown := sorted(self._tiers.keys() - set(book.tiers)):
            raise ConfigurationError(f"The book of tiers does not know {unknown[0]}; give its 95th percentile.")
        self.use(policy)
        self._turn_policy = policy

    @property
    def policy(self) -> Policy:
        """The policy of the next turn."""
        return self._policy

    def use(self, policy: Policy) -> None:
        """Follow another policy from the next turn on; tiers, context and tools stay.

        The words after a tool belong to the turn that called it.

        Raises:
            ConfigurationError: it asks a tier that is not there.
        """
        if missing := [tier for tier in policy.tiers if tier not in self._tiers]:
            raise ConfigurationError(
                f"The policy {policy.name} asks the tier {missing[0]}, but there is only {', '.join(self._tiers)}."
            )
        self._policy = policy

    def can_generate_metrics(self) -> bool:
        """Whether time to first byte and processing time are reported: yes, those of what was spoken."""
        return True

    async def run_inference(self, context: LLMContext, *args: Any, **kwargs: Any) -> str | None:
        """A request outside any turn, answered by the policy's first tier."""
        return await self._tiers[self._policy.tiers[0]].service.run_inference(context, *args, **kwargs)

    def append_system_instruction(self, instruction: str) -> None:
        """Append to every tier's system instruction."""
        for tier in self._tiers.values():
            for service in tier.services:
                service.append_system_instruction(instruction)

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]  # as pipecat's own
        """Prepare the tiers too."""
        await super().setup(setup)
        for tier in self._tiers.values():
            await tier.setup(setup, self.push_frame)

    async def cleanup(self) -> None:
        """Leave no request behind."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it unannotated
        for tier in self._tiers.values():
            await tier.cleanup()

    async def start(self, frame: StartFrame) -> None:
        """The call begins."""
        await super().start(frame)
        await self._tell(frame)

    async def stop(self, frame: EndFrame) -> None:
        """The call ended."""
        await super().stop(frame)
        await self._tell(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        """The call was cut off."""
        await super().cancel(frame)
        await self._tell(frame)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answer contexts, follow the user's turn, pass everything else on."""
        ahead = self._response if self._response and not self._response.committed else None
        if isinstance(frame, EagerEndOfTurnCancelFrame) and ahead:
            ahead.withdraw()
        await super().process_frame(frame, direction)
        match frame:
            case LLMContextFrame():
                if self.is_wanted(frame):
                    await self._respond(frame.context)
                return
            case LLMUpdateSettingsFrame():
                await self._update_tiers(frame)
                if frame.service is not None and frame.service is not self:
                    # Already passed on above.
                    return
            case VADUserStartedSpeakingFrame():
                self._silent_since = self._vad_stop = self._silence_needed = self._phrase_at = None
            case EagerHintFrame():
                self._silent_since = time.monotonic() - frame.silence - DETECTOR_LAG
            case SpeechResumedFrame():
                self._silent_since = None
            case VADUserStoppedSpeakingFrame():
                self._vad_stop = time.monotonic()
                self._silent_since = self._vad_stop - frame.stop_secs - DETECTOR_LAG
            case TurnEndFrame():
                self._silence_needed = frame.silence
            case UserStoppedSpeakingFrame() if direction is FrameDirection.DOWNSTREAM and ahead:
                now = time.monotonic()
                # It opens the gate, and only then may tools run.
                await self.push_frame(frame, direction)
                self._commit(ahead, now)
                await self._tell(frame)
                await ahead.report()
                return
            case EagerEndOfTurnCancelFrame() if ahead:
                self._response = None
                await ahead.report()
        if isinstance(
            frame, UserStartedSpeakingFrame | UserStoppedSpeakingFrame | InterruptionFrame | BotStoppedSpeakingFrame
        ):
            await self._tell(frame)
        await self.push_frame(frame, direction)

    async def begin(self) -> None:
        """The answer begins; called by `Response`, as are the methods below."""
        self._spoke = ""
        await self.push_frame(LLMFullResponseStartFrame())

    async def speak(self, piece: str | Frame) -> None:
        """Pass a piece of the chosen answer on."""
        if isinstance(piece, Frame):
            await self.push_frame(piece)
            return
        self._spoke += piece
        await self.stop_ttfb_metrics()
        await self._push_llm_text(piece)

    async def say(self, kind: Literal["hold", "delay"]) -> str | None:
        """Say a phrase that is no answer; nothing when this call is not spoken, or when one was said just before."""
        now = time.monotonic()
        # A turn with tools has several answers, each with a budget of its own.
        repeated = kind == "hold" and self._phrase_at is not None and now - self._phrase_at < HOLD_AGAIN
        if self._skip_tts or repeated:
            return None
        self._phrase_at = now
        phrase = self._bridging.phrase(kind)
        await self.push_frame(HoldPhraseFrame(text=phrase, kind=kind))
        return phrase

    async def apologise(self, reason: str) -> None:
        """Say that no (whole) answer comes, in its place."""
        words = f" {BROKE_OFF}" if self._spoke.strip() else NOT_ANSWERING
        await self.push_frame(LLMFailureFrame(text=words, reason=reason))

    async def call(self, calls: Sequence[FunctionCallFromLLM]) -> None:
        """Run the tools that the chosen answer asks for."""
        await self.run_function_calls(calls)

    async def report(self, frame: AttemptsFrame) -> None:
        """Tell who watches the call."""
        await self.push_frame(frame)

    @traced_llm
    async def _respond(self, context: LLMContext) -> None:
        if not _follows_tool(context):
            self._turn_policy = self._policy
        plan = self._turn_policy.plan(self._book).without(self._book.down(time.monotonic()))
        self._fast_p95 = self._floor(plan)
        response = self._response = Response(
            number=self._responses,
            plan=plan,
            tiers=self._tiers,
            book=self._book,
            context=context,
            budget=self._budget,
            speaker=self,
            judged=self._turn_policy.judged,
        )
        self._responses += 1
        if not self._speculation_gate.is_speculating:
            self._commit(response, time.monotonic())
        elif self._silent_since is not None:
            percentiles = self._synthesis_p95(), self._transport_p95()
            response.expect(Deadline(what_a_turn_leaves(self._silent_since, self._budget, *percentiles), "turn"))
        await self.start_processing_metrics()
        await self.start_ttfb_metrics()
        try:
            await response.run()
        finally:
            if response.committed and self._response is response:
                self._response = None
            await self.stop_processing_metrics()
            if response.began:
                await self.push_frame(LLMFullResponseEndFrame())

    def _floor(self, plan: Plan) -> float:
        """In what time the fast tier, or a lone one, is nearly always there: the deadline leaves it that, if it can.

        Nobody would answer any sooner than a lone tier, so a turn that others have delayed does not make it late.
        """
        return self._book.tail(plan.fast if plan.fast is not None and plan.fast_p95 is not None else plan.first[0])

    def _commit(self, response: Response, now: float) -> None:
        """The turn is over: its budget runs from now. What was known of the user's silence is used up."""
        since, needed = self._silent_since, self._silence_needed
        response.commit(
            Commit(
                at=now,
                speech_end=self._silent_since,
                vad_stop=self._vad_stop,
                silent_enough=None if since is None or needed is None else since + DETECTOR_LAG + needed,
                synthesis_p95=self._synthesis_p95(),
                transport_p95=self._transport_p95(),
                fast_p95=self._fast_p95,
            )
        )
        self._silent_since = self._vad_stop = self._silence_needed = None

    async def _tell(self, frame: Frame) -> None:
        for tier in self._tiers.values():
            await tier.tell(frame)

    async def _update_tiers(self, frame: LLMUpdateSettingsFrame) -> None:
        """Settings for one tier's service reach it, settings for the whole reach all."""
        for tier in self._tiers.values():
            for service in tier.services:
                if frame.service in (None, self, service):
                    target = replace(frame, service=service)
                    await service.process_frame(target, FrameDirection.DOWNSTREAM)


def _follows_tool(context: LLMContext) -> bool:
    """Whether what is to be answered is what a tool told."""
    last: Any = next(reversed(context.get_messages()), None)
    return isinstance(last, dict) and last.get("role") == "tool"
