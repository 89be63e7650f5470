"""Writes the server-sent events of Anthropic's Messages, or a whole message. Pure."""

import json
from typing import Any

from voice.simulator.conversation import json_text
from voice.simulator.journal import LEAST_CACHED, Exchange
from voice.simulator.messages.request import MessagesRequest
from voice.simulator.simulator import ServedModel

Event = dict[str, Any]
PING: Event = {"type": "ping"}


class MessageWriter:
    """Writes the events of one message in order.

    Args:
        request: the request that it answers.
        served: the model that serves it.
        exchange: the request's record.
        tool: name of the tool that the message calls, or None for text.
    """

    def __init__(self, request: MessagesRequest, served: ServedModel, exchange: Exchange, tool: str | None) -> None:
        self._request, self._served, self._exchange = request, served, exchange
        self._tool = tool
        self._id = f"msg_sim_{exchange.number:06d}"
        self._blocks: list[dict[str, Any]] = []

    def opening(self) -> list[Event]:
        """The message begins."""
        return [{"type": "message_start", "message": self._message(usage=self._usage(output=1))}, PING]

    def thought(self, text: str) -> list[Event]:
        """More of what the model thinks."""
        return [*self._block("thinking"), self._delta({"type": "thinking_delta", "thinking": text})]

    def piece(self, text: str) -> list[Event]:
        """More of the text, or of the tool's input."""
        if self._tool is None:
            return [*self._block("text"), self._delta({"type": "text_delta", "text": text})]
        return [*self._block("tool_use"), self._delta({"type": "input_json_delta", "partial_json": text})]

    def closing(self, *, cut_off: bool) -> list[Event]:
        """The end of the last block and of the message."""
        delta = {"stop_reason": self._reason(cut_off=cut_off), "stop_sequence": None}
        return [
            *self._end_block(),
            {"type": "message_delta", "delta": delta, "usage": {"output_tokens": self._output}},
            {"type": "message_stop"},
        ]

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


def sse(event: Event) -> bytes:
    """A server-sent event, named by its type."""
    return f"event: {event['type']}\ndata: {json_text(event)}\n\n".encode()
