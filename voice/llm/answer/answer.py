"""Produces one answer: executes the policy's decisions until the answer is spoken or given up."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.utils.context.llm_context_summarization import LLMContextSummarizationUtil

from latency.budget import Deadline
from latency.record.requests import Phrase, PhraseKind
from voice.frames import AnswerTextFrame, RequestsFrame
from voice.llm.answer.answer_state import AnswerState
from voice.llm.answer.conversation import CONTINUE, CORRECT, FOLLOW, OPEN, VERIFY, instructed
from voice.llm.answer.hold_phrases import HOLD_GUARD
from voice.llm.answer.llm_request import LLMRequest, ToolRules
from voice.llm.opening import Repair, objection
from voice.llm.policy.situation import Decision, NewRequest, RequestState
from voice.llm.tiers.tier import Tier
from voice.llm.tools.tool import misfit
from voice.llm.verification import denies
from voice.llm.wires.rate_limits import duration

if TYPE_CHECKING:
    from voice.llm.answer.speaker import Speaker

log = logging.getLogger(__name__)


class Answer:
    """Asks tiers, speaks one, cancels the others.

    Args:
        state: the answer before its first request; kept up to date from then on.
        tiers: by name.
        context: the conversation to answer.
        speaker: takes the answer to the call.
        forbidden: names of the tools that a tier may not call, by tier; other calls of these tiers are checked against
            the schemas.
        introduces: the seconds in which the rest of the clause must follow an introduction; None if that is not spoken
            alone.
        clock: seconds.
    """

    def __init__(
        self,
        state: AnswerState,
        *,
        tiers: Mapping[str, Tier],
        context: LLMContext,
        speaker: "Speaker",
        forbidden: Mapping[str, frozenset[str]] | None = None,
        introduces: Callable[[RequestState, str], float | None] = lambda _request, _text: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state = state
        self._tiers, self._context, self._speaker = tiers, context, speaker
        self._forbidden, self._introduces, self._clock = forbidden or {}, introduces, clock
        self._tasks: list[asyncio.Task[None]] = []
        self._changed, self._committed = asyncio.Event(), asyncio.Event()
        self._opening: Phrase | None = None
        """The words chosen as the answer's opening."""
        self._repair: Repair | None = None
        self._heard = ""
        self.began = False
        """Whether the answer (or an apology) has begun."""

    def expect(self, deadline: Deadline) -> None:
        """Note the deadline that would hold if the turn were committed now."""
        self.state.expect(deadline)
        self._changed.set()

    def commit(self, at: float, deadline: Deadline) -> None:
        """The turn is committed; the budget runs from `at`."""
        self.state.commit(at, deadline)
        self._changed.set()
        self._committed.set()

    @property
    def silent_from(self) -> float:
        """When the call falls silent: at the deadline, or when all text handed to synthesis has been played."""
        deadline, dry_at = self.state.deadline, self.state.playout.ends_at
        at = self._clock() if deadline is None else deadline.at - HOLD_GUARD
        return at if dry_at is None else max(at, dry_at - HOLD_GUARD)

    async def progress(self, text: str) -> None:
        """Say that a tool of this answer is running."""
        await self._say("progress", text)
        await self.report()

    async def run(self) -> None:
        """Produce the answer. Cancelling this cancels every request."""
        state = self.state
        try:
            while not state.is_over:
                self._changed.clear()
                # Words that have arrived go first: the decision depends on how long the call has words to play.
                await self._forward()
                decision = state.decide(self._clock())
                await self._carry_out(decision)
                await self._forward()
                if not (decision.acts or state.is_over):
                    await self._wait(decision.wake_at)
            # The last clause may have arrived with the end of the stream.
            await self._forward()
            if state.speaking and state.speaking.calls:
                # A tool's effects cannot be undone, so it runs only after the commit, and for checked words.
                await self._committed.wait()
                if not await self._speaker.words_stand():
                    return
                # A request may have its own conversation; the results of its tools belong in the call's.
                calls = [replace(call, context=self._context) for call in state.speaking.calls]
                if refused := await self._speaker.call(calls, self):
                    await self._apologise(refused)
        finally:
            self._cancel([one.state.number for one in state.requests if one.state.running])
            self._note_tiers(self._clock())
            state.end(self._clock())
            self._log()
            await self.report()

    async def _carry_out(self, decision: Decision) -> None:
        if decision.speak is not None:
            self.state.speak(decision.speak)
            # Push the words first; the other requests can be cancelled while the words are on their way.
            await self._forward()
        if decision.release:
            self.state.review.release(self.state.requests, self._clock())
        self._cancel(decision.cancel)
        for start in decision.start:
            self._start(start)
        if decision.say is not None:
            await self._say(decision.say)
        if decision.give_up:
            await self._apologise(self.state.why_unanswered())
        if decision.start or decision.speak is not None or decision.say is not None:
            await self.report()

    async def _say(self, kind: PhraseKind, text: str | None = None) -> None:
        at = self._clock()
        phrase = self._opening if kind == "opening" and self._opening else Phrase(kind=kind, text=text or "")
        said = await self._speaker.say(kind, phrase.text or None)
        self.state.say(None if said is None else replace(phrase, at=at, text=said), at)

    def _open(self, request: LLMRequest) -> Phrase:
        """Choose the opening: a tier's own words if they pass as one."""
        words, state = request.streamed.speakable.first_clause or "", request.state
        state.rejected = objection(words, said=self.state.turn.text or "")
        state.said = state.rejected is None
        if state.said:
            return Phrase(kind="opening", text=words, tier=state.tier)
        log.info("the opening “%s” of %s is not said: %s", words, state.tier, state.rejected)
        return Phrase(kind="opening", text=self._speaker.known_opening(), rejected=state.rejected)

    def _start(self, start: NewRequest) -> None:
        requests, tier = self.state.requests, start.tier
        context, heard = self._context, 0
        if start.verifies is not None:
            context = instructed(context, VERIFY, said=requests[start.verifies].text, tools=False)
        if start.opens:
            context = instructed(context, OPEN, tools=False)
        if start.follows is not None:
            if self._opening is None:
                self._opening = self._open(requests[start.follows])
                self._repair = Repair(self._opening.text)
            context = instructed(context, FOLLOW, said=self._opening.text)
        if start.continues is not None:
            begun = requests[start.continues]
            # Clauses that have arrived are still spoken, even if their request fails.
            context, heard = self._going_on(begun), begun.state.clauses
        drafts = self.state.plan.drafts(start)
        state = RequestState.of(start, number=len(requests), request=self._clock(), heard=heard, reviewed=drafts)
        # Nothing of this candidate has been heard: another one, or another tier, takes its place.
        must_fit = tier in self._forbidden or start.candidate is not None or drafts
        tokens = LLMContextSummarizationUtil.estimate_context_tokens(context)
        request = LLMRequest(
            state,
            rules=ToolRules(
                context=context,
                forbidden=self._forbidden.get(tier, frozenset()),
                objection=misfit if must_fit else None,
            ),
            prompt_tokens=self._tiers[tier].instruction_tokens + tokens,
            language=self.state.turn.language,
            withholds=tier in self.state.book.thinking,
            introduces=partial(self._introduction, state),
        )
        self.state.add(request)
        self._tasks.append(self._tiers[tier].ask(request, context, self._changed.set))

    def _introduction(self, request: RequestState, text: str) -> float | None:
        """The seconds in which the rest must follow an introduction if that is spoken now; else None.

        While the answer is held back, nothing is gained by that. A draft or candidate is judged by its first clause.
        """
        is_judged = request.reviewed or request.candidate is not None or request.verifies is not None
        return None if is_judged or not self.state.committed else self._introduces(request, text)

    def _going_on(self, begun: LLMRequest) -> LLMContext:
        """The context of a request that continues an unfinished answer."""
        fault = self.state.review.fault
        if fault is None or not begun.state.overreached:
            return instructed(self._context, CONTINUE, said=(self._heard + begun.streamed.speakable.text).strip())
        self._repair = Repair(self._heard, denied=denies)
        return instructed(self._context, CORRECT.format(fault=fault), said=self._heard)

    def _cancel(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.state.requests[number].cancel(self._clock())
            self._tasks[number].cancel()

    async def _forward(self) -> None:
        """Speak the chosen request's finished clauses."""
        request = self.state.speaking
        pieces = request.take() if request else []
        if request and (pieces or request.calls):
            await self._begin()
        for piece in pieces:
            if self._repair is not None and isinstance(piece, AnswerTextFrame):
                piece = self._repair.apply(piece)
            if isinstance(piece, AnswerTextFrame) and self._heard[-1:].isspace():
                piece = replace(piece, text=piece.text.lstrip())
            await self._speaker.speak(piece)
            if isinstance(piece, AnswerTextFrame):
                self._heard += piece.text
                self.state.hand_over(piece.text, self._clock())

    async def _begin(self) -> None:
        if not self.began:
            self.began = True
            await self._speaker.begin()

    async def _apologise(self, why: str) -> None:
        self.state.gave_up = why
        log.warning("no %sanswer: %s", "whole " if self._heard else "", why)
        await self._begin()
        await self._speaker.apologise(why)

    async def _wait(self, wake_at: float | None) -> None:
        """Wait for an event, or for the policy's next decision."""
        try:
            async with asyncio.timeout(None if wake_at is None else max(0.0, wake_at - self._clock())):
                await self._changed.wait()
        except TimeoutError:
            # The policy must decide again.
            return

    def _note_tiers(self, now: float) -> None:
        """Record in the book which tiers refuse requests, and the room in their rate limits."""
        book = self.state.book
        for request in self.state.requests:
            tier = request.state.tier
            if request.state.outcome == "failed" and not self._tiers[tier].usable:
                book.refused(tier, now)
            if room := request.note.room:
                book.leave_room(tier, room.requests, now + room.seconds)
            if rest := request.note.rest:
                book.rest(tier, now + rest.seconds)
                log.warning("tier %s is not asked for %s: %s", tier, duration(rest.seconds), rest.why)

    def _log(self) -> None:
        """Log how the answer was made, and failed requests; a complete failure was logged before."""
        states = [request.state for request in self.state.requests]
        for state in states:
            if state.failed and self.state.gave_up is None:
                log.warning("tier %s failed: %s", state.tier, state.failed)
        start = states[0].request if states else 0.0
        told = "; ".join(state.summary(since=start) for state in states)
        plan = self.state.plan
        log.info("answer %d, %s, %s: %s", self.state.number, plan.policy, plan.reason, told)

    async def report(self) -> None:
        """Report the state of the requests so far."""
        state = self.state
        requests = tuple(
            request.record(response=state.number, price=self._tiers[request.state.tier].price)
            for request in state.requests
        )
        answer = replace(state.record(), repaired=self._repair.words if self._repair else None)
        await self._speaker.report(RequestsFrame(answer=answer, attempts=requests, final=state.ended))
