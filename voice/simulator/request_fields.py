"""Reads what requests of both wires have in common: tools, the content of messages, the service tier."""

from collections.abc import Mapping
from typing import Any

from voice.errors import ConfigurationError
from voice.simulator.conversation import OfferedTool

_SERVED_TIERS = {"fast": "priority", "priority": "priority", "flex": "flex", "ultrafast": "ultrafast"}


def read_tools(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The descriptions of the tools in a request of either wire.

    Raises:
        ConfigurationError: they are not a list of objects.
    """
    tools = body.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, Mapping) for tool in tools):
        raise ConfigurationError("tools must be a list of objects.")
    return tools


def served_tier(requested: object) -> str | None:
    """The name under which a requested service tier is served ("fast" is "priority"); None for the usual one."""
    return _SERVED_TIERS.get(str(requested))


def offered(function: Mapping[str, Any]) -> OfferedTool:
    """Reads a tool from its description, which is the same on both wires.

    Raises:
        ConfigurationError: its parameters are no schema of an object.
    """
    parameters = function.get("parameters") or {}
    if not isinstance(parameters, Mapping) or not isinstance(parameters.get("properties") or {}, Mapping):
        raise ConfigurationError("The parameters of a tool must be a JSON schema of an object.")
    return OfferedTool(str(function.get("name", "")), parameters)


def plain_text(content: object) -> str:
    """The text of a message's content, which is a string or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))
