"""Reads Chat Completions requests. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from voice.errors import ConfigurationError
from voice.simulator.conversation import Message, OfferedTool, json_text
from voice.simulator.request_fields import offered, plain_text, read_tools, served_tier

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """The fields of a request that the simulator uses.

    Parameters:
        model: the model, as the client wrote it.
        messages: the conversation.
        tools: the offered tools; empty if the request forbids calls.
        stream: the client asks for server-sent events.
        include_usage: the client asks for a last chunk with the usage.
        max_tokens: most tokens of the answer, or None.
        speed: the speed that it asks for, under the name that the response reports; None for the usual one.
        fixed: the part of the prompt before the messages, for the prefix cache.
        thought: what the model thinks first: nothing, the profiles' figures include it.
        is_cached: the prefix is cached; OpenAI's servers do so unasked.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[OfferedTool, ...]
    stream: bool
    include_usage: bool
    max_tokens: int | None
    speed: str | None
    fixed: str
    thought: str = ""
    is_cached: bool = True


def read_request(body: object) -> ChatRequest:
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
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return ChatRequest(
        model=body["model"],
        messages=tuple(_message(message) for message in messages),
        tools=() if body.get("tool_choice") == "none" else tuple(offered(tool.get("function", {})) for tool in tools),
        stream=bool(body.get("stream")),
        include_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        max_tokens=limit,
        speed=served_tier(body.get("service_tier")),
        fixed=json_text(tools),
    )


def _message(message: object) -> Message:
    if not isinstance(message, Mapping) or message.get("role") not in _ROLES:
        raise ConfigurationError(f"Every message needs a role: one of {', '.join(_ROLES)}.")
    text = plain_text(message.get("content"))
    calls = message.get("tool_calls")
    return Message(_ROLES[message["role"]], text + (json_text(calls) if calls else ""))
