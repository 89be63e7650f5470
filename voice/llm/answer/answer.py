"""Produces one answer: carries out the policy's decisions until the answer is spoken or given up."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.utils.context.llm_context_summarization import LLMContextSummarizationUtil

from latency.budget import Deadline
from latency.record.requests import AnswerRecord, Cap, Phrase, PhraseKind, RequestRecord, bill
from voice.frames import AnswerTextFrame, RequestsFrame
from voice.llm.answer.continuation import continued
from voice.llm.answer.learning import judge, learn, log_end, why_unanswered
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.answer.playout_estimate import PlayoutEstimate
from voice.llm.answer.speaker import Speaker
from voice.llm.ensemble.candidates import Candidates
from voice.llm.opening.opening import Opening, asking_to_open, following
from voice.llm.opening.repair import Repair
from voice.llm.opening.rules import objection
from voice.llm.policy import Decision, Plan, Situation, Start, TurnInfo
from voice.llm.policy.plan import HOLD_GUARD
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.policy.turn_info import ANY_TURN
from voice.llm.tiers.tier import Tier
from voice.llm.tools.tool import misfit
from voice.llm.verification.request import asking_to_correct, asking_to_verify
from voice.llm.verification.review import Review, denies

log = logging.getLogger(__name__)


class Answer:
    """Asks tiers, speaks one, cancels the others.

    Args:
        number: the position of the answer in this call.
        plan: the turn's policy.
        tiers: by name.
        book: the statistics of the tiers, updated by every request.
        context: the conversation to answer.
        speaker: takes the answer to the call.
        judged: the tier that the policy demotes when it is late; judged only if it is asked first.
        cap: the spending cap that was reached before it, for the record.
        turn: what is known of the turn.
        forbidden: names of the tools that a tier may not call, by tier; the calls of these tiers must also fit.
        forgotten: how many turns the context no longer contains.
        clock: seconds.
    """

    def __init__(
        self,
        *,
        number: int,
        plan: Plan,
        tiers: Mapping[str, Tier],
        book: TierStatistics,
        context: LLMContext,
        speaker: Speaker,
        judged: str | None = None,
        cap: Cap | None = None,
        turn: TurnInfo = ANY_TURN,
        forbidden: Mapping[str, frozenset[str]] | None = None,
        forgotten: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._number, self._plan, self._tiers, self._book = number, plan, tiers, book
        self._context, self._speaker, self._judged = context, speaker, judged
        self._cap = cap
        self._clock, self._turn, self._forbidden, self._forgotten = clock, turn, forbidden or {}, forgotten
        self._candidates, self._review = Candidates(turn.text), Review(turn.text)
        self._opening: Opening | None = None
        self._repair: Repair | None = None
        self._changed = asyncio.Event()
        self._attempts: list[LLMRequest] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._commit: float | None = None
        self._deadline: Deadline | None = None
        self._speaking: LLMRequest | None = None
        self.began = False
        """Whether the answer (or an apology) has begun."""
        self._heard = ""
        self._playout = PlayoutEstimate()
        self._said: list[Phrase | None] = []
        """None for a phrase that was due and not spoken."""
        self._gave_up: str | None = None
        self._final = False
        self._committed = asyncio.Event()

    @property
    def committed(self) -> bool:
        """Whether the turn that it answers is committed."""
        return self._commit is not None

    @property
    def turn(self) -> TurnInfo:
        """The turn that it answers."""
        return self._turn

    @property
    def route(self) -> str | None:
        """The tier that the turn was routed to; see `Plan.route`."""
        return self._plan.route

    @property
    def preferred_at(self) -> float | None:
        """When the tier that answers better usually has its first clause; None without one, or if unknown."""
        tier = self._plan.preferred
        usual = self._book.quantile(tier, 0.5) if tier else None
        asked = next((attempt.request for attempt in self._attempts if attempt.tier == tier), self._clock())
        return None if usual is None else asked + usual

    @property
    def escalated(self) -> bool:
        """Whether a tier called a tool that is left to another one."""
        return any(attempt.overreached for attempt in self._attempts)

    def expect(self, deadline: Deadline) -> None:
        """Note the deadline that would hold if the turn were committed now."""
        if not self.committed:
            self._deadline = deadline
            self._changed.set()

    def commit(self, at: float, deadline: Deadline) -> None:
        """The turn is committed; the budget runs from `at`."""
        self._commit, self._deadline = at, deadline
        self._book.turn(self._plan.opener or self._plan.first[0], judged=self._judged)
        self._playout.release(at)
        self._changed.set()
        self._committed.set()
        if self._final:
            self._judge_first()

    def charge(self, deadline: Deadline) -> None:
        """The same deadline once it is known which stage overspent."""
        if self._deadline is not None and self._deadline.at == deadline.at:
            self._deadline = deadline

    @property
    def silent_from(self) -> float:
        """When something must be heard: at the deadline, or when what was handed to synthesis has been played."""
        at = self._clock() if self._deadline is None else self._deadline.at - HOLD_GUARD
        return at if self._playout.ends_at is None else max(at, self._playout.ends_at - HOLD_GUARD)

    async def progress(self, text: str) -> None:
        """Say that a tool of this answer's is running."""
        await self._say("progress", text)
        await self.report()

    def withdraw(self) -> None:
        """The turn had not ended: the speculative answer is discarded."""
        for attempt in self._attempts:
            attempt.withdrawn = True

    async def run(self) -> None:
        """Produce the answer. Cancelling this cancels every request."""
        try:
            while not self._over():
                self._changed.clear()
                self._review.proceed(self._attempts, self._clock())
                decision = self._plan.decide(self._situation())
                await self._carry_out(decision)
                await self._forward()
                acted = decision.start or decision.speak is not None or decision.say == "opening" or decision.release
                if not (acted or self._over()):
                    await self._wait(decision.wake_at)
            # The last clause may have arrived with the end of the stream.
            await self._forward()
            if self._speaking and self._speaking.calls:
                # A tool's effects cannot be undone, so it runs only after the commit.
                await self._committed.wait()
                if refused := await self._speaker.call(self._speaking.calls):
                    await self._apologise(refused)
        finally:
            self._cancel([attempt.number for attempt in self._attempts if attempt.outcome is None])
            learn(self._book, self._attempts, self._tiers, self._clock())
            self._judge_first()
            self._final = True
            log_end(self._number, self._plan, self._attempts, gave_up=self._gave_up is not None)
            await self.report()

    def _over(self) -> bool:
        return self._gave_up is not None or (self._speaking is not None and self._speaking.outcome == "complete")

    def _situation(self) -> Situation:
        return Situation(
            now=self._clock(),
            commit=self._commit,
            deadline=self._deadline,
            attempts=self._candidates.views(self._attempts),
            speaking=self._speaking.number if self._speaking else None,
            dry_at=self._playout.ends_at,
            held=len(self._said),
        )

    async def _carry_out(self, decision: Decision) -> None:
        if decision.speak is not None:
            self._candidates.picked(self._attempts, decision.speak)
            self._speaking = self._attempts[decision.speak]
            self._speaking.spoken = True
            # Push the words first; the other requests can be cancelled while the words are on their way.
            await self._forward()
        if decision.release:
            self._review.release(self._attempts, self._clock())
        self._cancel(decision.cancel)
        for start in decision.start:
            self._start(start)
        if decision.say is not None:
            await self._say(decision.say)
        if decision.give_up:
            await self._give_up()
        if decision.start or decision.speak is not None or decision.say is not None:
            await self.report()

    async def _say(self, kind: PhraseKind, text: str | None = None) -> None:
        at = self._clock()
        opening = self._opening if kind == "opening" else None
        phrase = await self._speaker.say(kind, opening.text if opening else text)
        if phrase is None:
            self._said.append(None)
            return
        tier, rejected = (opening.tier, opening.rejected) if opening else (None, None)
        self._said.append(Phrase(at=at, kind=kind, text=phrase, tier=tier, rejected=rejected))
        self._playout.add(phrase, at)

    def _open(self, attempt: LLMRequest) -> Opening:
        """Choose the opening: a tier's own words if an opening may say them."""
        words = attempt.opening or ""
        attempt.rejected = objection(words, said=self._turn.text or "")
        attempt.said = attempt.rejected is None
        if attempt.rejected is None:
            return Opening(words, tier=attempt.tier)
        log.info("the opening “%s” of %s is not said: %s", words, attempt.tier, attempt.rejected)
        return Opening(self._speaker.known_opening(), rejected=attempt.rejected)

    def _start(self, start: Start) -> None:
        context, heard = self._context, 0
        if start.verifies is not None:
            context = asking_to_verify(context, self._attempts[start.verifies].text)
        if start.opens:
            context = asking_to_open(context)
        if start.follows is not None:
            if self._opening is None:
                self._opening = self._open(self._attempts[start.follows])
                self._repair = Repair(self._opening.text)
            context = following(context, self._opening.text)
        if start.continues is not None:
            begun = self._attempts[start.continues]
            # Clauses that came since the last were spoken are spoken next, whatever becomes of their request.
            context, heard = self._going_on(begun), begun.clauses
        if start.hedge:
            self._book.hedges.take()
        drafts = self._plan.drafts(start)
        attempt = LLMRequest(
            number=len(self._attempts),
            tier=start.tier,
            request=self._clock(),
            continues=start.continues,
            heard=heard,
            prompt_tokens=self._tiers[start.tier].instruction_tokens
            + LLMContextSummarizationUtil.estimate_context_tokens(context),
            opens=start.opens,
            follows=start.follows,
            forbidden=self._forbidden.get(start.tier, frozenset()),
            # Of a candidate nobody has heard anything: another one, or another tier, takes its place.
            objection=misfit if start.tier in self._forbidden or start.candidate is not None or drafts else None,
            candidate=start.candidate,
            verifies=start.verifies,
            reviewed=drafts,
            language=self._turn.language,
            context=context,
            withholds=start.tier in self._book.thinking,
        )
        self._attempts.append(attempt)
        self._tasks.append(self._tiers[start.tier].ask(attempt, context, self._changed.set))

    def _going_on(self, begun: LLMRequest) -> LLMContext:
        """The context of a request that goes on from an answer that was begun."""
        if self._review.fault is not None and begun.overreached:
            self._repair = Repair(self._heard, denied=denies)
            return asking_to_correct(self._context, self._heard, self._review.fault)
        return continued(self._context, self._heard + begun.waiting)

    def _cancel(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._attempts[number].cancel(self._clock())
            self._tasks[number].cancel()

    async def _forward(self) -> None:
        """Speak the clauses that the chosen attempt has ready."""
        attempt = self._speaking
        pieces = attempt.take() if attempt else []
        if attempt and not self.began and (pieces or attempt.calls):
            self.began = True
            await self._speaker.begin()
        for piece in pieces:
            if self._repair is not None and isinstance(piece, AnswerTextFrame):
                piece = self._repair.apply(piece)
            if isinstance(piece, AnswerTextFrame) and self._heard[-1:].isspace():
                piece = replace(piece, text=piece.text.lstrip())
            await self._speaker.speak(piece)
            if isinstance(piece, AnswerTextFrame):
                self._heard += piece.text
                self._playout.add(piece.text, self._clock() if self.committed else None)

    async def _give_up(self) -> None:
        await self._apologise(why_unanswered(self._attempts))

    async def _apologise(self, why: str) -> None:
        self._gave_up = why
        log.warning("no %sanswer: %s", "whole " if self._heard else "", why)
        if not self.began:
            self.began = True
            await self._speaker.begin()
        await self._speaker.apologise(why)

    async def _wait(self, wake_at: float | None) -> None:
        """Wait until something happens, or until the instant at which the policy must decide again."""
        if wake_at is None:
            await self._changed.wait()
            return
        try:
            async with asyncio.timeout(max(0.0, wake_at - self._clock())):
                await self._changed.wait()
        except TimeoutError:
            # The policy must decide again.
            return

    def _judge_first(self) -> None:
        if self.committed and self._deadline is not None and self._judged is not None:
            judge(self._book, self._attempts, self._judged, self._deadline)

    def _record(self, attempt: LLMRequest) -> RequestRecord:
        record = attempt.record(response=self._number)
        return replace(record, usd=bill(record, self._tiers[attempt.tier].price))

    async def report(self) -> None:
        """Report the state of the requests so far."""
        deadline = self._deadline if self.committed else None
        attempts = tuple(self._record(attempt) for attempt in self._attempts)
        answer = AnswerRecord(
            response=self._number,
            policy=self._plan.policy,
            reason=self._plan.reason,
            commit=self._commit,
            deadline=deadline.at if deadline else None,
            limit=deadline.limit if deadline else None,
            charged=deadline.charged if deadline else None,
            said=tuple(phrase for phrase in self._said if phrase),
            gave_up=self._gave_up,
            tier=next((attempt.tier for attempt in attempts if attempt.outcome == "spoken"), None),
            cap=self._cap,
            repaired=self._repair.words if self._repair else None,
            vote=self._candidates.vote,
            verification=self._review.record,
            forgotten=self._forgotten,
        )
        await self._speaker.report(RequestsFrame(answer=answer, attempts=attempts, final=self._final))
