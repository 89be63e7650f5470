"""The wire of OpenAI's Chat Completions."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from pipelines.lab.simulator.conversation import (
    Message,
    ModelRequest,
    json_text,
    offered,
    plain_text,
    read_tools,
    served_tier,
)
from pipelines.lab.simulator.errors import error_body, limit_headers, refusal, retry_headers
from pipelines.lab.simulator.http_wire import HttpWire, Writer
from pipelines.lab.simulator.journal import Exchange
from pipelines.lab.simulator.simulator import ServedModel
from voice.errors import ConfigurationError

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


class ChatCompletions(HttpWire):
    """The ASGI application of `POST /v1/chat/completions`."""

    wire = "chat"

    def read(self, body: object, headers: Mapping[str, str]) -> ModelRequest:
        """Read a request."""
        return read_request(body)

    def refuse(self, status: int, message: str | None, served: ServedModel | None = None) -> Response:
        """An error in OpenAI's form."""
        limits = served.limits if served else None
        return refusal(status, message, {**retry_headers(limits), **limit_headers(limits)})

    def writer(self, request: ModelRequest, served: ServedModel, exchange: Exchange, tool: str | None) -> Writer:
        """The writer of a completion."""
        return CompletionWriter(request, served, exchange, tool)

    def headers(self, served: ServedModel) -> dict[str, str]:
        """The headers with the rest of the limits."""
        return limit_headers(served.limits)


def read_request(body: object) -> ModelRequest:
    """Reads a request from a decoded body.

    Raises:
        ConfigurationError: the request cannot be served.
    """
    if not isinstance(body, Mapping) or not isinstance(body.get("model"), str):
        raise ConfigurationError("The body must be a JSON object with a model.")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ConfigurationError("The request needs messages, at least one.")
    if body.get("n") not in (None, 1):
        raise ConfigurationError("The simulator gives one choice; leave n at 1.")
    tools = read_tools(body)
    return ModelRequest(
        model=body["model"],
        messages=tuple(_message(message) for message in messages),
        tools=() if body.get("tool_choice") == "none" else tuple(offered(tool.get("function", {})) for tool in tools),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
        speed=served_tier(body.get("service_tier")),
        fixed=json_text(tools),
        stream=bool(body.get("stream")),
        include_usage=bool((body.get("stream_options") or {}).get("include_usage")),
    )


def _message(message: object) -> Message:
    if not isinstance(message, Mapping) or message.get("role") not in _ROLES:
        raise ConfigurationError(f"Every message needs a role: one of {', '.join(_ROLES)}.")
    text = plain_text(message.get("content"))
    calls = message.get("tool_calls")
    return Message(_ROLES[message["role"]], text + (json_text(calls) if calls else ""))


class CompletionWriter(Writer):
    """Writes one completion, in chunks or whole.

    Args:
        request: the request that it answers.
        served: the model that serves it.
        exchange: the request's record.
        tool: name of the tool that it calls, or None.
    """

    def __init__(self, request: ModelRequest, served: ServedModel, exchange: Exchange, tool: str | None) -> None:
        self._request, self._served, self._exchange, self._tool = request, served, exchange, tool
        self._common = {
            "id": f"chatcmpl-sim-{exchange.number}",
            "created": int(time.time()),
            "model": served.name,
            "service_tier": served.speed or "default",
            "system_fingerprint": "sim",
        }

    def opening(self) -> bytes:
        """The role, and for a tool call its name."""
        if self._tool is None:
            return _events([self._chunk({"role": "assistant", "content": "", "refusal": None})])
        call = {**self._call(""), "index": 0}
        return _events([self._chunk({"role": "assistant", "content": None, "tool_calls": [call]})])

    def text(self, text: str) -> bytes:
        """A chunk with part of the answer or of the tool call's arguments."""
        if self._tool is None:
            return _events([self._chunk({"content": text})])
        return _events([self._chunk({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})])

    def alive(self) -> bytes:
        """A comment, and a chunk without text."""
        return b": alive\n\n" + self.text("")

    def error(self, status: int, message: str | None) -> bytes:
        """An error event."""
        return _events([{"error": error_body(status, message=message)}])

    def closing(self, *, cut_off: bool) -> bytes:
        """The finish reason, then the usage if the client asked for it."""
        last = self._chunk({}, finish_reason=self._reason(cut_off=cut_off))
        chunks = [{**last, **_provider_times(self._served, self._exchange)}]
        if self._request.include_usage:
            chunks.append({**self._chunk({}), "choices": [], "usage": self._usage()})
        return _events(chunks) + b"data: [DONE]\n\n"

    def whole(self, thought: str, text: str, *, cut_off: bool) -> dict[str, Any]:
        """The completion without streaming."""
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if self._tool is not None:
            message |= {"content": None, "tool_calls": [self._call(text)]}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._reason(cut_off=cut_off)}
        common = {**self._common, **_provider_times(self._served, self._exchange)}
        return {**common, "object": "chat.completion", "choices": [choice], "usage": self._usage()}

    def _usage(self) -> dict[str, Any]:
        prompt, completion = self._exchange.input_tokens or 0, self._exchange.tokens_sent
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": self._exchange.discounted_tokens, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        }

    def _chunk(self, delta: dict[str, Any], *, finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        chunk = {**self._common, "object": "chat.completion.chunk", "choices": [choice]}
        return {**chunk, "usage": None} if self._request.include_usage else chunk

    def _call(self, arguments: str) -> dict[str, Any]:
        function = {"name": self._tool, "arguments": arguments}
        return {"id": f"call_sim_{self._exchange.number}", "type": "function", "function": function}

    def _reason(self, *, cut_off: bool) -> str:
        if cut_off:
            return "length"
        return "stop" if self._tool is None else "tool_calls"


def _provider_times(served: ServedModel, exchange: Exchange) -> dict[str, Any]:
    """The times of a request, in the fields of the providers that report them; seconds.

    The time of the first token beyond its median is reported as the wait in the queue [A].
    """
    profile = served.latency.profile
    if exchange.first_text is None:
        return {}
    first = exchange.first_text - exchange.requested
    queue = max(0.0, first - profile.p50)
    total = (exchange.ended or exchange.first_text) - exchange.requested
    times = {
        "queue_time": round(queue, 4),
        "prompt_time": round(first - queue, 4),
        "completion_time": round(total - first, 4),
        "total_time": round(total, 4),
    }
    match profile.provider:
        case "cerebras":
            return {"time_info": times}
        case "groq":
            return {"x_groq": {"id": f"req_sim_{exchange.number}", "usage": times}}
    return {}


def _events(payloads: Sequence[Mapping[str, Any]]) -> bytes:
    """Server-sent events."""
    return b"".join(b"data: " + json_text(payload).encode() + b"\n\n" for payload in payloads)
