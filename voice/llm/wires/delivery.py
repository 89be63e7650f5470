"""Delivers an answer from a wire to its service: words at once, tool calls once they are complete.

The words of all wires pass here, and only this module decides whether an answer is valid.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    Frame,
    FunctionCallFromLLM,
    LLMMessagesAppendFrame,
    LLMTextFrame,
    LLMThoughtEndFrame,
    LLMThoughtStartFrame,
    LLMThoughtTextFrame,
)
from pipecat.metrics.metrics import LLMTokenUsage
from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage
from pipecat.services.llm_service import LLMService

from voice.frames import LLMFailureFrame
from voice.llm.answer.llm_request import CHARS_PER_TOKEN
from voice.llm.answer.provider_note import CUT_OFF, ProviderNote
from voice.llm.tiers.tier import note
from voice.llm.wires.errors import reason, was_taken
from voice.llm.wires.events import CallPart, Event, Finish, Text, Usage, WireError
from voice.llm.wires.repetition import Repetition
from voice.llm.wires.tool_calls import ToolCalls
from voice.plain_text import PlainStream, plain, plain_values

USAGE_WITHIN = 0.2
"""Seconds after the end of an answer within which a server may still report its token usage."""
WORDS_WITHIN = 1.0
"""The same after an end that came together with words; some servers report an end with every word."""
EVENTS_AT_ONCE = 8
"""Events passed on before other tasks may run; a whole answer at once would hold the event loop for 10 ms."""
CALLING = ("tool_calls", "tool_use", "function_call")
"""Finish reasons of an answer that calls tools."""

log = logging.getLogger(__name__)


async def deliver(
    service: LLMService[Any],
    context: LLMContext,
    events: AsyncGenerator[Event],
    *,
    silence: float | None = None,
) -> None:
    """Have a service push the content of an answer's events, and run its tools.

    A complete answer stays complete if its connection breaks afterwards.

    Args:
        service: made the request.
        context: the conversation that it answers.
        events: those of the answer; closed at the end.
        silence: seconds without an event after which the request has failed; None if the connection has its own limit.

    Raises:
        TimeoutError: nothing came for too long.
        WireError: the server reported an error, or sent an invalid answer: a tool call is incomplete, or was announced
            and is missing. No tool runs then.
    """
    tools = context.tools.standard_tools if isinstance(context.tools, ToolsSchema) else ()
    calls, usage, finish = ToolCalls({tool.name for tool in tools}), Usage(), None
    words, kept = Repetition(), _Kept()
    spoken = received = 0
    patience = silence

    async def say(text: str) -> None:
        nonlocal spoken
        spoken += len(text)
        if text:
            await service.push_frame(LLMTextFrame(text))

    try:
        async with aclosing(events):
            while True:
                try:
                    async with asyncio.timeout(patience):
                        event = await anext(events)
                except StopAsyncIteration:
                    break
                except Exception as error:
                    await say(words.flush())
                    is_complete = finish and (spoken or calls or isinstance(error, TimeoutError))
                    if not is_complete:
                        raise
                    log.info("a complete answer did not end properly (%s)", type(error).__name__)
                    break
                match event:
                    case Text():
                        patience = silence if finish is None else WORDS_WITHIN
                        await say(words.feed(event))
                    case CallPart():
                        spoken += len(event.arguments)
                        calls.add(event)
                    case Usage():
                        usage = usage.updated(event)
                    case Finish():
                        finish = Finish(event.reason or (finish.reason if finish else None))
                        patience = WORDS_WITHIN if event.with_words else USAGE_WITHIN
                        note(ProviderNote(finish=event.reason))
                        if not event.with_words:
                            await say(words.flush())
                    case ProviderNote():
                        note(event)
                    case _ if (frame := kept.feed(event)) is not None:
                        await service.push_frame(frame)
                received += 1
                if received % EVENTS_AT_ONCE == 0:
                    await asyncio.sleep(0)
            await say(words.flush())
    finally:
        # Also if the request is cancelled: it is still billed.
        await _report(service, usage, spoken)
    why = finish.reason if finish else None
    if calls and why in CUT_OFF:
        raise WireError(f"broke its answer off in a tool call ({why})")
    if calls and finish is None:
        raise WireError("ended its stream in a tool call, without marking its answer as complete")
    if not calls and why in CALLING:
        raise WireError(f"ended its answer for a tool call and sent none ({why})")
    if calls:
        used = {
            str(message.get("tool_call_id"))
            for message in context.get_messages()
            if not isinstance(message, LLMSpecificMessage) and message.get("role") == "tool"
        }
        made = calls.made(used=used)
        await service.run_function_calls(
            [
                FunctionCallFromLLM(
                    context=context, tool_call_id=call.id, function_name=call.name, arguments=call.arguments
                )
                for call in made
            ]
        )


async def push_failure(
    service: LLMService[Any], error: Exception, *, model: str, where: str, is_asked: bool = True
) -> None:
    """Have a service report the failure of its request.

    pipecat also reports the error, in its own words, and decides whether the service is still usable.

    Args:
        service: made the request.
        error: why it failed.
        model: its name on the server.
        where: how the report names the server.
        is_asked: whether the request was sent.
    """
    failure = reason(error, model=model, where=where)
    await service.push_frame(LLMFailureFrame(text="", reason=failure, was_taken=is_asked and was_taken(error)))


class _Kept:
    """Cleans the parts of an answer that are kept besides its words; signed parts are kept unchanged or dropped."""

    def __init__(self) -> None:
        self._thoughts, self._is_changed = PlainStream(), False

    def feed(self, frame: Frame) -> Frame | None:
        """The frame in a form that may be kept; None if it may not be."""
        match frame:
            case LLMThoughtStartFrame():
                self._thoughts, self._is_changed = PlainStream(), False
            case LLMThoughtTextFrame():
                self._is_changed |= plain(frame.text) != frame.text
                frame.text = self._thoughts.feed(frame.text)
            case LLMThoughtEndFrame():
                signature = frame.signature or ""
                if signature and (self._is_changed or plain(signature) != signature):
                    return None
            case LLMMessagesAppendFrame():
                return frame if frame.messages == _plain_messages(frame.messages) else None
        return frame


def _plain_messages(messages: Sequence[Any]) -> Sequence[Any]:
    return [
        replace(each, message=plain_values(each.message))
        if isinstance(each, LLMSpecificMessage)
        else plain_values(each)
        for each in messages
    ]


async def _report(service: LLMService[Any], usage: Usage, spoken: int) -> None:
    """Report the usage; missing counts are estimated. Without the prompt's tokens, all are."""
    if usage.prompt is None:
        return
    completion = usage.completion
    if not completion and (spoken or completion is None):
        completion = -(-spoken // CHARS_PER_TOKEN)
        note(ProviderNote(is_estimate=True))
    await service.start_llm_usage_metrics(
        LLMTokenUsage(
            prompt_tokens=usage.prompt,
            completion_tokens=completion or 0,
            total_tokens=usage.prompt + (completion or 0),
            cache_read_input_tokens=usage.cached,
            cache_creation_input_tokens=usage.written,
            reasoning_tokens=usage.reasoning,
        )
    )
