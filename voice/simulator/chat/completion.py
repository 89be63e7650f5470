"""Writes Chat Completions responses: whole, or as chunks of server-sent events. Pure."""

import time
from collections.abc import Mapping
from typing import Any

from voice.simulator.chat.request import ChatRequest
from voice.simulator.conversation import json_text
from voice.simulator.journal import Exchange
from voice.simulator.simulator import ServedModel


class Completion:
    """Writes one response, in chunks or whole.

    Args:
        request: the request that it answers.
        served: the model that serves it.
        exchange: the request's record.
        tool: name of the tool that it calls, or None.
    """

    def __init__(self, request: ChatRequest, served: ServedModel, exchange: Exchange, tool: str | None) -> None:
        self._request, self._served, self._exchange = request, served, exchange
        number = self._number = exchange.number
        self._tool = tool
        self._common = {
            "id": f"chatcmpl-sim-{number}",
            "created": int(time.time()),
            "model": served.name,
            "service_tier": served.speed or "default",
            "system_fingerprint": "sim",
        }

    def opening(self) -> list[dict[str, Any]]:
        """The chunk before any text: the role, and for a tool call its name."""
        if self._tool is None:
            return [self._chunk({"role": "assistant", "content": "", "refusal": None})]
        call = {**self._call(""), "index": 0}
        return [self._chunk({"role": "assistant", "content": None, "tool_calls": [call]})]

    def piece(self, text: str) -> dict[str, Any]:
        """A chunk with part of the answer or of the tool call's arguments."""
        if self._tool is None:
            return self._chunk({"content": text})
        return self._chunk({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})

    def closing(self, *, cut_off: bool) -> list[dict[str, Any]]:
        """The chunks after the text: the finish reason, then the usage if the client asked for it."""
        last = self._chunk({}, finish_reason=self._reason(cut_off=cut_off))
        chunks = [{**last, **provider_times(self._served, self._exchange)}]
        if self._request.include_usage:
            chunks.append({**self._chunk({}), "choices": [], "usage": self._usage()})
        return chunks

    def whole(self, text: str, *, cut_off: bool) -> dict[str, Any]:
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
        common = {**self._common, **provider_times(self._served, self._exchange)}
        return {**common, "object": "chat.completion", "choices": [choice], "usage": self._usage()}

    def _usage(self) -> dict[str, Any]:
        exchange = self._exchange
        return usage(
            prompt=exchange.input_tokens or 0, cached=exchange.discounted_tokens, completion=exchange.tokens_sent
        )

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


def provider_times(served: ServedModel, exchange: Exchange) -> dict[str, Any]:
    """Where the time went, in the fields of those providers that say so; seconds.

    What a first token took beyond its median is reported as the wait in the queue [A].
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
