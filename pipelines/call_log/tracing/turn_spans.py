"""A turn's record as spans, in the terms of OpenTelemetry's conventions for generative AI. Pure.

Names and attributes are those of the semantic conventions for GenAI spans (of agents, clients and tools); what these do
not have is called `turnaround.…`. Instants are seconds on the server's monotonic clock.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from latency.record.marks import Mark
from latency.record.requests import RequestRecord
from latency.record.turn import ServerTurn
from pipelines.call_log.call_account import ClosedTurn

Value = str | int | float | bool | tuple[str, ...]
AGENT = "turnaround"
OTHER = "_OTHER"
"""The conventions' `error.type` of an error that has no name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """A span that has ended."""

    name: str
    kind: Literal["internal", "client"] = "internal"
    start: float
    end: float
    attributes: Mapping[str, Value]
    error: str | None = None
    """What went wrong, in one sentence; None when nothing did."""
    children: tuple["SpanRecord", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What spans say about the call they belong to."""

    conversation: str
    """The call's id."""
    providers: Mapping[str, str]
    """The provider of each tier, such as "openai"; a model without one is our own."""
    content: bool = False
    """Whether they contain what was said."""


def turn_span(turn: ClosedTurn, about: About) -> SpanRecord:
    """The span of a turn, from the end of the user's speech to the end of the last thing that belongs to it.

    Its children are the requests to language models, the tools, the recognition of the last words and the synthesis of
    the first ones.
    """
    record = turn.record
    instants = sorted({*record.marks.values(), *_instants(record.attempts)})
    start = record.marks.get(Mark.SPEECH_END, instants[0])
    end = instants[-1]
    children = [
        *(_chat(attempt, about, until=end) for attempt in record.attempts if attempt.request is not None),
        *_tools(record, about),
        *_stage("transcription", record, Mark.SPEECH_END, Mark.TRANSCRIPT_FINAL),
        *_stage("speech synthesis", record, Mark.CLAUSE_TO_TTS, Mark.TTS_FIRST_SAMPLE),
    ]
    return SpanRecord(
        name=f"invoke_agent {AGENT}",
        start=start,
        end=end,
        attributes=_of_turn(turn, about),
        error=record.failed,
        children=tuple(children),
    )


def _of_turn(turn: ClosedTurn, about: About) -> dict[str, Value]:
    record = turn.record
    answer = record.responses[-1] if record.responses else None
    found: dict[str, Value | None] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": AGENT,
        "gen_ai.conversation.id": about.conversation,
        "error.type": (f"hung {record.hung.part}" if record.hung else OTHER) if record.failed else None,
        "turnaround.turn.number": record.turn,
        "turnaround.turn.outcome": turn.outcome,
        "turnaround.turn.latency": None if turn.latency is None else round(turn.latency, 4),
        "turnaround.turn.ended_by": record.ended_by,
        "turnaround.turn.interrupted": record.interrupted,
        "turnaround.turn.joined": record.joined or None,
        "turnaround.turn.typed": record.typed or None,
        "turnaround.llm.verdict": turn.verdict,
        "turnaround.llm.rescued": None if turn.verdict is None else turn.verdict == "rescued",
        "turnaround.llm.policy": answer.policy if answer else None,
        "turnaround.llm.tier": answer.tier if answer else None,
    }
    if about.content:
        finish = "error" if record.failed else "stop"
        found["gen_ai.input.messages"] = record.heard and _messages("user", record.heard)
        found["gen_ai.output.messages"] = record.said and _messages("assistant", record.said, finish_reason=finish)
    return _known(found)


def _chat(attempt: RequestRecord, about: About, *, until: float) -> SpanRecord:
    """A request to a language model; one that still ran when the turn was over ends with it."""
    assert attempt.request is not None
    tokens = attempt.tokens

    def after(instant: float | None) -> float | None:
        return None if instant is None else round(instant - attempt.request, 4)  # type: ignore[operator]

    found: dict[str, Value | None] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": about.providers.get(attempt.tier or "", AGENT),
        "gen_ai.request.model": attempt.model,
        "gen_ai.conversation.id": about.conversation,
        "gen_ai.response.time_to_first_chunk": after(attempt.first_token),
        "gen_ai.response.finish_reasons": (attempt.finish,) if attempt.finish else None,
        "gen_ai.usage.input_tokens": tokens.prompt if tokens else None,
        "gen_ai.usage.output_tokens": tokens.completion if tokens else None,
        "gen_ai.usage.cache_read.input_tokens": tokens.cached if tokens else None,
        "gen_ai.usage.cache_creation.input_tokens": tokens.cache_written if tokens else None,
        "error.type": OTHER if attempt.failed else None,
        "turnaround.llm.tier": attempt.tier,
        "turnaround.llm.outcome": attempt.outcome,
        "turnaround.llm.time_to_first_clause": after(attempt.first_clause),
        "turnaround.llm.speed": attempt.served or attempt.speed,
        "turnaround.llm.usd": attempt.usd,
        "turnaround.llm.estimated": tokens.estimated or None if tokens else None,
        "turnaround.llm.simulated": attempt.simulated or None,
    }
    return SpanRecord(
        name=f"chat {attempt.model}" if attempt.model else "chat",
        kind="client",
        start=attempt.request,
        end=until if attempt.end is None else attempt.end,
        attributes=_known(found),
        error=attempt.failed,
    )


def _tools(record: ServerTurn, about: About) -> Iterator[SpanRecord]:
    """The tools that ran before anything was spoken; the record has one interval for all of them."""
    called, returned = record.marks.get(Mark.TOOL_CALLED), record.marks.get(Mark.TOOL_RETURNED)
    if called is None or returned is None:
        return
    for attempt in record.attempts:
        if attempt.outcome == "called":
            for name in attempt.calls:
                attributes: dict[str, Value] = {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": name,
                    "gen_ai.tool.type": "function",
                    "gen_ai.conversation.id": about.conversation,
                }
                yield SpanRecord(name=f"execute_tool {name}", start=called, end=returned, attributes=attributes)


def _stage(name: str, record: ServerTurn, began: Mark, ended: Mark) -> Iterator[SpanRecord]:
    start, end = record.marks.get(began), record.marks.get(ended)
    if start is not None and end is not None and end >= start:
        yield SpanRecord(name=name, start=start, end=end, attributes={})


def _instants(attempts: tuple[RequestRecord, ...]) -> Iterator[float]:
    for attempt in attempts:
        yield from (at for at in (attempt.request, attempt.first_token, attempt.end) if at is not None)


def _messages(role: str, text: str, **more: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}], **more}], ensure_ascii=False)


def _known(found: Mapping[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in found.items() if value is not None}
