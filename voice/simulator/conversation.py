"""A conversation as both wires carry it: messages, offered tools, answers, and their tokens."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(r"\s*(?:\w{1,7}|[^\w\s])|\s+$")


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool of the request.

    Parameters:
        name: its name on the wire.
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
class Answer:
    """What the model says.

    Parameters:
        text: the answer, or the JSON arguments of the tool call.
        tool: name of the tool it calls instead of answering, or None.
    """

    text: str
    tool: str | None = None


def tokens(text: str) -> list[str]:
    """The text cut into about as many tokens as real models need for it; joined, they are the text."""
    return _TOKEN.findall(text)


def token_count(text: str) -> int:
    """How many tokens a text is."""
    return len(tokens(text))


def json_text(value: object) -> str:
    """Compact JSON, as models write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
