"""Exports the spans of a call: one for the call, and in it one for each turn as soon as the next one begins."""

import os
import time
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipelines.call_log.call_account import ClosedTurn
from pipelines.call_log.tracing.turn_spans import About, SpanRecord, turn_span

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""OpenTelemetry's variable that has spans contain what was said; they do not unless it is "true"."""


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
        """What the wall clock showed when the monotonic one stood at 0."""
        attributes = {"gen_ai.conversation.id": self._about.conversation}
        self._span = self._tracer.start_span("call", kind=trace.SpanKind.SERVER, attributes=attributes)

    def turn(self, turn: ClosedTurn) -> None:
        """A turn is over."""
        self._export(turn_span(turn, self._about), self._span)

    def ended(self, why: str) -> None:
        """The call is over."""
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
