"""Where OpenTelemetry traces go: whether the standard environment variables ask for them, and to whom.

OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) names a collector that accepts OTLP over HTTP.
OTEL_TRACES_EXPORTER=console prints spans on standard error; =none and OTEL_SDK_DISABLED=true turn tracing off.
OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES describe the service as usual.
"""

import functools
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from loguru import logger

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer

Exporter = Literal["otlp", "console"]
EXTRA = "turnaround[otel]"
SERVICE = "turnaround"
UNNAMED = "unknown_service"
"""How OpenTelemetry calls a service that the environment does not name."""
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


@functools.cache
def tracer() -> "Tracer | None":
    """What makes the spans of this process's calls; None if they are not traced. The first call sets it up.

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

        # Standard output is for results, and that of a child process is not read to its end.
        return ConsoleSpanExporter(out=sys.stderr)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()
