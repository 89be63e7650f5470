import gzip
import http.server
import importlib.util
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from pipelines.call_log.tracing import wanted

ROOT = Path(__file__).resolve().parents[3]


def installed() -> bool:
    try:
        return importlib.util.find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


needs_otel = pytest.mark.skipif(
    not installed(), reason="OpenTelemetry is not installed: pip install 'turnaround[otel]'"
)

CALL = """
    from pipelines.call_log.tracing import CallTrace
    from pipelines.call_log.tracing import tracer

    found = tracer()
    assert found is not None
    CallTrace({}, found).ended("the caller hung up")
"""
"""A call without turns."""


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    heard: list[str] = []
    sink = logger.add(lambda message: heard.append(message.record["message"]), level="WARNING")
    yield heard
    logger.remove(sink)


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes OTLP over HTTP, as an OpenTelemetry collector does."""

    def do_POST(self) -> None:
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as wire

        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        for resource in wire.ExportTraceServiceRequest.FromString(body).resource_spans:
            about = {one.key: one.value.string_value for one in resource.resource.attributes}
            names = [span.name for scope in resource.scope_spans for span in scope.spans]
            self.server.received.append((self.path, about["service.name"], names))  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(wire.ExportTraceServiceResponse().SerializeToString())

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[http.server.HTTPServer]:
    server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
    server.received = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def in_a_process(code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run code in a process of its own: a tracer is set up once in a process."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**clean, **environment},
        timeout=60,
    )


@pytest.mark.parametrize(
    ("environment", "exporter"),
    [
        ({}, None),
        ({"OTEL_SERVICE_NAME": "agent"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, None),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
        ({"OTEL_TRACES_EXPORTER": "console", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, "console"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, None),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, None),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, "otlp"),
    ],
)
def test_the_standard_variables_decide_where_traces_go(
    environment: dict[str, str], exporter: str | None, warnings: list[str]
) -> None:
    assert wanted(environment) == exporter
    assert warnings == []


@pytest.mark.parametrize(
    ("environment", "warning"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, 'OTEL_TRACES_EXPORTER is "zipkin"; it may be otlp, console or none'),
        (
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317"},
            'the OTLP protocol is "grpc"; turnaround speaks http/protobuf (port 4318)',
        ),
    ],
)
def test_what_cannot_be_done_is_a_warning_and_no_trace(
    environment: dict[str, str], warning: str, warnings: list[str]
) -> None:
    assert wanted(environment) is None
    assert warnings == [f"No traces: {warning}."]


def test_without_the_packages_one_warning_names_the_extra() -> None:
    code = """
        import sys
        for name in ("opentelemetry.sdk", "opentelemetry.sdk.trace.export", "opentelemetry.exporter"):
            sys.modules[name] = None
        from pipelines.call_log.tracing import tracer
        print(tracer(), tracer())
    """
    for wish in ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, {"OTEL_TRACES_EXPORTER": "console"}):
        done = in_a_process(code, **wish)
        assert done.stdout == "None None\n", done.stderr
        assert done.stderr.count("pip install 'turnaround[otel]'") == 1


def test_without_a_wish_nothing_is_loaded() -> None:
    code = """
        import sys
        from pipelines.call_log.tracing import tracer
        print(tracer(), [name for name in sys.modules if name.split(".")[0] in ("opentelemetry", "pipecat")])
    """
    assert in_a_process(code).stdout == "None []\n"


@needs_otel
def test_a_call_reaches_a_collector_under_the_name_of_the_service(collector: http.server.HTTPServer) -> None:
    endpoint = f"http://127.0.0.1:{collector.server_port}"
    for name in ("turnaround", "my-agent"):
        chosen = {} if name == "turnaround" else {"OTEL_SERVICE_NAME": name}
        done = in_a_process(CALL, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, **chosen)
        assert done.returncode == 0, done.stderr
        assert collector.received.pop() == ("/v1/traces", name, ["call"])  # type: ignore[attr-defined]


@needs_otel
def test_spans_on_the_console_leave_standard_output_alone() -> None:
    done = in_a_process(CALL, OTEL_TRACES_EXPORTER="console")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert '"name": "call"' in done.stderr


@needs_otel
def test_a_collector_that_is_not_there_fails_no_call() -> None:
    done = in_a_process(CALL, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert done.returncode == 0, done.stderr


@needs_otel
@pytest.mark.parametrize(
    ("environment", "service"),
    [({}, "turnaround"), ({"OTEL_SERVICE_NAME": "phone"}, "phone")],
)
def test_the_service_is_described_as_the_environment_says(environment: dict[str, str], service: str) -> None:
    described = "deployment.environment=staging,service.instance.id=seven"
    done = in_a_process(CALL, OTEL_TRACES_EXPORTER="console", OTEL_RESOURCE_ATTRIBUTES=described, **environment)
    assert '"deployment.environment": "staging"' in done.stderr
    assert '"service.instance.id": "seven"' in done.stderr
    assert f'"service.name": "{service}"' in done.stderr
