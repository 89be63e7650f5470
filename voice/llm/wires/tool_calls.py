"""Assembles the tool calls of an answer from their parts. Nothing is called that was not sent whole. Pure."""

import json
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from voice.llm.wires.events import CallPart, WireError


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole call: its id is unique in its conversation, its arguments are the object that was sent."""

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
        # Some servers send the whole call once more at its end.
        if part.arguments and not (part.arguments == self.text and self.is_whole):
            self.pieces.append(part.arguments)

    def is_followed_by(self, part: CallPart) -> bool:
        """Whether a part that names no other call begins one nevertheless."""
        if part.id and self.id and part.id != self.id:
            return True
        is_next = bool(part.name) and bool(part.arguments.strip()) and self.is_whole
        return is_next and part.id is None and not (part.name in self.names and part.arguments == self.text)


class ToolCalls:
    """Collects the parts of an answer's tool calls.

    Servers differ: the index may be missing, or the same for all calls, ids may be missing or numbers, and a name may
    come in pieces or with every part.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, part: CallPart) -> None:
        """Add a part to the call that it belongs to."""
        call = None if part.begins else self._of(part)
        if call is None or call.is_followed_by(part):
            call = _Call(part.key, part.id)
            self._calls.append(call)
        call.add(part)

    def made(self, *, known: Collection[str], used: Collection[str], is_whole: bool) -> Sequence[ToolCall]:
        """The calls, once the answer is over.

        Args:
            known: the names of the tools that the model was offered.
            used: ids of the calls that the conversation has already; some servers begin anew with every answer.
            is_whole: whether the server said that its answer is whole; without that, a call that has no arguments yet
                was broken off.

        Raises:
            WireError: one of them has no name, was broken off, or its arguments are no JSON object. None may run then.
        """
        made, ids = [], set(used)
        for call in self._calls:
            name = _name(call.names, known)
            if not name:
                raise WireError("called a tool without naming it")
            arguments = _arguments(call.pieces)
            if arguments is None or not (is_whole or call.text.strip()):
                raise WireError(f"called {name} with arguments that are no whole JSON object")
            unique = call.id if call.id and call.id not in ids else f"call_{uuid.uuid4().hex}"
            ids.add(unique)
            made.append(ToolCall(unique, name, arguments))
        return made

    def _of(self, part: CallPart) -> _Call | None:
        """The call that a part belongs to, as far as its index and its id tell; None for a new one."""
        known = reversed(self._calls)
        if part.key is None and part.id is None:
            return next(known, None)
        same = next((call for call in known if part.key is not None and call.key == part.key), None)
        if same is None and part.id is not None and (part.key is None or not part.name):
            same = next((call for call in self._calls if call.id == part.id), None)
        return same


def _name(pieces: Sequence[str], known: Collection[str]) -> str:
    """The name that came in pieces, or whole with every part, or longer with every part."""
    if len(set(pieces)) <= 1:
        return pieces[0] if pieces else ""
    joined, last = "".join(pieces), pieces[-1]
    grew = last in known and all(last.startswith(piece) for piece in pieces)
    return last if grew and joined not in known else joined


def _arguments(pieces: Sequence[str]) -> dict[str, Any] | None:
    """The arguments that came in pieces; None if they are no JSON object."""
    ways = ["".join(pieces)]
    if len(pieces) > 1 and _object(pieces[0]):
        # They were given when the call began, and streamed then.
        ways.append("".join(pieces[1:]))
    if all(later.startswith(earlier) for earlier, later in zip(pieces, pieces[1:], strict=False)):
        # Each part repeats the parts before it.
        ways += pieces[-1:]
    return next((found for way in ways if (found := _object(way)) is not None), None)


def _object(text: str) -> dict[str, Any] | None:
    """A JSON object, also as JSON text in JSON; nothing and null are an empty one; None for anything else."""
    for _ in range(2):
        if not text.strip():
            return {}
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, str):
            return {} if value is None else value if isinstance(value, dict) else None
        text = value
    return None
