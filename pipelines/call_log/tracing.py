"""OpenTelemetry traces of calls, made from the records of their turns.

pipecat's own tracing follows single services: it knows neither the requests of several tiers for one answer nor whether
the answer kept its budget. Here each span has the instants of the turn's record.

OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) names a collector that accepts OTLP over HTTP.
OTEL_TRACES_EXPORTER=console prints spans on standard error; =none and OTEL_SDK_DISABLED=true turn tracing off.
OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES describe the service as usual.

Span names and attributes follow the semantic conventions for generative AI (agents, clients and tools); ours are named
`turnaround.…`. Instants are seconds on the server's monotonic clock.
"""

import functools
import json
import os
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from loguru import logger

from latency.record.marks import Mark
from latency.record.requests import RequestRecord
from latency.record.turn import ServerTurn
from pipelines.call_log.call_statistics import ClosedTurn

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer

Exporter = Literal["otlp", "console"]
EXTRA = "turnaround[otel]"
SERVICE = "turnaround"
UNNAMED = "unknown_service"
"""The service's name if the environment gives none."""
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
Value = str | int | float | bool | tuple[str, ...]
AGENT = "turnaround"
OTHER = "_OTHER"
"""The conventions' `error.type` of an error that has no name."""
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""OpenTelemetry's variable for content: spans contain the words of a call only if it is "true"."""


@functools.cache
def tracer() -> "Tracer | None":
    """The tracer of this process's calls; None if they are not traced. The first call sets it up.

    If tracing is requested but not possible, a warning is logged: no call fails because of its trace.
    """
    exporter = wanted(os.environ)
    if exporter is None:
        return None
    try:
        spans = _exporter(exporter)
    except ImportError:
        logger.warning(f"No traces: OpenTelemetry is asked for but not installed; pip install '{EXTRA}'.")
        return None
    # Imported only here, so that a process without traces does not load OpenTelemetry.
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # Not pipecat's `setup_tracing`: it overwrites the environment's deployment.environment and service.instance.id.
    described = Resource.create()
    if str(described.attributes.get("service.name", "")).startswith(UNNAMED):
        described = described.merge(Resource({"service.name": SERVICE}))
    provider = TracerProvider(resource=described)
    provider.add_span_processor(BatchSpanProcessor(spans))
    # Not the process's own: FastAPI would add a trace for each request, health probes included.
    return provider.get_tracer(SERVICE)


def wanted(environment: Mapping[str, str]) -> Exporter | None:
    """The exporter that the environment asks for, or None; warns about values that are not supported."""
    chosen = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    endpoint = next((environment[name] for name in ENDPOINTS if environment.get(name)), None)
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or chosen == "none":
        return None
    if chosen == "console":
        return "console"
    if chosen not in ("", "otlp"):
        logger.warning(f'No traces: OTEL_TRACES_EXPORTER is "{chosen}"; it may be otlp, console or none.')
        return None
    if endpoint is None:
        # Without an endpoint, the standard means a collector on this machine; we use it only if OTLP is asked for.
        return "otlp" if chosen else None
    protocol = environment.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or environment.get("OTEL_EXPORTER_OTLP_PROTOCOL")
    if protocol not in (None, "", "http/protobuf"):
        logger.warning(f'No traces: the OTLP protocol is "{protocol}"; turnaround speaks http/protobuf (port 4318).')
        return None
    return "otlp"


def _exporter(kind: Exporter) -> "SpanExporter":
    if kind == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        # Standard output is for results, and a child process's is not read to its end.
        return ConsoleSpanExporter(out=sys.stderr)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """A span that has ended."""

    name: str
    kind: Literal["internal", "client"] = "internal"
    start: float
    end: float
    attributes: Mapping[str, Value]
    error: str | None = None
    """The error in one sentence; None if there was none."""
    children: tuple["SpanRecord", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """The call's data that its spans carry."""

    conversation: str
    """The call's id."""
    providers: Mapping[str, str]
    """The provider of each tier, such as "openai"; a model without one is our own."""
    content: bool = False
    """Whether spans contain the words of the call."""


def turn_span(turn: ClosedTurn, about: About) -> SpanRecord:
    """The span of a turn, from the end of the user's speech to the end of its last child.

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
    """A request to a language model; one that outlasts the turn ends with it."""
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


class CallTrace:
    """The trace of one call, which begins now.

    Args:
        providers: the provider of each tier, such as "openai".
        tracer: makes the spans.
    """

    def __init__(self, providers: Mapping[str, str], tracer: "Tracer") -> None:
        from opentelemetry import trace

        self._tracer = tracer
        content = os.environ.get(CONTENT, "").strip().lower() == "true"
        self._about = About(conversation=str(uuid.uuid4()), providers=providers, content=content)
        self._behind = time.time() - time.monotonic()
        """The wall-clock time at which the monotonic clock was 0."""
        attributes = {"gen_ai.conversation.id": self._about.conversation}
        self._span = self._tracer.start_span("call", kind=trace.SpanKind.SERVER, attributes=attributes)

    def turn(self, turn: ClosedTurn) -> None:
        """Add a turn that is over."""
        self._export(turn_span(turn, self._about), self._span)

    def ended(self, why: str) -> None:
        """End the trace."""
        self._span.set_attribute("turnaround.call.ended_by", why)
        self._span.end()

    def _export(self, record: SpanRecord, parent: "Span") -> None:
        from opentelemetry import trace

        span = self._tracer.start_span(
            record.name,
            context=trace.set_span_in_context(parent),
            kind=trace.SpanKind[record.kind.upper()],
            attributes=record.attributes,
            start_time=self._nanoseconds(record.start),
        )
        for child in record.children:
            self._export(child, span)
        if record.error is not None:
            span.set_status(trace.StatusCode.ERROR, record.error)
        span.end(self._nanoseconds(record.end))

    def _nanoseconds(self, instant: float) -> int:
        return round((self._behind + instant) * 1e9)
