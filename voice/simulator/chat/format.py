"""Chat Completions on the wire: requests read, chunks and completions written. Pure."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voice.errors import ConfigurationError
from voice.simulator.script import Message, OfferedTool, json_text

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_SERVED_TIERS = {"fast": "priority", "priority": "priority", "flex": "flex", "ultrafast": "ultrafast"}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What matters of a request.

    Parameters:
        model: as the client wrote it.
        messages: the conversation.
        tools: those offered; none when the request forbids calls.
        stream: server-sent events are wanted.
        include_usage: a last chunk with the usage is wanted.
        max_tokens: longest answer, or None.
        service_tier: the tier that is reported as served.
        fixed: what stands before the messages in the prefix cache.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[OfferedTool, ...]
    stream: bool
    include_usage: bool
    max_tokens: int | None
    service_tier: str
    fixed: str


def read_request(body: object) -> ChatRequest:
    """The request in a decoded body.

    Raises:
        ConfigurationError: it is not one that can be served.
    """
    if not isinstance(body, Mapping) or not isinstance(body.get("model"), str):
        raise ConfigurationError("The body must be a JSON object with a model.")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ConfigurationError("The request needs messages, at least one.")
    if body.get("n") not in (None, 1):
        raise ConfigurationError("The simulator gives one choice; leave n at 1.")
    tools = read_tools(body)
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return ChatRequest(
        model=body["model"],
        messages=tuple(_message(message) for message in messages),
        tools=() if body.get("tool_choice") == "none" else tuple(offered(tool.get("function", {})) for tool in tools),
        stream=bool(body.get("stream")),
        include_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        max_tokens=limit,
        service_tier=served_tier(body.get("service_tier")),
        fixed=json_text(tools),
    )


def read_tools(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The descriptions of the tools in a request of either wire.

    Raises:
        ConfigurationError: they are not a list of objects.
    """
    tools = body.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, Mapping) for tool in tools):
        raise ConfigurationError("tools must be a list of objects.")
    return tools


def served_tier(requested: object) -> str:
    """What a response reports for a requested service tier ("fast" is served as "priority")."""
    return _SERVED_TIERS.get(str(requested), "default")


def offered(function: Mapping[str, Any]) -> OfferedTool:
    """A tool from its description, which both wires share."""
    return OfferedTool(str(function.get("name", "")), function.get("parameters") or {})


def plain_text(content: object) -> str:
    """The text of a message's content: a string, or parts of which some are text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))


def _message(message: object) -> Message:
    if not isinstance(message, Mapping) or message.get("role") not in _ROLES:
        raise ConfigurationError(f"Every message needs a role: one of {', '.join(_ROLES)}.")
    text = plain_text(message.get("content"))
    calls = message.get("tool_calls")
    return Message(_ROLES[message["role"]], text + (json_text(calls) if calls else ""))


class Completion:
    """Writes one response, as chunks or whole."""

    def __init__(self, request: ChatRequest, model: str, number: int, tool: str | None) -> None:
        self._request = request
        self._number = number
        self._tool = tool
        self._common = {
            "id": f"chatcmpl-sim-{number}",
            "created": int(time.time()),
            "model": model,
            "service_tier": request.service_tier,
            "system_fingerprint": "sim",
        }

    def opening(self) -> list[dict[str, Any]]:
        """The chunks before any text: the role alone, then the call's name if it is one."""
        if self._tool is None:
            return [self._chunk({"role": "assistant", "content": "", "refusal": None})]
        call = {**self._call(""), "index": 0}
        return [self._chunk({"role": "assistant", "content": None, "tool_calls": [call]})]

    def piece(self, text: str) -> dict[str, Any]:
        """A chunk of the answer, or of the call's arguments."""
        if self._tool is None:
            return self._chunk({"content": text})
        return self._chunk({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})

    def closing(self, *, cut_off: bool, usage: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The chunks after the text: the reason for the end, then the usage if it was asked for."""
        chunks = [self._chunk({}, finish_reason=self._reason(cut_off=cut_off))]
        if self._request.include_usage:
            chunks.append({**self._chunk({}), "choices": [], "usage": usage})
        return chunks

    def whole(self, text: str, *, cut_off: bool, usage: Mapping[str, Any]) -> dict[str, Any]:
        """The response without streaming."""
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if self._tool is not None:
            message |= {"content": None, "tool_calls": [self._call(text)]}
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": self._reason(cut_off=cut_off),
        }
        return {**self._common, "object": "chat.completion", "choices": [choice], "usage": usage}

    def _chunk(self, delta: dict[str, Any], *, finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        chunk = {**self._common, "object": "chat.completion.chunk", "choices": [choice]}
        return {**chunk, "usage": None} if self._request.include_usage else chunk

    def _call(self, arguments: str) -> dict[str, Any]:
        function = {"name": self._tool, "arguments": arguments}
        return {"id": f"call_sim_{self._number}", "type": "function", "function": function}

    def _reason(self, *, cut_off: bool) -> str:
        if cut_off:
            return "length"
        return "stop" if self._tool is None else "tool_calls"


def usage(*, prompt: int, cached: int, completion: int) -> dict[str, Any]:
    """The usage object."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def event(payload: Mapping[str, Any]) -> bytes:
    """A server-sent event."""
    return b"data: " + json_text(payload).encode() + b"\n\n"
