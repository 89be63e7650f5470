"""A conversation as both wires carry it: messages, offered tools, answers, and their tokens."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(r"\s*(?:\w{1,7}|[^\w\s])|\s+$")


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
    """One message of a conversation on either wire; `role` is system, user, assistant or tool."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """What the model says.

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
