"""One request to a tier: its streamed output, the part that may be spoken, and its cost."""

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pipecat.frames.frames import Frame, FunctionCallFromLLM, LLMThoughtTextFrame
from pipecat.metrics.metrics import LLMTokenUsage
from pipecat.processors.aggregators.llm_context import LLMContext

from latency.record.requests import Price, RequestRecord, Tokens, bill
from voice.language import Language
from voice.llm.answer.introduction import Introduces, never
from voice.llm.answer.provider_note import CUT_OFF, ProviderNote
from voice.llm.answer.streamed_text import StreamedText
from voice.llm.policy.situation import Outcome, RequestState
from voice.llm.tools.tool import declared
from voice.plain_text import plain, plain_values
from voice.redaction import redacted

LONGEST_ANSWER = 30_000
"""Characters that a request may stream, thoughts included: half an hour of speech."""
CHARS_PER_TOKEN = 4
"""Of English text; estimates the billed tokens of a request that reports no usage."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """Which tools a request may call, and how.

    Parameters:
        context: the conversation to answer, with the tools that the model may call.
        forbidden: names of the tools among them that its tier may not call.
        objection: describes the error in a call, or None; a wrong call is left to another tier.
    """

    context: LLMContext | None = None
    forbidden: frozenset[str] = frozenset()
    objection: Callable[[FunctionCallFromLLM], str | None] | None = None

    @property
    def declared(self) -> frozenset[str]:
        """Names of the tools that the model may call."""
        return declared(self.context) if self.context else frozenset()

    def objection_to(self, calls: Sequence[FunctionCallFromLLM]) -> str | None:
        """Why these calls are left to another tier; None when they may run."""
        if forbidden := next((call.function_name for call in calls if call.function_name in self.forbidden), None):
            return f"it called {forbidden}, which cannot be undone and is left to another tier"
        if wrong := self.objection and next(filter(None, map(self.objection, calls)), None):
            return f"it called a tool wrongly: {wrong[0].lower()}{wrong[1:]}"
        return None


class LLMRequest:
    """Collects what a tier streams. Instants are passed in; nothing is awaited.

    All model output is cleaned here and nowhere else, whatever its wire: text, tool calls, thoughts and provider notes.
    A tool call written in the text counts like any other.

    Args:
        state: the request as it was sent; kept up to date from then on.
        rules: the tools that it may call.
        prompt_tokens: the estimate of its prompt, for a request that reports no usage.
        language: that of the answer.
        withholds: its model has been seen to think without marking its thoughts; see `AnswerCleaner`.
        introduces: see `StreamedText`.
    """

    def __init__(
        self,
        state: RequestState,
        *,
        rules: ToolRules | None = None,
        prompt_tokens: int = 0,
        language: Language = "en",
        withholds: bool = False,
        introduces: Introduces = never,
    ) -> None:
        self.state = state
        self._rules = rules or ToolRules()
        self._prompt_tokens = prompt_tokens
        self.streamed = StreamedText(
            state, language=language, tools=self._rules.declared, withholds=withholds, introduces=introduces
        )
        self._received = 0
        self.calls: Sequence[FunctionCallFromLLM] = ()
        self.usage: LLMTokenUsage | None = None
        self.note = ProviderNote()
        self._was_taken = False

    def stirred(self, now: float) -> None:
        """Note that the server has begun to respond, perhaps with headers only."""
        if self.state.alive is None and self.state.running:
            self.state.alive = now

    def learn(self, note: ProviderNote) -> None:
        """Note the provider's report about the request."""
        self.note = self.note.updated(note)

    def add(self, text: str, now: float) -> bool:
        """Add text that arrived; returns whether it brought the first token or completed a clause."""
        if not self.state.running:
            return False
        self._received += len(text)
        if self._received > LONGEST_ANSWER:
            self.fail(f"its answer is longer than {LONGEST_ANSWER:,} characters", now)
            return False
        return self.streamed.feed(text, now)

    def add_frame(self, frame: Frame) -> None:
        """Add a frame of the answer that is not text, such as a thought, in its order."""
        if isinstance(frame, LLMThoughtTextFrame):
            frame.text = plain(frame.text)
        if self.state.running:
            self.streamed.speakable.add(frame)

    def call(self, calls: Sequence[FunctionCallFromLLM], now: float) -> None:
        """Note that the model called tools. They run only if this request is chosen.

        A forbidden call never runs: all calls are dropped, and the request fails.
        """
        if not (self.state.running and calls):
            return
        try:
            calls = [_cleaned(call) for call in calls]
        except RecursionError:
            self.refuse("it called a tool with arguments that are nested too deeply", now)
            return
        if objection := self._rules.objection_to(calls):
            self.refuse(objection, now)
        else:
            self.calls, self.state.called = calls, now

    def refuse(self, reason: str, now: float) -> None:
        """Stop the tier's request: none of its calls run, and another tier takes over."""
        if self.state.running:
            self.calls, self.state.called = (), None
            self.state.overreached = True
            if self.state.reviewed:
                self.state.reviewed = False
                self.streamed.speakable.clear()
            self.fail(reason, now)

    def release(self, now: float) -> None:
        """Note that the verdict is no longer awaited: all words may be spoken."""
        self.state.reviewed = False
        if self.state.drafted is not None:
            self._end("complete", self.state.drafted)

    def complete(self, now: float) -> None:
        """Note that the stream ended. A request without words or tool calls has failed."""
        state = self.state
        if not state.running:
            return
        self.streamed.end(now)
        if not self.calls:
            self._call_written(now)
        if state.reviewed and not self.calls and state.clauses:
            state.drafted = now
        elif state.clauses or self.calls:
            self._end("complete", now)
        else:
            self.fail("it gave an answer without words", now)

    def fail(self, reason: str, now: float, *, was_taken: bool = False) -> None:
        """Note that the request failed. If it has already called tools, those calls still stand.

        Args:
            reason: why, in one sentence.
            now: seconds.
            was_taken: whether the provider had accepted the request, and bills it.
        """
        if self.state.running and not self.calls:
            self.state.failed, self._was_taken = plain(redacted(reason)), was_taken
            self._end("failed", now)

    def cancel(self, now: float) -> None:
        """Note that the request is no longer needed."""
        self._end("cancelled", now)

    def take(self) -> list[Frame]:
        """The new speakable output since the last call, in order: `AnswerTextFrame`s and the answer's other frames.

        For a draft under review, these are the clauses of its first sentence.
        """
        state = self.state
        return self.streamed.speakable.take(first_sentence=state.reviewed and state.running and not self.calls)

    @property
    def text(self) -> str:
        """All its words so far."""
        return self.streamed.text

    def record(self, *, response: int, price: Price | None = None) -> RequestRecord:
        """The request's record; its state and its provider's note keep their field names.

        Args:
            response: the number, in the call, of the answer it was made for.
            price: that of its tier.
        """
        names = [field.name for field in fields(RequestRecord)]
        known = {
            name: getattr(source, name) for source in (self.state, self.note) for name in names if hasattr(source, name)
        }
        computed: dict[str, Any] = {
            "response": response,
            "outcome": self.state.reported_outcome,
            "failed": self.state.failed or self.state.rejected,
            "calls": tuple(call.function_name for call in self.calls),
            "tokens": self._tokens,
            "simulated": bool(self.note.simulated),
        }
        record = RequestRecord(**known | computed)
        return replace(record, usd=bill(record, price))

    def _call_written(self, now: float) -> None:
        """Make the tool calls written in the text.

        Calls of undeclared tools are dropped, and all calls if the answer did not end by itself.
        """
        tier, written, tools = self.state.tier, self.streamed.calls, self._rules.declared
        if mentioned := sorted({name[:64] for name in self.streamed.cleaner.mentioned}):
            log.info("tier %s only mentioned a call of %s; it does not run", tier, " and ".join(mentioned))
        if written and self.note.finish in CUT_OFF:
            log.warning(
                "tier %s wrote a tool call, and its answer ended with %s; it does not run", tier, self.note.finish
            )
            return
        for call in written:
            if call.name not in tools:
                log.warning("tier %s wrote a call of the tool %s, which was not declared", tier, call.name[:64])
        calls = [
            # As in pipecat's services.
            FunctionCallFromLLM(
                context=self._rules.context,
                tool_call_id=f"call_{uuid.uuid4().hex}",
                function_name=call.name,
                arguments=call.arguments,
            )
            for call in written
            if call.name in tools
        ]
        self.call(calls, now)

    @property
    def _tokens(self) -> Tokens:
        if usage := self.usage:
            # pipecat's Anthropic and Bedrock services leave cached tokens out of the prompt, never out of the total.
            whole = usage.total_tokens - usage.completion_tokens
            return Tokens(
                prompt=max(usage.prompt_tokens, whole),
                completion=usage.completion_tokens,
                cached=usage.cache_read_input_tokens,
                cache_written=usage.cache_creation_input_tokens,
                estimated=bool(self.note.is_estimate),
            )
        # A refused request is not billed; one that was never answered may be.
        is_refused = self.state.outcome == "failed" and self.state.first_token is None and not self._was_taken
        prompt = 0 if is_refused else self._prompt_tokens
        return Tokens(prompt=prompt, completion=-(-len(self.text) // CHARS_PER_TOKEN), estimated=True)

    def _end(self, outcome: Outcome, now: float) -> None:
        if self.state.running:
            self.state.outcome, self.state.end = outcome, now


def _cleaned(call: FunctionCallFromLLM) -> FunctionCallFromLLM:
    """A call with lone surrogates and the like removed from its name, id and arguments."""
    return replace(
        call,
        function_name=plain_values(call.function_name),
        tool_call_id=plain_values(call.tool_call_id),
        arguments=plain_values(call.arguments),
    )
