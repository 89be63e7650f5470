"""Assembles the tool calls of an answer from their parts. Incomplete calls are never made. Pure."""

import json
import math
import re
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from voice.llm.wires.events import CallPart, WireError

MOST_CALLS = 20
"""The most calls in one answer; more mean that the model is repeating itself."""
OLDER = "function_call"
"""Key of the call in Chat Completions' older form, which some servers send besides the newer one."""
_NAMESPACE = re.compile(r"[./:]")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete call: its id is unique in the conversation, its arguments are the object sent."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(slots=True)
class _Call:
    key: Any
    id: str | None
    names: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def is_whole(self) -> bool:
        return bool(self.text.strip()) and _object(self.text) is not None

    def add(self, part: CallPart) -> None:
        self.id = self.id or part.id
        if part.name:
            self.names.append(part.name)
        # Some servers repeat the whole call at its end.
        if not part.arguments or (self.is_whole and _object(part.arguments) == _object(self.text)):
            return
        if part.is_whole and part.arguments.startswith(self.text):
            self.pieces = []
        self.pieces.append(part.arguments)

    def is_followed_by(self, part: CallPart, known: Collection[str]) -> bool:
        """Whether a part begins another call, although it has no new id or index."""
        if part.id and self.id and part.id != self.id:
            return True
        name = "".join(self.names[:1])
        if part.name and _declared(name, known) in known and not part.name.startswith(name):
            joined = "".join(self.names) + part.name
            if not any(each.startswith(joined) for each in known):
                return True
        is_next = bool(part.name) and bool(part.arguments.strip()) and self.is_whole
        return is_next and part.id is None and not (part.name in self.names and part.arguments == self.text)


class ToolCalls:
    """Collects the parts of an answer's tool calls.

    Servers differ: the index may be missing or the same for all calls, ids may be missing or numeric, and a name may
    come in pieces or with every part.

    Args:
        known: the names of the tools offered to the model.
    """

    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self._calls: list[_Call] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, part: CallPart) -> None:
        """Add a part to its call."""
        call = None if part.begins else self._of(part)
        if call is None or call.is_followed_by(part, self._known):
            call = _Call(part.key, part.id)
            self._calls.append(call)
        call.add(part)

    def made(self, *, used: Collection[str]) -> Sequence[ToolCall]:
        """The calls, once the answer is over; one announced twice is made once.

        Args:
            used: ids of earlier calls in the conversation; some servers restart their ids with every answer.

        Raises:
            WireError: a call has no name, its arguments are not a JSON object, or there are too many calls. None may
                run then.
        """
        made, ids = list[ToolCall](), set(used)
        seen = list[tuple[_Call, str, dict[str, Any]]]()
        for call in self._calls:
            name = _name(call.names, self._known)
            if not name:
                raise WireError("called a tool without naming it")
            arguments = _arguments(call.pieces)
            if arguments is None:
                raise WireError(f"called {name} with arguments that are not a whole JSON object")
            seen.append((call, name, arguments))
        for index, (call, name, arguments) in enumerate(seen):
            others = [(other, theirs) for other, named, theirs in seen[:index] if named == name]
            if any(_is_again(call, other) and theirs == arguments for other, theirs in others):
                continue
            # A call may be announced without its arguments and sent in full later.
            others = [(other, theirs) for other, named, theirs in seen if named == name and other is not call]
            if not arguments and any(theirs and call.id and call.id == other.id for other, theirs in others):
                continue
            if len(made) == MOST_CALLS:
                raise WireError(f"called more than {MOST_CALLS} tools in one answer")
            unique = call.id if call.id and call.id not in ids else f"call_{uuid.uuid4().hex}"
            ids.add(unique)
            made.append(ToolCall(unique, name, arguments))
        return made

    def _of(self, part: CallPart) -> _Call | None:
        """The call of a part, by its index and id; None for a new one."""
        known = reversed(self._calls)
        if part.key is None and part.id is None:
            return next(known, None)
        same = next((call for call in known if part.key is not None and call.key == part.key), None)
        if same is None and part.id is not None and (part.key is None or not part.name):
            same = next((call for call in self._calls if call.id == part.id), None)
        return same


def _is_again(call: _Call, other: _Call) -> bool:
    """Whether two calls of the same tool with the same arguments are one, announced twice."""
    same_place = call.key is not None and call.key == other.key
    return same_place or (call.id is not None and call.id == other.id) or OLDER in (call.key, other.key)


def _name(pieces: Sequence[str], known: Collection[str]) -> str:
    """The name, whether sent in pieces, whole with every part, or longer with every part."""
    if len(set(pieces)) <= 1:
        return _declared(pieces[0], known) if pieces else ""
    joined, last = _declared("".join(pieces), known), pieces[-1]
    grew = _declared(last, known) in known and all(last.startswith(piece) for piece in pieces)
    return _declared(last, known) if grew and joined not in known else joined


def _declared(name: str, known: Collection[str]) -> str:
    """The name without a model's namespace prefix, such as "functions.", if the rest was declared."""
    bare = _NAMESPACE.split(name)[-1]
    return bare if name not in known and bare in known else name


def _arguments(pieces: Sequence[str]) -> dict[str, Any] | None:
    """The arguments, joined from their pieces; None if they are not a JSON object."""
    ways = ["".join(pieces)]
    if len(pieces) > 1 and (given := _object(pieces[0])) is not None:
        # The call began with them, or with an empty object, and then streamed them.
        rest = "".join(pieces[1:])
        ways += [rest] if not given or _object(rest) == given else []
    if all(later.startswith(earlier) for earlier, later in zip(pieces, pieces[1:], strict=False)):
        # Each part repeats the parts before it.
        ways += pieces[-1:]
    return next((found for way in ways if (found := _object(way)) is not None), None)


def _object(text: str) -> dict[str, Any] | None:
    """A JSON object, perhaps encoded as JSON text; empty for nothing and null; None for anything else."""
    for _ in range(2):
        if not text.strip():
            return {}
        try:
            value = json.loads(text, strict=False, parse_constant=_refused, parse_float=_finite)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, str):
            return {} if value is None else value if isinstance(value, dict) else None
        text = value
    return None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"{digits} is too large")
    return number
