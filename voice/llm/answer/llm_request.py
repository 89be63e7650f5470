"""One request to a tier: what it has streamed, which part of that may be spoken, and what it costs."""

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace

from pipecat.frames.frames import Frame, FunctionCallFromLLM, LLMThoughtTextFrame
from pipecat.metrics.metrics import LLMTokenUsage
from pipecat.processors.aggregators.llm_context import LLMContext

from latency.budget import Deadline
from latency.record.requests import RequestOutcome, RequestRecord, Tokens
from voice.frames import AnswerTextFrame
from voice.language import Language
from voice.llm.answer.clauses import ClauseSplitter
from voice.llm.answer.provider_note import CUT_OFF, ProviderNote
from voice.llm.policy import Outcome, RequestState
from voice.llm.policy.plan import HOLD_GUARD
from voice.llm.policy.tier_statistics import Wait
from voice.llm.streamed.clause_queue import ClauseQueue
from voice.llm.streamed.cleaner import AnswerCleaner, Piece, Retraction
from voice.llm.streamed.written_calls import WrittenCall
from voice.llm.tools.tool import declared
from voice.plain_text import plain, plain_values
from voice.redaction import redacted

LONGEST_ANSWER = 30_000
"""Characters that a request may stream, thoughts included: half an hour of speech."""
CHARS_PER_TOKEN = 4
"""For English text: estimates the billed tokens when a request reports no usage."""
log = logging.getLogger(__name__)


class LLMRequest:
    """Collects what a tier streams. Instants are passed in; nothing is awaited.

    This is the border for all that models send, whatever their wire: text, tool calls, thoughts and what providers say
    of a request are cleaned here, and nowhere else. A tool call that stands in the text is a call like any other.

    Text is released clause by clause. An unfinished clause cannot be spoken yet, and a stream that breaks inside a
    clause must not leave half a sentence.

    Args:
        number: position among the turn's attempts.
        tier: the tier that is asked.
        request: when the request was sent, seconds.
        continues: the attempt whose unfinished answer it continues.
        heard: how many clauses of that attempt the request contained.
        prompt_tokens: the estimate of its prompt, for a request that reports no usage.
        opens: it asks for an opening only.
        follows: the attempt whose opening the request contained.
        forbidden: names of the tools that its tier may not call.
        objection: says what is wrong with a call, or None; a wrong one is left to another tier.
        candidate: its number among the candidates for one answer; None when it is none.
        verifies: the attempt whose draft it is asked to verify; None for an answer or an opening.
        reviewed: whether it drafts an answer of which only the first sentence may be spoken before a verdict.
        language: that of the answer.
        context: the conversation that it is asked to answer, with the tools that its model may call.
        withholds: its model was seen to think without saying so first; see `AnswerCleaner`.
    """

    def __init__(
        self,
        *,
        number: int,
        tier: str,
        request: float,
        continues: int | None = None,
        heard: int = 0,
        prompt_tokens: int = 0,
        opens: bool = False,
        follows: int | None = None,
        forbidden: frozenset[str] = frozenset(),
        objection: Callable[[FunctionCallFromLLM], str | None] | None = None,
        candidate: int | None = None,
        verifies: int | None = None,
        reviewed: bool = False,
        language: Language = "en",
        context: LLMContext | None = None,
        withholds: bool = False,
    ) -> None:
        self.number, self.tier, self.request, self.candidate = number, tier, request, candidate
        self.continues, self.heard, self.verifies = continues, heard, verifies
        self.reviewed = reviewed
        """Whether a verdict on it is still awaited."""
        self.drafted: float | None = None
        """When a draft that is reviewed was whole."""
        self._prompt_tokens = prompt_tokens
        self.opens, self.follows, self._forbidden, self._objection = opens, follows, forbidden, objection
        self.said = False
        """Whether its words were said as an opening."""
        self.rejected: str | None = None
        """Why its words were not said as an opening."""
        self.overreached = False
        """Whether it failed because of what it said or called, which is left to another tier."""
        self.alive: float | None = None
        """When its server first responded at all, for services that report it."""
        self.first_token: float | None = None
        self.first_clause: float | None = None
        self.called: float | None = None
        self.end: float | None = None
        self.outcome: Outcome | None = None
        self.failed: str | None = None
        self._was_taken = False
        self.calls: Sequence[FunctionCallFromLLM] = ()
        self.usage: LLMTokenUsage | None = None
        self.note = ProviderNote()
        self.clauses = 0
        self.spoken = False
        self.withdrawn = False
        """Whether its answer was speculative and was discarded because the turn had not ended."""
        self._language: Language = language
        self._splitter = ClauseSplitter(begun=continues is not None or opens, language=language)
        self._context = context
        self._tools = declared(context) if context else frozenset()
        self._cleaner = AnswerCleaner(tools=self._tools, withholds=withholds)
        self._written: list[WrittenCall] = []
        self._text = ""
        self._received = 0
        self._given = 0
        self._speakable = ClauseQueue()

    def stirred(self, now: float) -> None:
        """Note that the server has begun to respond, perhaps with headers only."""
        if self.alive is None and self.outcome is None:
            self.alive = now

    def learn(self, note: ProviderNote) -> None:
        """Note what the provider says about the request."""
        self.note = self.note.updated(note)

    def add(self, text: str, now: float) -> bool:
        """Add text that arrived; returns whether it brought the first token or completed a clause."""
        if self.outcome is not None:
            return False
        self._received += len(text)
        if self._received > LONGEST_ANSWER:
            self.fail(f"its answer is longer than {LONGEST_ANSWER:,} characters", now)
            return False
        return self._take_in(self._cleaner.feed(text), now)

    @property
    def thought_before(self) -> bool:
        """Whether it streamed a thought that never began; see `AnswerCleaner`."""
        return self._cleaner.thought_before

    def _take_in(self, pieces: Sequence[Piece], now: float) -> bool:
        progress = False
        for piece in pieces:
            match piece:
                case str():
                    progress |= self._add_words(piece, now)
                case Retraction():
                    self._retract(piece.length, now)
                case WrittenCall():
                    self._written.append(piece)
        return progress

    def _retract(self, length: int, now: float) -> None:
        """Drop the last words, as far as they were not taken to be spoken: they were thought."""
        taken = self._given - len(self._speakable.text)
        kept = self._text[taken : max(taken, len(self._text) - length)]
        self.clauses -= self._speakable.drop_words()
        self._text, self._given = self._text[:taken], taken
        begun = self.continues is not None or self.opens or bool(self.clauses)
        self._splitter = ClauseSplitter(begun=begun, language=self._language)
        if not self.clauses:
            self.first_token = self.first_clause = None
        if kept:
            self._add_words(kept, now)

    def _add_words(self, text: str, now: float) -> bool:
        progress = False
        if self.first_token is None and text.strip():
            self.first_token, progress = now, True
        if self.continues is not None and not self._text and not text[0].isspace():
            text = f" {text}"
        self._text += text
        if finished := self._splitter.feed(text):
            # The white space that follows the clause belongs to it, if it is there.
            until = len(self._text) - len(self._splitter.pending) + 1
            self._give(min(until, len(self._text)), finished, now)
        return progress or bool(finished)

    def add_frame(self, frame: Frame) -> None:
        """Add a frame of the answer that is not text, such as a thought; it keeps its place in the order."""
        if isinstance(frame, LLMThoughtTextFrame):
            frame.text = plain(frame.text)
        if self.outcome is None:
            self._speakable.add(frame)

    def call(self, calls: Sequence[FunctionCallFromLLM], now: float) -> None:
        """Note that the model called tools. They run only if this attempt is chosen.

        A forbidden one does not run, whatever becomes of the attempt: the calls are not kept, and the attempt fails.
        """
        if self.outcome is not None or not calls:
            return
        try:
            calls = [_cleaned(call) for call in calls]
        except RecursionError:
            self.refuse("it called a tool with arguments that are nested too deeply", now)
            return
        if forbidden := next((call.function_name for call in calls if call.function_name in self._forbidden), None):
            self.refuse(f"it called {forbidden}, which cannot be undone and is left to another tier", now)
        elif wrong := self._objection and next(filter(None, map(self._objection, calls)), None):
            self.refuse(f"it called a tool wrongly: {wrong[0].lower()}{wrong[1:]}", now)
        else:
            self.calls, self.called = calls, now

    def refuse(self, reason: str, now: float) -> None:
        """Note that the tier must not go on with what it began: nothing of it runs, and another tier takes over."""
        if self.outcome is None:
            self.calls, self.called = (), None
            self.overreached = True
            if self.reviewed:
                self.reviewed = False
                self._speakable.clear()
            self.fail(reason, now)

    def release(self, now: float) -> None:
        """Note that no verdict is awaited any more: all its words may be spoken."""
        self.reviewed = False
        if self.drafted is not None and self.outcome is None:
            self._over("complete", self.drafted)

    def complete(self, now: float) -> None:
        """Note that the stream ended. An attempt without words or tool calls has failed."""
        if self.outcome is not None:
            return
        self._take_in(self._cleaner.flush(), now)
        last = self._splitter.flush()
        if self.clauses or last:
            self._give(len(self._text), [last] if last else [], now)
        if not self.calls:
            self._call_written(now)
        if self.outcome is not None:
            return
        if self.reviewed and not self.calls and self.clauses:
            self.drafted = now
        elif self.clauses or self.calls:
            self._over("complete", now)
        else:
            self.fail("it gave an answer without words", now)

    def _call_written(self, now: float) -> None:
        """Call the tools whose calls stood in the text.

        Those of tools that were not declared are dropped, and all of them if the answer did not end by itself.
        """
        if mentioned := sorted({name[:64] for name in self._cleaner.mentioned}):
            log.info("tier %s only mentioned a call of %s; it does not run", self.tier, " and ".join(mentioned))
        if self._written and self.note.finish in CUT_OFF:
            log.warning(
                "tier %s wrote a tool call, and its answer ended with %s; it does not run", self.tier, self.note.finish
            )
            return
        for call in self._written:
            if call.name not in self._tools:
                log.warning("tier %s wrote a call of the tool %s, which was not declared", self.tier, call.name[:64])
        known = [call for call in self._written if call.name in self._tools]
        self.call([_made(call, self._context) for call in known], now)

    def fail(self, reason: str, now: float, *, was_taken: bool = False) -> None:
        """Note that the request failed. If it has already called tools, those calls still stand.

        Args:
            reason: why, in one sentence.
            now: seconds.
            was_taken: whether the provider had taken the request before, and bills it.
        """
        if self.outcome is None and not self.calls:
            self.failed, self._was_taken = plain(redacted(reason)), was_taken
            self._over("failed", now)

    def cancel(self, now: float) -> None:
        """Note that the answer is no longer needed."""
        if self.outcome is None:
            self._over("cancelled", now)

    def take(self) -> list[Frame]:
        """What may be spoken since the last call, in order: `AnswerTextFrame`s and the answer's other frames.

        Of a draft that is reviewed these are the clauses of its first sentence.
        """
        return self._speakable.take(first_sentence=self.reviewed and self.outcome is None and not self.calls)

    @property
    def was_begun(self) -> bool:
        """Whether any of its words were taken to be spoken."""
        return self._speakable.begun

    @property
    def text(self) -> str:
        """All its words so far."""
        return self._text

    @property
    def waiting(self) -> str:
        """The text that is ready and was not taken yet."""
        return self._speakable.text

    @property
    def opening(self) -> str | None:
        """The first sentence of an opening; None while it is not there."""
        return self._speakable.first_clause

    @property
    def view(self) -> RequestState:
        """The attempt as a policy sees it."""
        return RequestState(
            number=self.number,
            tier=self.tier,
            request=self.request,
            first_token=self.first_token,
            first_clause=self.first_clause,
            called=self.called,
            clauses=self.clauses,
            outcome=self.outcome,
            continues=self.continues,
            heard=self.heard,
            opens=self.opens,
            follows=self.follows,
            overreached=self.overreached,
            candidate=self.candidate,
            verifies=self.verifies,
            reviewed=self.reviewed,
            drafted=self.drafted,
        )

    def record(self, *, response: int) -> RequestRecord:
        """The attempt as it is reported, in the answer of the call that has the number `response`."""
        return RequestRecord(
            response=response,
            tier=self.tier,
            request=self.request,
            alive=self.alive,
            first_token=self.first_token,
            first_clause=self.first_clause,
            end=self.end,
            outcome=self._reported_outcome,
            failed=self.failed or self.rejected,
            opens=self.opens,
            verifies=self.verifies,
            continues=self.continues,
            calls=tuple(call.function_name for call in self.calls),
            tokens=self._tokens,
            speed=self.note.speed,
            served=self.note.served,
            slowed=self.note.slowed,
            finish=self.note.finish,
            queued=self.note.queued,
            simulated=bool(self.note.simulated),
        )

    @property
    def _tokens(self) -> Tokens:
        if self.usage is not None:
            return _reported(self.usage, is_estimate=bool(self.note.is_estimate))
        # A refused request is not billed; one that was never answered may be.
        is_refused = self.outcome == "failed" and self.first_token is None and not self._was_taken
        prompt = 0 if is_refused else self._prompt_tokens
        return Tokens(prompt=prompt, completion=-(-len(self._text) // CHARS_PER_TOKEN), estimated=True)

    @property
    def wait(self) -> Wait | None:
        """How long the tier took; None while the request runs, or if its duration says nothing about the tier."""
        if self.continues is not None or self.verifies is not None or self.end is None:
            return None
        if self.first_clause is not None:
            return Wait(self.first_clause - self.request, reached=True)
        if self.outcome == "cancelled" and not self.withdrawn:
            # Most discarded requests are cancelled within tenths of a second, which says little about a tier's tail.
            return Wait(self.end - self.request, reached=False)
        return None

    def in_time(self, deadline: Deadline) -> bool | None:
        """Whether a clause or a tool call was ready by the deadline; None while it runs or if cancelled too early."""
        if self.end is None:
            return None
        ready = self.view.ready
        if ready is not None and ready <= deadline.at:
            return True
        return False if self.outcome == "failed" or self.end >= deadline.at - HOLD_GUARD else None

    def summary(self, *, since: float) -> str:
        """One line for the log, with times in milliseconds after `since`."""
        clause = "no clause" if self.first_clause is None else f"clause at {(self.first_clause - since) * 1000:.0f}"
        why = f" ({self.failed})" if self.failed else ""
        asked = f"asked at {(self.request - since) * 1000:.0f}"
        return f"{self.tier} {self._reported_outcome or 'running'}{why}, {asked}, {clause}"

    @property
    def _reported_outcome(self) -> RequestOutcome | None:
        if self.withdrawn and self.outcome != "failed":
            return "withdrawn"
        if self.opens and self.rejected and not self.withdrawn:
            return "rejected"
        if self.opens and self.said and not self.withdrawn:
            return "opened"
        if self.verifies is not None and self.outcome == "complete" and not self.withdrawn:
            return "verdict"
        if self.spoken and self.clauses and not self.withdrawn:
            return "spoken"
        if self.spoken and self.calls:
            return "called"
        # An attempt that completed but was not chosen counts as cancelled.
        return "cancelled" if self.outcome == "complete" else self.outcome

    def _give(self, until: int, clauses: Sequence[str], now: float) -> None:
        """Release the text up to a position, with the clauses that it completes."""
        self.clauses += len(clauses)
        if clauses and self.first_clause is None:
            self.first_clause = now
        if text := self._text[self._given : until]:
            self._speakable.add(AnswerTextFrame(text, clauses=tuple(clauses)))
        self._given = until

    def _over(self, outcome: Outcome, now: float) -> None:
        self.outcome, self.end = outcome, now


def _reported(usage: LLMTokenUsage, *, is_estimate: bool) -> Tokens:
    # pipecat's Anthropic and Bedrock services leave cached tokens out of the prompt, but never out of the total.
    whole = usage.total_tokens - usage.completion_tokens
    return Tokens(
        prompt=max(usage.prompt_tokens, whole),
        completion=usage.completion_tokens,
        cached=usage.cache_read_input_tokens,
        cache_written=usage.cache_creation_input_tokens,
        estimated=is_estimate,
    )


def _made(call: WrittenCall, context: LLMContext | None) -> FunctionCallFromLLM:
    """A call that stood in the text, as pipecat's services make them."""
    return FunctionCallFromLLM(
        context=context, tool_call_id=f"call_{uuid.uuid4().hex}", function_name=call.name, arguments=call.arguments
    )


def _cleaned(call: FunctionCallFromLLM) -> FunctionCallFromLLM:
    """A call without half characters and the like in its name, id and arguments."""
    return replace(
        call,
        function_name=plain_values(call.function_name),
        tool_call_id=plain_values(call.tool_call_id),
        arguments=plain_values(call.arguments),
    )
