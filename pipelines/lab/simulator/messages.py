"""The wire of Anthropic's Messages."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import JSONResponse, Response

from pipelines.lab.simulator.conversation import Message, ModelRequest, OfferedTool, json_text, plain_text, read_tools
from pipelines.lab.simulator.errors import RETRY_AFTER, RefusedError, retry_headers
from pipelines.lab.simulator.http_wire import HttpWire, Writer
from pipelines.lab.simulator.journal import LEAST_CACHED, Exchange
from pipelines.lab.simulator.simulator import FAST, ServedModel
from voice.errors import ConfigurationError

VERSION = "anthropic-version"
FAST_BETA = "fast-mode-2026-02-01"
"""The value of `anthropic-beta` that some models need for any `speed`."""
THOUGHT_TOKENS = {"low": 20, "medium": 60, "high": 160, "xhigh": 300, "max": 500}
"""Tokens that are thought before an answer when thinking is on, or an effort is named; an assumption."""
_USUAL_EFFORT = "high"
_THOUGHT = "I should answer this briefly and in plain words. "
_KINDS = {
    400: ("invalid_request_error", "The request cannot be served."),
    401: ("authentication_error", "invalid x-api-key (simulated)"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API (simulated)."),
    403: ("permission_error", "Your API key does not have permission to use this model (simulated)."),
    404: ("not_found_error", "model: it has been retired (simulated)"),
    429: ("rate_limit_error", "This request would exceed your rate limit (simulated)."),
    500: ("api_error", "Internal server error (simulated)"),
    529: ("overloaded_error", "Overloaded (simulated)"),
}

Event = dict[str, Any]
PING: Event = {"type": "ping"}


class Messages(HttpWire):
    """The ASGI application of `POST /v1/messages`."""

    wire = "messages"

    def read(self, body: object, headers: Mapping[str, str]) -> ModelRequest:
        """Read a request."""
        return read_request(body, headers, fast_beta=FAST_BETA if self.simulator.fast_needs_header else None)

    def refuse(self, status: int, message: str | None, served: ServedModel | None = None) -> Response:
        """An error in Anthropic's form."""
        headers = {"retry-after": str(RETRY_AFTER)} if status == 429 else {}
        if served is not None:
            headers |= self.headers(served) | (retry_headers(served.limits) if status == 429 else {})
        return JSONResponse(_error(status, message), status, headers)

    def writer(self, request: ModelRequest, served: ServedModel, exchange: Exchange, tool: str | None) -> Writer:
        """The writer of a message."""
        return MessageWriter(request, served, exchange, tool)

    def headers(self, served: ServedModel) -> dict[str, str]:
        """The headers with the rest of the limits of the pool that serves a request."""
        pool = "anthropic-fast" if served.speed == FAST else "anthropic-ratelimit"
        headers = {}
        for name, bucket in served.limits.buckets.items() if served.limits else ():
            whole_again = datetime.now(UTC) + timedelta(seconds=bucket.full_in)
            headers[f"{pool}-{name}-limit"] = str(int(bucket.limit))
            headers[f"{pool}-{name}-remaining"] = str(bucket.remaining)
            headers[f"{pool}-{name}-reset"] = whole_again.isoformat(timespec="seconds").replace("+00:00", "Z")
        return headers


def read_request(body: object, headers: Mapping[str, str], *, fast_beta: str | None) -> ModelRequest:
    """Reads a request from a decoded body and the request's headers.

    Args:
        body: the decoded body.
        headers: of the request; names in lower case.
        fast_beta: the value of `anthropic-beta` without which a speed is refused; None if none is needed.

    Raises:
        ConfigurationError: the request cannot be served.
    """
    if not (headers.get("x-api-key") or headers.get("authorization")):
        raise RefusedError(401, "x-api-key header is required")
    if not headers.get(VERSION):
        raise ConfigurationError(f"{VERSION}: header is required")
    if not isinstance(body, Mapping) or not isinstance(body.get("model"), str):
        raise ConfigurationError("The body must be a JSON object with a model.")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ConfigurationError("messages: at least one message is required")
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        raise ConfigurationError("max_tokens: a number of at least 1 is required")
    tools = read_tools(body)
    choice = body.get("tool_choice") or {}
    return ModelRequest(
        model=body["model"],
        messages=tuple(part for message in messages for part in _parts(message)),
        tools=() if choice.get("type") == "none" else tuple(map(_offered, tools)),
        max_tokens=body["max_tokens"],
        speed=_speed(body, headers, fast_beta),
        fixed=json_text([plain_text(body.get("system")), tools]),
        stream=bool(body.get("stream")),
        thought=_thought(body),
        is_cached='"cache_control":{' in json_text(body),
    )


def _speed(body: Mapping[str, Any], headers: Mapping[str, str], fast_beta: str | None) -> str | None:
    speed = body.get("speed")
    if speed is None:
        return None
    if speed not in ("standard", FAST):
        raise ConfigurationError(f"speed: Input should be 'standard' or 'fast', not {speed}")
    betas = [beta.strip() for beta in headers.get("anthropic-beta", "").split(",")]
    if fast_beta is not None and fast_beta not in betas:
        raise ConfigurationError(f"speed: this model needs the header anthropic-beta: {fast_beta}")
    return FAST if speed == FAST else None


def _thought(body: Mapping[str, Any]) -> str:
    """The thoughts before the answer: none unless thinking is on or an effort is given, which sets their length."""
    thinking = (body.get("thinking") or {}).get("type")
    effort = (body.get("output_config") or {}).get("effort")
    if thinking == "disabled" or (thinking is None and effort is None):
        return ""
    effort = effort or _USUAL_EFFORT
    if effort not in THOUGHT_TOKENS:
        raise ConfigurationError(f"output_config.effort: Input should be one of {', '.join(THOUGHT_TOKENS)}")
    # The sentence has ten tokens.
    return (_THOUGHT * (THOUGHT_TOKENS[effort] // 10)).rstrip()


def _offered(tool: Mapping[str, Any]) -> OfferedTool:
    return OfferedTool(str(tool.get("name", "")), tool.get("input_schema") or {})


def _parts(message: object) -> Iterator[Message]:
    """The messages in one of Anthropic's: one for each of its blocks."""
    if not isinstance(message, Mapping) or message.get("role") not in ("user", "assistant"):
        raise ConfigurationError("messages: every message needs a role, user or assistant")
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list) or not blocks or not all(isinstance(block, Mapping) for block in blocks):
        raise ConfigurationError("messages: content must be a text or a list of blocks, not empty")
    role = str(message["role"])
    for block in blocks:
        match block.get("type"):
            case "text":
                yield Message(role, str(block.get("text") or ""))
            case "tool_use":
                yield Message("assistant", f"{block.get('name')}({json_text(block.get('input'))})")
            case "tool_result":
                yield Message("tool", plain_text(block.get("content")))
            case "thinking" | "redacted_thinking":
                continue
            case kind:
                raise ConfigurationError(f"The simulator does not know the content block {kind}.")


class MessageWriter(Writer):
    """Writes one message, as events in order or whole.

    Args:
        request: the request that it answers.
        served: the model that serves it.
        exchange: the request's record.
        tool: name of the tool that the message calls, or None for text.
    """

    def __init__(self, request: ModelRequest, served: ServedModel, exchange: Exchange, tool: str | None) -> None:
        self._request, self._served, self._exchange, self._tool = request, served, exchange, tool
        self._id = f"msg_sim_{exchange.number:06d}"
        self._blocks: list[dict[str, Any]] = []

    def opening(self) -> bytes:
        """The message begins."""
        return _events({"type": "message_start", "message": self._message(usage=self._usage(output=1))}, PING)

    def thought(self, text: str) -> bytes:
        """More of the model's thoughts."""
        return _events(*self._block("thinking"), self._delta({"type": "thinking_delta", "thinking": text}))

    def text(self, text: str) -> bytes:
        """More of the text, or of the tool's input."""
        if self._tool is None:
            return _events(*self._block("text"), self._delta({"type": "text_delta", "text": text}))
        return _events(*self._block("tool_use"), self._delta({"type": "input_json_delta", "partial_json": text}))

    def alive(self) -> bytes:
        """A ping."""
        return _events(PING)

    def error(self, status: int, message: str | None) -> bytes:
        """An `error` event."""
        return _events(_error(status, message))

    def closing(self, *, cut_off: bool) -> bytes:
        """The end of the last block and of the message."""
        delta = {"stop_reason": self._reason(cut_off=cut_off), "stop_sequence": None}
        usage = {"output_tokens": self._output}
        return _events(
            *self._end_block(),
            {"type": "message_delta", "delta": delta, "usage": usage},
            {"type": "message_stop"},
        )

    def whole(self, thought: str, text: str, *, cut_off: bool) -> dict[str, Any]:
        """The message without streaming."""
        thinking = {"type": "thinking", "thinking": thought, "signature": "sim"}
        said: dict[str, Any] = {"type": "text", "text": text}
        if self._tool is not None:
            said = {"type": "tool_use", "id": f"toolu_{self._id}", "name": self._tool, "input": json.loads(text)}
        return self._message(
            content=[*([thinking] if thought else []), said],
            stop_reason=self._reason(cut_off=cut_off),
            usage=self._usage(output=self._output),
        )

    def _block(self, kind: str) -> list[Event]:
        """The events that make a block of this kind the current one."""
        if self._blocks and self._blocks[-1]["type"] == kind:
            return []
        ended = self._end_block()
        block: dict[str, Any] = {"type": kind}
        match kind:
            case "text":
                block |= {"text": ""}
            case "thinking":
                block |= {"thinking": "", "signature": ""}
            case "tool_use":
                block |= {"id": f"toolu_{self._id}", "name": self._tool, "input": {}}
        self._blocks.append(block)
        return [*ended, {"type": "content_block_start", "index": len(self._blocks) - 1, "content_block": block}]

    def _end_block(self) -> list[Event]:
        if not self._blocks:
            return []
        stop = {"type": "content_block_stop", "index": len(self._blocks) - 1}
        if self._blocks[-1]["type"] == "thinking":
            return [self._delta({"type": "signature_delta", "signature": "sim"}), stop]
        return [stop]

    def _delta(self, delta: dict[str, Any]) -> Event:
        return {"type": "content_block_delta", "index": len(self._blocks) - 1, "delta": delta}

    def _message(self, **fields: Any) -> dict[str, Any]:
        message: dict[str, Any] = {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._served.name,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }
        return {**message, **fields}

    def _reason(self, *, cut_off: bool) -> str:
        if cut_off:
            return "max_tokens"
        return "end_turn" if self._tool is None else "tool_use"

    @property
    def _output(self) -> int:
        return self._exchange.tokens_sent + self._exchange.thought_tokens

    def _usage(self, *, output: int) -> dict[str, Any]:
        """The usage; input tokens are counted apart from those that were read from the cache or written to it."""
        given, cached = self._exchange.input_tokens or 0, self._exchange.discounted_tokens
        is_cached = self._request.is_cached and given >= LEAST_CACHED
        return {
            "input_tokens": 0 if is_cached else given,
            "cache_creation_input_tokens": given - cached if is_cached else 0,
            "cache_read_input_tokens": cached,
            "output_tokens": output,
            "output_tokens_details": {"thinking_tokens": self._exchange.thought_tokens},
            "service_tier": "standard",
            "speed": self._served.speed or "standard",
        }


def _error(status: int, message: str | None) -> Event:
    """The body of an error, or the data of an `error` event; `message` overrides the status's own."""
    kind, words = _KINDS[status]
    return {"type": "error", "error": {"type": kind, "message": message or words}, "request_id": "req_sim"}


def _events(*events: Event) -> bytes:
    """Server-sent events, each named by its type."""
    return "".join(f"event: {event['type']}\ndata: {json_text(event)}\n\n" for event in events).encode()
