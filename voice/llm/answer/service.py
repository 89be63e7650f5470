"""Answers turns with several language models under a policy, and enforces each turn's deadline."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    CancelFrame,
    EagerEndOfTurnCancelFrame,
    EndFrame,
    Frame,
    InterruptionFrame,
    LLMContextAssistantTurnFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMUpdateSettingsFrame,
    StartFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessorSetup
from pipecat.services.llm_service import LLMService

from latency.budget import Budget
from voice.frames import ContextAnsweredFrame, EagerHintFrame, TurnEndFrame, WordsCorrectedFrame
from voice.llm import TOOL_ROUNDS
from voice.llm.answer.answer import Answer
from voice.llm.answer.conversation import last_user_text
from voice.llm.answer.deadline import Percentile, TurnDeadline, unmeasured
from voice.llm.answer.hold_phrases import HoldPhrases
from voice.llm.answer.introduction import time_for_rest
from voice.llm.answer.speaker import Speaker
from voice.llm.answer.spoken_service import SpokenLLMService
from voice.llm.answer.turn_planner import TurnPlanner
from voice.llm.policy.situation import RequestState
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.tier import Tier
from voice.llm.tools import Traits
from voice.llm.tools.running import ToolRounds


class BudgetedLLMService(SpokenLLMService):
    """Answers each turn by a policy over tiers, with the first speakable clause by the turn's deadline.

    To the pipeline it is an ordinary LLM service: contexts in, one response out, tools run here. It also pushes a
    `HoldPhraseFrame` when no answer is ready in time, `RequestsFrame`s with the record of each request, and an apology
    as `LLMFailureFrame` when no tier answers.

    The budget runs from the commit: the end of the user's turn for a speculative context, the context's arrival for any
    other. A tier's text counts from its first whole clause, and is passed on clause by clause.

    Args:
        tiers: the language models; see `Tier`.
        planner: decides which tiers are asked, spoken and cancelled in each turn, and when.
        budget: the shares of a turn.
        bridging: phrases for the time until an answer is ready; the usual ones by default.
        synthesis_p95: measured seconds from a clause to its first sample, or None.
        tool_rounds: the most rounds of tool calls in one turn.
        kwargs: for pipecat's `LLMService`.
    """

    def __init__(
        self,
        tiers: Sequence[Tier],
        planner: TurnPlanner,
        *,
        budget: Budget | None = None,
        bridging: HoldPhrases | None = None,
        synthesis_p95: Percentile = unmeasured,
        tool_rounds: int = TOOL_ROUNDS,
        **kwargs: Any,
    ) -> None:
        super().__init__(model="+".join(tier.name for tier in tiers), **kwargs)
        self.tiers = {tier.name: tier for tier in tiers}
        self.planner = planner
        self._speaker = Speaker(
            self,
            bridging or HoldPhrases(),
            is_spoken=lambda: not self._skip_tts,
            rounds=ToolRounds(tool_rounds),
            words_stand=self.words_stand,
            spending=planner.spending,
        )
        self._budget, self._synthesis_p95 = budget or Budget(), synthesis_p95
        self._deadlines = TurnDeadline(self._budget, synthesis_p95=synthesis_p95)
        self._answer: Answer | None = None
        self._latest: Answer | None = None
        """The latest answer, perhaps complete, but still held back."""
        self._due_from: float | None = None
        """The commit of a turn whose words were corrected, until it is answered again."""
        self._context: LLMContext | None = None
        """The call's conversation; None before its first turn."""

    def running(self, traits: Traits) -> AbstractContextManager[None]:
        """Mark a tool as running inside this context."""
        return self._speaker.tools.running(traits)

    @property
    def unseen(self) -> list[LLMService[Any]]:
        """The services of the tiers, which are not part of the pipeline."""
        return [service for tier in self.tiers.values() for service in tier.services]

    def append_system_instruction(self, instruction: str) -> None:
        """Append to every tier's system instruction."""
        for service in self.unseen:
            service.append_system_instruction(instruction)

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]  # as pipecat's own
        """Set up the tiers as well."""
        await super().setup(setup)
        for tier in self.tiers.values():
            await tier.setup(setup, self.push_frame)

    async def cleanup(self) -> None:
        """Stop speaking, and cancel everything that still runs."""
        await self._speaker.fall_silent()
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it unannotated
        for tier in self.tiers.values():
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

    def can_generate_metrics(self) -> bool:
        """True: time to first byte and processing time of the spoken answer are reported."""
        return True

    async def run_inference(self, context: LLMContext, *args: Any, **kwargs: Any) -> str | None:
        """A request outside any turn, answered by the policy's first tier."""
        return await self.tiers[self.planner.policy.tiers[0]].service.run_inference(context, *args, **kwargs)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answer contexts, follow the user's turn, pass everything else on."""
        ahead = self._answer if self._answer and not self._answer.state.committed else None
        if isinstance(frame, EagerEndOfTurnCancelFrame | InterruptionFrame) and ahead:
            ahead.state.withdraw()
        corrected = self._latest if isinstance(frame, WordsCorrectedFrame) else None
        if corrected:
            corrected.state.withdraw()
            self._due_from, self._answer, self._latest = corrected.state.committed_at, None, None
        if isinstance(frame, UserStartedSpeakingFrame):
            self._latest = self._due_from = None
        if isinstance(frame, InterruptionFrame):
            await self._speaker.fall_silent()
        await super().process_frame(frame, direction)
        self._deadlines.follow(frame, time.monotonic())
        if corrected:
            await corrected.report()
        match frame:
            case ContextAnsweredFrame():
                self._context = frame.context
                return
            case LLMContextAssistantTurnFrame() if self._context:
                # The answer has been heard and is in the conversation.
                for tier in self.tiers.values():
                    tier.read_ahead(self._context)
            case LLMContextFrame():
                self._context = frame.context
                if self.is_wanted(frame) and not self._is_begun(frame, ahead) and not await self.goes_on(frame):
                    await self._respond(frame.context, self._deadlines.ended if frame.speculation else self._due_from)
                return
            case LLMUpdateSettingsFrame():
                await self._update_tiers(frame)
                if frame.service is not None and frame.service is not self:
                    # Already passed on above.
                    return
            case VADUserStartedSpeakingFrame():
                self._speaker.phrases.begin_turn()
            case EagerHintFrame() if ahead and (hinted := self._deadlines.ahead()):
                # It may have been requested while the user was still speaking.
                ahead.expect(hinted)
            case TurnEndFrame() if self._answer and (deadline := self._deadlines.charged(frame)):
                self._answer.state.charge(deadline)
                await self._answer.report()
            case UserStoppedSpeakingFrame() if direction is FrameDirection.DOWNSTREAM and ahead:
                now = time.monotonic()
                # This opens the gate; tools may run only after that.
                await self.push_frame(frame, direction)
                self._commit(ahead, now)
                await self._tell(frame)
                await ahead.report()
                return
            case EagerEndOfTurnCancelFrame() | InterruptionFrame() if ahead:
                self._answer = None
                await ahead.report()
        if isinstance(
            frame, UserStartedSpeakingFrame | UserStoppedSpeakingFrame | InterruptionFrame | BotStoppedSpeakingFrame
        ):
            await self._tell(frame)
        await self.push_frame(frame, direction)

    async def _tell(self, frame: Frame) -> None:
        """Pass a frame of the call to every tier."""
        for tier in self.tiers.values():
            await tier.tell(frame)

    async def _update_tiers(self, frame: LLMUpdateSettingsFrame) -> None:
        """Pass settings for one tier's service to it, and settings for this service to all tiers."""
        for service in self.unseen:
            if frame.service in (None, self, service):
                await service.process_frame(replace(frame, service=service), FrameDirection.DOWNSTREAM)

    async def _respond(self, context: LLMContext, ended: float | None) -> None:
        state = self.planner.next_answer(context, spoken=not self._skip_tts)
        if not state.follows_tool:
            self._speaker.rounds.begin_turn()
        self._due_from = None
        answer = self._answer = self._latest = Answer(
            state,
            tiers=self.tiers,
            context=context,
            speaker=self._speaker,
            forbidden=self.planner.forbidden,
            introduces=partial(self._introduction, state.book),
        )
        if not self._speculation_gate.is_speculating:
            # The end of a turn may overtake its speculative context.
            self._commit(answer, time.monotonic() if ended is None else ended)
        elif deadline := self._deadlines.ahead():
            answer.expect(deadline)
        await self.start_processing_metrics()
        await self.start_ttfb_metrics()
        try:
            await answer.run()
        finally:
            if state.escalated:
                self.planner.escalate()
            if state.committed and self._answer is answer:
                self._answer = None
            await self.stop_processing_metrics()
            if answer.began:
                await self.push_frame(LLMFullResponseEndFrame())

    def _is_begun(self, frame: LLMContextFrame, ahead: Answer | None) -> bool:
        """Whether a speculative answer to the same words is already held or confirmed.

        The same words come twice when a cancellation overtakes the context that it should cancel.
        """
        confirmed = not self._speculation_gate.is_speculating and self._deadlines.ended is None
        begun = frame.speculation and (ahead is not None or confirmed)
        return begun and last_user_text(frame.context) == self.planner.words

    def _introduction(self, book: TierStatistics, request: RequestState, text: str) -> float | None:
        """The seconds in which the rest must follow an introduction; None if that is not spoken alone."""
        lasts, synthesis = self._rules.introduction(text), self._synthesis_p95()
        if lasts is None or synthesis is None:
            return None
        # Introductions are synthesised before the call; their times say nothing about other clauses.
        synthesis = max(synthesis, self._budget.synthesis)
        return time_for_rest(lasts, token=book.token(request.tier), synthesis=synthesis, own=request.token)

    def _commit(self, answer: Answer, now: float) -> None:
        state = answer.state
        self.planner.commit(state)
        deadline = self._deadlines.commit(
            now,
            fast_p95=state.floor_p95,
            preferred_at=state.preferred_at(time.monotonic()),
            follows_tool=state.follows_tool,
        )
        answer.commit(now, deadline)
