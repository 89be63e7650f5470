"""A request and its answer as all wires carry them: messages, offered tools, and their tokens. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from voice.errors import ConfigurationError

_TOKEN = re.compile(r"\s*(?:\w{1,7}|[^\w\s])|\s+$")
_SERVED_TIERS = {"fast": "priority", "priority": "priority", "flex": "flex", "ultrafast": "ultrafast"}


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that a request offers to the model.

    Parameters:
        name: its name in the request.
        parameters: JSON schema of its arguments.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; `role` is system, user, assistant or tool."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """The fields of a request that the simulator uses.

    Parameters:
        model: the model, as the client wrote it.
        messages: the conversation; on the Responses wire, its new messages.
        tools: the offered tools; empty if the request forbids calls.
        max_tokens: most tokens of the answer, or None.
        speed: the speed that it asks for, under the name that the response reports; None for the usual one.
        fixed: the part of the prompt before the messages, for the prefix cache.
        stream: the client asks for server-sent events.
        include_usage: the client asks for a last chunk with the usage.
        thought: the model's thoughts before the answer; empty on OpenAI's wires, whose figures include them.
        is_cached: whether the prefix is cached. OpenAI's servers do so unasked, Anthropic's where a request marks it.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[OfferedTool, ...]
    max_tokens: int | None
    speed: str | None
    fixed: str
    stream: bool = False
    include_usage: bool = False
    thought: str = ""
    is_cached: bool = True


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """The model's answer.

    Parameters:
        text: the answer, or the JSON arguments of the tool call.
        tool: name of the tool it calls instead of answering, or None.
    """

    text: str
    tool: str | None = None


def tokens(text: str) -> list[str]:
    """Splits the text into about as many tokens as real models need for it; joined, they give the text."""
    return _TOKEN.findall(text)


def token_count(text: str) -> int:
    """The number of tokens of a text."""
    return len(tokens(text))


def json_text(value: object) -> str:
    """Compact JSON, as models write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def read_tools(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The descriptions of the tools in a request.

    Raises:
        ConfigurationError: they are not a list of objects.
    """
    tools = body.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, Mapping) for tool in tools):
        raise ConfigurationError("tools must be a list of objects.")
    return tools


def offered(function: Mapping[str, Any]) -> OfferedTool:
    """Reads a tool from its description, which is the same on OpenAI's wires.

    Raises:
        ConfigurationError: its parameters are no schema of an object.
    """
    parameters = function.get("parameters") or {}
    if not isinstance(parameters, Mapping) or not isinstance(parameters.get("properties") or {}, Mapping):
        raise ConfigurationError("The parameters of a tool must be a JSON schema of an object.")
    return OfferedTool(str(function.get("name", "")), parameters)


def served_tier(requested: object) -> str | None:
    """The name under which a requested service tier is served ("fast" is "priority"); None for the usual one."""
    return _SERVED_TIERS.get(str(requested))


def plain_text(content: object) -> str:
    """The text of a message's content, which is a string or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))
