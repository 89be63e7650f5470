"""OpenAI's Responses wire over a WebSocket: reads its requests and writes its events. Pure."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipelines.lab.simulator.conversation import (
    Message,
    ModelRequest,
    json_text,
    offered,
    plain_text,
    read_tools,
    served_tier,
)
from pipelines.lab.simulator.errors import error_body
from pipelines.lab.simulator.journal import LEAST_CACHED, Exchange
from pipelines.lab.simulator.simulator import ServedModel
from voice.errors import ConfigurationError

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}

Event = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRequest(ModelRequest):
    """The fields of a `response.create` that the simulator uses; `messages` follow those of `previous`.

    Parameters:
        previous: id of the response to continue from, or None.
        lane: its `stream_id`, or None.
        generate: False for a warm-up, which gives an id to continue from and no output.
        echoed: fields of the request that the response repeats.
    """

    previous: str | None
    lane: str | None
    generate: bool
    echoed: Mapping[str, Any]


def read_create(event: Mapping[str, Any]) -> ResponseRequest:
    """Reads a request from a decoded `response.create`.

    Raises:
        ConfigurationError: the request cannot be served.
    """
    if not isinstance(event.get("model"), str):
        raise ConfigurationError("response.create needs a model.")
    for field in ("stream", "background"):
        if event.get(field):
            raise ConfigurationError(f"{field} is not allowed over a WebSocket.")
    for field, kind in (("stream_id", str), ("previous_response_id", str), ("max_output_tokens", int)):
        if not isinstance(event.get(field), kind | None):
            raise ConfigurationError(f"{field} must be {'a text' if kind is str else 'a number'}.")
    tools = read_tools(event)
    echoed = {
        "instructions": event.get("instructions"),
        "tools": tools,
        "tool_choice": event.get("tool_choice") or "auto",
        "parallel_tool_calls": event.get("parallel_tool_calls", True),
        "previous_response_id": event.get("previous_response_id"),
        "max_output_tokens": event.get("max_output_tokens"),
        "metadata": event.get("metadata") or {},
        "store": event.get("store", True),
        "temperature": event.get("temperature", 1.0),
        "top_p": event.get("top_p", 1.0),
        "reasoning": event.get("reasoning"),
    }
    return ResponseRequest(
        model=event["model"],
        messages=_messages(event.get("input")),
        tools=() if event.get("tool_choice") == "none" else tuple(offered(tool) for tool in tools),
        max_tokens=event.get("max_output_tokens"),
        speed=served_tier(event.get("service_tier")),
        fixed=json_text([echoed["instructions"], tools, echoed["reasoning"]]),
        previous=event.get("previous_response_id"),
        lane=event.get("stream_id"),
        generate=event.get("generate") is not False,
        echoed=echoed,
    )


def _messages(given: object) -> tuple[Message, ...]:
    if given is None:
        return ()
    if isinstance(given, str):
        return (Message("user", given),)
    if not isinstance(given, list) or not all(isinstance(item, Mapping) for item in given):
        raise ConfigurationError("input must be a text or a list of items.")
    return tuple(message for item in given if (message := _message(item)) is not None)


def _message(item: Mapping[str, Any]) -> Message | None:
    kind = item.get("type", "message")
    role = item.get("role")
    if kind == "message" and isinstance(role, str) and role in _ROLES:
        return Message(_ROLES[role], plain_text(item.get("content")))
    if kind == "function_call":
        return Message("assistant", call_text(str(item.get("name")), str(item.get("arguments"))))
    if kind == "function_call_output":
        return Message("tool", plain_text(item.get("output")))
    if kind == "reasoning":
        return None
    raise ConfigurationError(f"The simulator does not know the input item {kind} (role {role}).")


def call_text(name: str, arguments: str) -> str:
    """A tool call as the text of an assistant message."""
    return f"{name}({arguments})"


def error_event(
    status: int,
    *,
    message: str | None = None,
    code: str | None = None,
    param: str | None = None,
    lane: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Event:
    """An `error` event: the request gets no response, or the connection ends."""
    error = error_body(status, message=message, code=code, param=param)
    if headers:
        error["headers"] = dict(headers)
    event = {"type": "error", "status": status, "error": error, "sequence_number": 0}
    return event if lane is None else {**event, "stream_id": lane}


class ResponseWriter:
    """Writes the events of one response in order, numbered from 0.

    Args:
        request: the request that it answers.
        response_id: id of the response.
        served: the model that serves it.
        tool: name of the tool that the response calls, or None for a message.
    """

    def __init__(self, request: ResponseRequest, response_id: str, served: ServedModel, tool: str | None) -> None:
        self.response_id = response_id
        self._request, self._served, self._tool = request, served, tool
        self._created = int(time.time())
        self._number = 0
        self._text = ""
        self._item_id = response_id.replace("resp", "fc" if tool else "msg")
        self._place = {"item_id": self._item_id, "output_index": 0}
        self._is_open = False

    def created(self) -> list[Event]:
        """The response has been created and is in progress."""
        return [self._about("response.created", "in_progress"), self.alive()]

    def alive(self) -> Event:
        """The response is still in progress."""
        return self._about("response.in_progress", "in_progress")

    def text(self, text: str) -> list[Event]:
        """More of the text or of the call's arguments; the first piece also opens the item."""
        events = [] if self._is_open else self._opening()
        self._is_open = True
        self._text += text
        if self._tool is None:
            more = {"delta": text, **self._place, "content_index": 0, "logprobs": []}
            return [*events, self._event("response.output_text.delta", **more)]
        return [*events, self._event("response.function_call_arguments.delta", delta=text, **self._place)]

    def completed(self, exchange: Exchange, *, cut_off: bool) -> list[Event]:
        """The end of the item, if there is one, and of the response, with the usage."""
        events = self._closing() if self._is_open else []
        if cut_off:
            why = {"incomplete_details": {"reason": "max_output_tokens"}}
            return [*events, self._about("response.incomplete", "incomplete", usage=_usage(exchange), **why)]
        return [*events, self._about("response.completed", "completed", usage=_usage(exchange))]

    def failed(self, status: int) -> Event:
        """The response ends with an error."""
        error = error_body(status)
        return self._about("response.failed", "failed", error={"code": error["code"], "message": error["message"]})

    def cancelled(self) -> Event:
        """The client cancelled the response; the usage is then not reported."""
        return self._about("response.incomplete", "cancelled", incomplete_details={"reason": "cancelled"})

    def _opening(self) -> list[Event]:
        added = self._event("response.output_item.added", output_index=0, item=self._item("in_progress"))
        if self._tool is not None:
            return [added]
        return [added, self._event("response.content_part.added", content_index=0, part=_part(""), **self._place)]

    def _closing(self) -> list[Event]:
        place, text = self._place, self._text
        if self._tool is not None:
            ends = [self._event("response.function_call_arguments.done", arguments=text, name=self._tool, **place)]
        else:
            ends = [
                self._event("response.output_text.done", content_index=0, text=text, logprobs=[], **place),
                self._event("response.content_part.done", content_index=0, part=_part(text), **place),
            ]
        return [*ends, self._event("response.output_item.done", output_index=0, item=self._item("completed"))]

    def _item(self, status: str) -> dict[str, Any]:
        if self._tool is None:
            content = [_part(self._text)] if status == "completed" else []
            return {"id": self._item_id, "type": "message", "role": "assistant", "status": status, "content": content}
        call_id = self._item_id.replace("fc", "call", 1)
        called = {"id": self._item_id, "type": "function_call", "status": status, "call_id": call_id}
        return {**called, "name": self._tool, "arguments": self._text}

    def _about(self, kind: str, status: str, **fields: Any) -> Event:
        """An event that contains the whole response."""
        response: dict[str, Any] = {
            "id": self.response_id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self._served.name,
            "output": [self._item("completed")] if self._is_open and status != "in_progress" else [],
            "error": None,
            "incomplete_details": None,
            "usage": None,
            "service_tier": self._served.speed or "default",
            "text": {"format": {"type": "text"}},
            "truncation": "disabled",
        }
        return self._event(kind, response={**response, **self._request.echoed, **fields})

    def _event(self, kind: str, **fields: Any) -> Event:
        event = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        return event if self._request.lane is None else {**event, "stream_id": self._request.lane}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(exchange: Exchange) -> dict[str, Any]:
    given, cached, output = exchange.input_tokens or 0, exchange.discounted_tokens, exchange.tokens_sent
    return {
        "input_tokens": given,
        "input_tokens_details": {
            "cached_tokens": cached,
            "cache_write_tokens": given - cached if given >= LEAST_CACHED else 0,
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + output,
    }
