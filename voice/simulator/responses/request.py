"""Reads the client events of OpenAI Responses. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voice.errors import ConfigurationError
from voice.simulator.conversation import Message, OfferedTool, json_text
from voice.simulator.request_fields import offered, plain_text, read_tools, served_tier

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """The fields of a `response.create` that the simulator uses.

    Parameters:
        model: the model, as the client wrote it.
        items: the new messages, which follow those of `previous`.
        tools: the offered tools; empty if the request forbids calls.
        previous: id of the response to continue from, or None.
        lane: its `stream_id`, or None.
        generate: False for a warm-up, which gives an id to continue from and no output.
        max_tokens: most tokens of the answer, or None.
        speed: the speed that it asks for, under the name that the response reports; None for the usual one.
        fixed: the part of the prompt before the messages, for the prefix cache.
        echoed: fields of the request that the response repeats.
    """

    model: str
    items: tuple[Message, ...]
    tools: tuple[OfferedTool, ...]
    previous: str | None
    lane: str | None
    generate: bool
    max_tokens: int | None
    speed: str | None
    fixed: str
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
    instructions = event.get("instructions")
    return ResponseRequest(
        model=event["model"],
        items=_items(event.get("input")),
        tools=() if event.get("tool_choice") == "none" else tuple(offered(tool) for tool in tools),
        previous=event.get("previous_response_id"),
        lane=event.get("stream_id"),
        generate=event.get("generate") is not False,
        max_tokens=event.get("max_output_tokens"),
        speed=served_tier(event.get("service_tier")),
        fixed=json_text([instructions, tools, event.get("reasoning")]),
        echoed={
            "instructions": instructions,
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
        },
    )


def _items(given: object) -> tuple[Message, ...]:
    if given is None:
        return ()
    if isinstance(given, str):
        return (Message("user", given),)
    if not isinstance(given, list) or not all(isinstance(item, Mapping) for item in given):
        raise ConfigurationError("input must be a text or a list of items.")
    return tuple(message for item in given if (message := _item(item)) is not None)


def _item(item: Mapping[str, Any]) -> Message | None:
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
