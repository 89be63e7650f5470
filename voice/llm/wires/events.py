"""The common events of all protocols' streams, and tolerant parsing of values in unexpected forms. Pure.

A reader also yields pipecat's frames for other parts of an answer, such as thoughts, and a `ProviderNote` for data
about the request.
"""

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipecat.frames.frames import Frame

from voice.llm.answer.provider_note import ProviderNote
from voice.plain_text import plain

_THOUGHTS = ("thinking", "reasoning", "reasoning_content", "redacted_thinking", "thought")
"""Types of content parts that are not meant for the caller."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the answer.

    Parameters:
        text: the words.
        is_ahead: whether they came at the beginning of a message or a part; some servers then also stream them.
        ends: whether the server marked the answer's end with them; some then repeat the whole answer.
    """

    text: str
    is_ahead: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPart:
    """A part of a tool call.

    Parameters:
        key: the call's index in the protocol; None if missing.
        id: the call's id.
        name: the tool's name, or a piece of it.
        arguments: JSON text, or a piece of it; "" for none.
        begins: whether the protocol marks the beginning of another call here.
        is_whole: whether these are the call's complete arguments, even if they were streamed before.
    """

    key: Hashable = None
    id: str | None = None
    name: str = ""
    arguments: str = ""
    begins: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The token counts reported by a server so far; None if missing.

    Parameters:
        prompt: those of the request, cached ones included.
        completion: those of the answer, thoughts included.
        cached: those of the prompt that were read from the cache.
        written: those of the prompt that were written to the cache.
        reasoning: those of the thoughts.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    written: int | None = None
    reasoning: int | None = None

    def updated(self, later: "Usage") -> "Usage":
        """The usage, with its fields replaced by those in the later report: servers send several partial reports."""
        known = {name: value for name in self.__slots__ if (value := getattr(later, name)) is not None}
        return replace(self, **known)


def token_usage(usage: Mapping[str, Any], given: str, made: str) -> Usage:
    """The usage reported by a server with one of OpenAI's protocols.

    Args:
        usage: as the server sends it.
        given, made: the protocol's names for the tokens of the request and of the answer, such as "prompt" and
            "completion".
    """
    of_given, of_made = (mapping(usage.get(f"{name}_tokens_details")) for name in (given, made))
    return Usage(
        prompt=count(usage.get(f"{given}_tokens")),
        completion=count(usage.get(f"{made}_tokens")),
        cached=count(of_given.get("cached_tokens")),
        written=count(of_given.get("cache_write_tokens")),
        reasoning=count(of_made.get("reasoning_tokens")),
    )


@dataclass(frozen=True, slots=True)
class Finish:
    """The server marks its answer as complete.

    Parameters:
        reason: the server's own word; None if missing.
        with_words: whether it came together with words. Some servers send it with every word.
    """

    reason: str | None = None
    with_words: bool = False


Event = Text | CallPart | Usage | Finish | ProviderNote | Frame


class WireError(ValueError):
    """A server's output cannot be used; the message continues "<model> at <where>"."""


class ProviderError(WireError):
    """A server reported an error inside a response that began well.

    Args:
        body: the JSON that reports it.
        headers: those of the response.
        said: how the server reported it.
    """

    def __init__(self, body: Any, *, headers: Mapping[str, str] | None = None, said: str = "reported an error") -> None:
        outer, response = mapping(body), mapping(mapping(body).get("response"))
        inside = outer.get("error") or response.get("error") or response.get("incomplete_details")
        error = mapping(inside) or mapping(listed(inside or outer.get("errors"))[:1])
        told = (
            *(error.get(name) for name in ("message", "reason", "detail", "msg")),
            inside,
            *(outer.get(name) for name in ("error_message", "message", "detail", "msg")),
            *(error.get(name) for name in ("code", "type")),
        )
        self.words = next(filter(None, map(words, told)), "it did not say which")
        self.code, self.kind = identifier(error.get("code") or outer.get("code")), identifier(error.get("type"))
        numbers = (outer.get("status"), error.get("status"), error.get("code"), outer.get("code"))
        # From this, pipecat decides whether the service can still be used.
        self.status_code = next((number for each in numbers if 400 <= (number := count(each) or 0) < 600), None)
        own = error.get("headers")
        self.headers: Mapping[str, str] = own if isinstance(own, Mapping) else headers or {}
        super().__init__(f"{said}: {self.words.strip().rstrip('.')}")


def is_error(body: Mapping[str, Any]) -> bool:
    """Whether JSON from outside an answer reports an error."""
    if body.get("error") or body.get("errors") or body.get("error_message"):
        return True
    if body.get("object") == "error" or body.get("type") == "error":
        return True
    return isinstance(body.get("detail"), str) or isinstance(body.get("message"), str)


def mapping(value: Any) -> Mapping[str, Any]:
    """A JSON object, alone or as the only item of a list; an empty one for anything else."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, Mapping) else {}


def listed(value: Any) -> Sequence[Any]:
    """A list, or a single value as a list; an empty one for None."""
    return value if isinstance(value, list) else [] if value is None else [value]


def words(value: Any) -> str:
    """The words of message content: a text, a number, a part with a text, or a list of these; "" for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(words, value))
    if isinstance(value, Mapping) and value.get("type") not in _THOUGHTS:
        return words(value.get("text")) or words(value.get("value")) or words(value.get("refusal"))
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def count(value: Any) -> int | None:
    """A non-negative number, perhaps as text; None for anything else."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return None
    return int(value)


def seconds(value: Any) -> float | None:
    """A non-negative time in seconds; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return None
    return float(value)


def parsed(text: str | bytes) -> Any:
    """JSON from a server, with None in place of NaN, infinities and numbers that are too large.

    Raises:
        ValueError, RecursionError: it is not JSON.
    """
    return json.loads(text, parse_constant=lambda _: None, parse_float=_number, parse_int=_number)


def _number(digits: str) -> float | None:
    # Python refuses integers of some thousand digits, which other programs do not read either.
    number = float(digits)
    if not math.isfinite(number):
        return None
    return number if not digits.lstrip("-").isdecimal() else int(digits)


def identifier(value: Any) -> str | None:
    """An id or a name, perhaps given as a number; None if missing."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return plain(value).strip() or None if isinstance(value, str) else None


def argument_text(value: Any) -> str:
    """A tool call's arguments as JSON text, even if they came as an object; "" for none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
