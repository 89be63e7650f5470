"""Answers turns with several language models under a policy, and enforces each turn's deadline."""

import asyncio
import itertools
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    EagerEndOfTurnCancelFrame,
    Frame,
    FunctionCallFromLLM,
    InterruptionFrame,
    LLMContextAssistantTurnFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMUpdateSettingsFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection

from latency.budget import Budget
from latency.record.requests import Cap, PhraseKind
from voice.errors import ConfigurationError
from voice.frames import (
    AnswerTextFrame,
    ContextAnsweredFrame,
    EagerHintFrame,
    HoldPhraseFrame,
    LLMFailureFrame,
    RequestsFrame,
    TurnEndFrame,
)
from voice.llm import TOOL_ROUNDS
from voice.llm.answer.answer import Answer
from voice.llm.answer.clauses import sentences
from voice.llm.answer.deadline import Percentile, TurnDeadline, unmeasured
from voice.llm.answer.early_synthesis import follows_tool, last_assistant_text, last_user_text
from voice.llm.answer.hold_phrases import HoldPhrases
from voice.llm.policy import Plan, Policy, TurnInfo
from voice.llm.policy.best_of import within_rate_limits
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.policy.turn_info import ANY_TURN
from voice.llm.routing.settling import Route
from voice.llm.spending.spending import Spending
from voice.llm.tiers.tier import Tier
from voice.llm.tiers.tiered_service import TieredLLMService
from voice.llm.tools import Traits
from voice.llm.tools.running import RunningTools, ToolRounds

HOLD_AGAIN = 2.5
"""Seconds that must pass between two hold phrases of one turn."""


class BudgetedLLMService(TieredLLMService):
    """Answers each turn by a policy over tiers, with the first speakable clause by the turn's deadline.

    To the pipeline it is an ordinary LLM service: contexts in, one response out, tools run here. It also pushes
    `HoldPhraseFrame`s when no answer is there in time, `RequestsFrame`s with the record of each request, and, when no
    tier answers, an apology as `LLMFailureFrame` in the answer's place.

    The budget runs from the commit: for a speculative context that is the end of the user's turn, for any other the
    context's arrival. A tier's text counts from its first whole clause, and is passed on clause by clause.

    Args:
        tiers: the language models; see `Tier`.
        policy: decides which tier is asked, spoken and cancelled, and when; see `voice.llm.policy.make_policy`.
        book: the statistics of the tiers' speed; one for all calls of a process.
        budget: the shares of a turn.
        bridging: phrases for the time until an answer is ready; the usual ones by default.
        synthesis_p95: measured seconds from a clause to its first sample, or None.
        irreversible: names of the tools whose effects cannot be undone.
        large: the only tier that may call those; None when every tier may.
        spending: what the call may cost; None for no limit.
        tool_rounds: how often a model may call tools in one turn.
        poor: the tier whose answers are mostly wrong: it answers only when the others fail; None for none.
        numbers: the numbers of the call's answers; shared where another service answers, too.
        kwargs: for pipecat's `LLMService`.

    Raises:
        ConfigurationError: the policy asks a tier that does not exist, or the book lacks one.
    """

    def __init__(
        self,
        tiers: Sequence[Tier],
        policy: Policy,
        *,
        book: TierStatistics,
        budget: Budget | None = None,
        bridging: HoldPhrases | None = None,
        synthesis_p95: Percentile = unmeasured,
        irreversible: Sequence[str] = (),
        large: str | None = None,
        spending: Spending | None = None,
        tool_rounds: int = TOOL_ROUNDS,
        poor: str | None = None,
        numbers: Iterator[int] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(tiers, **kwargs)
        self._book = book
        self._bridging = bridging or HoldPhrases()
        self._turn = TurnDeadline(budget or Budget(), synthesis_p95=synthesis_p95)
        self._spending = spending
        self._cap: Cap | None = None
        """The spending cap that was reached before the current turn."""
        self._answer: Answer | None = None
        self._poor = poor
        self._context: LLMContext | None = None
        """The call's conversation; None before its first turn."""
        self._numbers = itertools.count() if numbers is None else numbers
        self._fast_p95: float | None = None
        self._words: str | None = None
        self._spoke = ""
        self._phrase_at: float | None = None
        self._tools = RunningTools()
        self._follows_tool = False
        self._held_until = math.inf
        self._accompanying: asyncio.Task[None] | None = None
        self._irreversible, self._large = tuple(irreversible), large
        forbidden = frozenset(irreversible)
        self._forbidden = {name: forbidden for name in self._tiers if large is not None and name != large}
        self._request = ANY_TURN
        self._rounds = ToolRounds(tool_rounds)
        self._route = Route()
        self._turns = 0
        self._counted: TurnInfo | None = None
        self._forgotten = 0
        if unknown := sorted(self._tiers.keys() - set(book.tiers)):
            raise ConfigurationError(f"The book of tiers does not know {unknown[0]}; give its 95th percentile.")
        self.use(policy)
        self._turn_policy = policy

    @property
    def policy(self) -> Policy:
        """The policy of the next turn."""
        return self._policy

    @property
    def overridden(self) -> str | None:
        """Why another tier answers the next turn, whatever the policy: a spending cap; None without."""
        return self._spending.overriding if self._spending else None

    def use(self, policy: Policy) -> None:
        """Follow another policy from the next turn on; tiers, context and tools stay.

        The answer after a tool call still follows the policy of the turn that called it.

        Raises:
            ConfigurationError: it asks a tier that does not exist.
        """
        if missing := [tier for tier in policy.tiers if tier not in self._tiers]:
            raise ConfigurationError(
                f"The policy {policy.name} asks the tier {missing[0]}, but there is only {', '.join(self._tiers)}."
            )
        self._policy = policy

    def forget(self, turns: int) -> None:
        """Note for the records that the context no longer contains so many turns of the call."""
        self._forgotten += turns

    def can_generate_metrics(self) -> bool:
        """Whether time to first byte and processing time are reported: yes, those of the spoken answer."""
        return True

    async def run_inference(self, context: LLMContext, *args: Any, **kwargs: Any) -> str | None:
        """A request outside any turn, answered by the policy's first tier."""
        return await self._tiers[self._policy.tiers[0]].service.run_inference(context, *args, **kwargs)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answer contexts, follow the user's turn, pass everything else on."""
        ahead = self._answer if self._answer and not self._answer.committed else None
        if isinstance(frame, EagerEndOfTurnCancelFrame | InterruptionFrame) and ahead:
            ahead.withdraw()
        if isinstance(frame, InterruptionFrame):
            await self._stop_accompanying()
        await super().process_frame(frame, direction)
        self._turn.follow(frame, time.monotonic())
        match frame:
            case ContextAnsweredFrame():
                self._context = frame.context
                return
            case LLMContextAssistantTurnFrame() if self._context:
                # The answer has been heard, and is in the conversation.
                for tier in self._tiers.values():
                    tier.read_ahead(self._context)
            case LLMContextFrame():
                self._context = frame.context
                if self.is_wanted(frame) and not self._is_begun(frame, ahead) and not await self.goes_on(frame):
                    await self._respond(frame.context, self._turn.ended if frame.speculation else None)
                return
            case LLMUpdateSettingsFrame():
                await self._update_tiers(frame)
                if frame.service is not None and frame.service is not self:
                    # Already passed on above.
                    return
            case VADUserStartedSpeakingFrame():
                self._phrase_at = None
            case EagerHintFrame() if ahead and (hinted := self._turn.ahead()):
                # It may have been asked for while the user was still speaking.
                ahead.expect(hinted)
            case TurnEndFrame() if self._answer and (deadline := self._turn.charged(frame)):
                self._answer.charge(deadline)
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

    async def cleanup(self) -> None:
        """Say nothing more."""
        await self._stop_accompanying()
        await super().cleanup()

    async def begin(self) -> None:
        """The answer begins; called by `Answer`, as are the methods below."""
        self._spoke = ""
        await self.push_frame(LLMFullResponseStartFrame())

    async def speak(self, piece: Frame) -> None:
        """Pass a piece of the chosen answer on."""
        if isinstance(piece, AnswerTextFrame):
            self._spoke += piece.text
            await self.stop_ttfb_metrics()
            await self.stop_ttfat_metrics()
        await self.push_frame(piece)

    def known_opening(self) -> str:
        """The next of the openings that are always true."""
        return self._bridging.phrase("opening")

    async def say(self, kind: PhraseKind, text: str | None = None) -> str | None:
        """Say a filler phrase, unless this call is not spoken or a phrase was said just before."""
        now = time.monotonic()
        # A turn with tools has several answers, each with its own budget.
        repeated = kind == "hold" and self._phrase_at is not None and now - self._phrase_at < HOLD_AGAIN
        if self._skip_tts or repeated:
            return None
        self._phrase_at = now
        phrase = self._bridging.phrase(kind) if text is None else text
        # An opening is the beginning of the answer, and stays in the conversation as far as it is heard.
        await self.push_frame(HoldPhraseFrame(text=phrase, kind=kind, append_to_context=kind == "opening"))
        return phrase

    async def apologise(self, reason: str) -> None:
        """Apologise in place of the answer, or of the rest of it."""
        usual = self._bridging.usual
        words = f" {usual.broke_off}" if self._spoke.strip() else usual.not_answering
        await self.push_frame(LLMFailureFrame(text=words, clauses=tuple(sentences(words)), reason=reason))

    async def call(self, calls: Sequence[FunctionCallFromLLM]) -> str | None:
        """Run the tools that the chosen answer calls, and say something while they take long.

        Returns why they are not run: a model that keeps calling tools would be asked, and billed, without end.
        """
        if objection := self._rounds.objection(calls):
            return objection
        # A request may have had a conversation of its own; what comes of its tools belongs into the call's.
        await self.run_function_calls([replace(call, context=self._context or call.context) for call in calls])
        if self._answer is not None:
            await self._stop_accompanying()
            self._accompanying = self.create_task(self._accompany(self._answer), "accompany tools")
        return None

    def running(self, traits: Traits) -> AbstractContextManager[None]:
        """A tool runs while this is entered."""
        return self._tools.running(traits)

    async def _accompany(self, answer: Answer) -> None:
        async def say(text: str | None, again: bool) -> None:
            await answer.progress(text or self._bridging.progress(again=again))

        await self._tools.accompany(answer.silent_from, time.monotonic, say)

    async def _stop_accompanying(self) -> None:
        task, self._accompanying = self._accompanying, None
        if task is not None:
            await self.cancel_task(task)

    async def report(self, frame: RequestsFrame) -> None:
        """Push the report for observers of the call."""
        if self._spending:
            self._spending.note(frame)
        await self.push_frame(frame)

    async def _respond(self, context: LLMContext, ended: float | None) -> None:
        plan = self._plan(context)
        self._fast_p95 = self._book.tail(plan.floor_tier)
        self._words = last_user_text(context)
        answer = self._answer = Answer(
            number=next(self._numbers),
            plan=plan,
            tiers=self._tiers,
            book=self._book,
            context=context,
            speaker=self,
            judged=self._turn_policy.judged,
            turn=self._request,
            forbidden=self._forbidden,
            forgotten=self._forgotten or None,
            cap=self._cap,
        )
        if not self._speculation_gate.is_speculating:
            # The end of a turn may overtake the context of its speculative answer.
            self._commit(answer, time.monotonic() if ended is None else ended)
        elif deadline := self._turn.ahead():
            answer.expect(deadline)
        await self.start_processing_metrics()
        await self.start_ttfb_metrics()
        try:
            await answer.run()
        finally:
            if answer.escalated:
                self._request = replace(self._request, escalated=True)
            if answer.committed and self._answer is answer:
                self._answer = None
            await self.stop_processing_metrics()
            if answer.began:
                await self.push_frame(LLMFullResponseEndFrame())

    def _plan(self, context: LLMContext) -> Plan:
        """The plan of the next answer; the answers after tool calls belong to the turn that called them."""
        self._follows_tool = follows_tool(context)
        if not self._follows_tool:
            self._rounds.begin_turn()
            self._turn_policy = self._policy
            self._request = self._request_of(context)
            self._cap = self._spending.reached() if self._spending else None
        now = time.monotonic()
        plan = self._turn_policy.plan(self._book, self._request)
        plan = (plan.failing_over(self._poor) if self._poor else plan).without(self._book.down(now))
        plan = within_rate_limits(plan, self._book.room(now))
        if self._spending and self._cap:
            plan = self._spending.plan(self._cap, self._book, bridge=plan.bridge)
        plan = replace(plan, escalation=plan.escalation or self._large)
        if self._follows_tool or self._skip_tts or self._bridging.language != "en":
            # An opening is the beginning of a turn's answer, and is heard. What one may say is known for English only.
            plan = replace(plan, opener=None)
        return plan

    def _request_of(self, context: LLMContext) -> TurnInfo:
        tools = context.tools
        names = tuple(tool.name for tool in tools.standard_tools) if isinstance(tools, ToolsSchema) else ()
        return TurnInfo(
            text=last_user_text(context),
            asked=last_assistant_text(context),
            turn=self._turns,
            tools=names,
            irreversible=self._irreversible,
            route=self._route,
            language=self._bridging.language,
        )

    def _is_begun(self, frame: LLMContextFrame, ahead: Answer | None) -> bool:
        """Whether a speculative answer to the same words is already held or confirmed.

        The same words come twice when a cancellation overtakes the context that it cancels.
        """
        confirmed = not self._speculation_gate.is_speculating and self._turn.ended is None
        return frame.speculation and (ahead is not None or confirmed) and last_user_text(frame.context) == self._words

    def _commit(self, answer: Answer, now: float) -> None:
        if answer.turn is not self._counted:
            self._counted = answer.turn
            self._turns += 1
            self._route = self._route.then(answer.route)
        deadline = self._turn.commit(now, fast_p95=self._fast_p95, preferred_at=answer.preferred_at)
        if self._follows_tool:
            # The caller has waited since the turn ended: no ready answer is held back once that deadline is over.
            deadline = replace(deadline, due=min(deadline.hold_until, self._held_until))
        else:
            self._held_until = deadline.hold_until
        answer.commit(now, deadline)
