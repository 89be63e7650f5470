"""Spans as OpenTelemetry's own SDK exports them."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from latency.record.marks import Mark, Marks
from latency.record.turn import ServerTurn
from pipelines.call_log.prometheus import PrometheusMetrics
from pipelines.call_log.tracing import CONTENT, CallTrace
from tests.pipelines.call_log.test_call_statistics import turn
from tests.pipelines.conversations import write_conversation

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="OpenTelemetry is not installed: pip install '.[otel]'")
ROOT = Path(__file__).resolve().parents[3]


def test_each_turn_is_exported_when_the_next_one_begins_and_the_call_at_its_end() -> None:
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace import SpanKind, StatusCode

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    metrics = PrometheusMetrics(stop=0.2, budget=0.45, trace=lambda: CallTrace({}, provider.get_tracer("test")))
    call = metrics.began()
    now = time.monotonic()
    marks = Marks({Mark.SPEECH_END: now - 1.0, Mark.VAD_STOP: now - 0.8, Mark.TURN_COMMIT: now - 0.7})
    call.note(ServerTurn(turn=0, marks=marks, failed="the model is down"))
    assert exporter.get_finished_spans() == ()
    call.note(ServerTurn(turn=1, marks=Marks({Mark.VAD_STOP: now})))
    (over,) = exporter.get_finished_spans()
    assert over.status.status_code is StatusCode.ERROR
    assert over.status.description == "the model is down"
    assert over.end_time - over.start_time == pytest.approx(0.3e9, abs=1e3)
    assert time.time_ns() - over.start_time == pytest.approx(1e9, abs=1e9)
    metrics.ended(call, "the caller hung up")
    *_, whole = exporter.get_finished_spans()
    assert (whole.name, whole.kind, whole.parent) == ("call", SpanKind.SERVER, None)
    assert over.parent.span_id == whole.context.span_id
    assert whole.attributes["turnaround.call.ended_by"] == "the caller hung up"
    assert whole.attributes["gen_ai.conversation.id"] == over.attributes["gen_ai.conversation.id"]


@pytest.mark.parametrize(("asked_for", "heard"), [("", False), ("TRUE", True)])
def test_words_are_exported_only_if_that_is_asked_for(
    asked_for: str, heard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    monkeypatch.setenv(CONTENT, asked_for)
    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    metrics = PrometheusMetrics(stop=0.2, budget=0.45, trace=lambda: CallTrace({}, provider.get_tracer("test")))
    call = metrics.began()
    call.note(turn(0, heard="my pin is 1234"))
    metrics.ended(call, "the caller hung up")
    assert ("1234" in "".join(span.to_json() for span in exporter.get_finished_spans())) == heard


def test_attributes_are_those_of_the_conventions() -> None:
    conventions = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    known = {value for name, value in vars(conventions).items() if name.startswith("GEN_AI_")}
    source = (ROOT / "pipelines/call_log/tracing.py").read_text()
    used = {part for part in source.split('"') if part.startswith("gen_ai.")}
    assert used
    assert used <= known


def test_a_rescued_call_is_a_trace_without_words(tmp_path: Path) -> None:
    fixture = write_conversation(tmp_path / "one", ("commands/02", "timer set for 10 minutes"))
    command = [sys.executable, "-m", "pipelines.cli", "replay", str(fixture), "--pipeline", "sim-fallback"]
    command += ["--set", "llm.large.fault=silent", "--set", "llm.fast.ttft_ms=100", "--out", str(tmp_path / "run")]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    environment = {**clean, "OTEL_TRACES_EXPORTER": "console"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 3), done.stderr
    spans = exported(done.stderr)
    assert [span["name"] for span in spans if span["parent_id"] is None] == ["call"]
    (over,) = [span for span in spans if span["name"].startswith("invoke_agent")]
    assert over["attributes"]["turnaround.llm.policy"] == "fallback"
    assert over["attributes"]["turnaround.turn.outcome"] == "answered"
    chats = [span["attributes"] for span in spans if span["name"].startswith("chat sim:")]
    assert {chat["turnaround.llm.tier"] for chat in chats} == {"large", "fast"}
    assert {chat["gen_ai.provider.name"] for chat in chats} == {"sim"}
    assert any(chat["turnaround.llm.outcome"] == "spoken" for chat in chats)
    assert not any("+" in chat["gen_ai.request.model"] for chat in chats)
    assert "10 minutes" not in json.dumps(spans)


def exported(text: str) -> list[dict[str, Any]]:
    """The spans among the lines of standard error; the exporter writes indented objects."""
    spans, decoder = [], json.JSONDecoder()
    while (start := text.find('{\n    "name"')) >= 0:
        span, length = decoder.raw_decode(text[start:])
        spans.append(span)
        text = text[start + length :]
    return spans
