"""What a line of turns.jsonl may hold: the form of each value, and one sentence for a value of another form.

A key that is absent or null is unknown. Keys that are not named here pass: a later version may have written them.
"""

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from latency.record.marks import Mark

_MARKS: dict[str, Mark] = {mark.value: mark for mark in Mark}
_FURTHEST = 1e9
"""Beyond any instant, duration or count of a recording."""


class TurnError(ValueError):
    """A turn that contradicts itself or the format; the sentence says where."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A form that a single value may have."""

    name: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Object:
    """An object of which some keys are known."""

    keys: "Mapping[str, Form]"


@dataclass(frozen=True, slots=True)
class List:
    """A list of values of one form."""

    of: Kind | Object


Form = Kind | Object | List


def is_number(value: Any) -> bool:
    """Whether a value is a number that a recording may hold: no truth value, finite."""
    # A comparison takes numbers that no float can hold, and is false for what is no number at all.
    return isinstance(value, int | float) and not isinstance(value, bool) and -_FURTHEST < value < _FURTHEST


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        # JSON may name half a character, which cannot be printed.
        return False
    return True


TEXT = Kind("a text", _is_text)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
COUNT = Kind("a whole number", lambda value: isinstance(value, int) and is_number(value))
NUMBER = Kind("a number", is_number)
SECONDS = Kind("seconds", is_number)

_OPINION = Object({"probability": NUMBER, "ms": NUMBER})
_ATTEMPT = Object(
    {
        **dict.fromkeys(("tier", "model", "outcome", "failed"), TEXT),
        **dict.fromkeys(("request", "alive", "first_token", "first_clause", "end"), SECONDS),
        **dict.fromkeys(("response", "continues"), COUNT),
        "calls": List(TEXT),
        "tokens": Object({"in": COUNT, "out": COUNT, "estimated": FLAG}),
    }
)
_RESPONSE = Object(
    {
        **dict.fromkeys(("policy", "reason", "limit", "charged", "gave_up", "tier"), TEXT),
        **dict.fromkeys(("commit", "deadline"), SECONDS),
        "response": COUNT,
        "said": List(Object({"at": SECONDS, "kind": TEXT, "text": TEXT})),
    }
)
_SPECULATION = Object(
    {
        **dict.fromkeys(("hints", "started", "discarded"), COUNT),
        **dict.fromkeys(("used", "spoken_ahead"), FLAG),
        "request": SECONDS,
    }
)
_SERVER_TURN = Object(
    {
        **dict.fromkeys(("heard", "said", "opening", "ended_by", "failed"), TEXT),
        **dict.fromkeys(("interrupted", "final", "answer_pending"), FLAG),
        "turn": COUNT,
        "opening_seconds": SECONDS,
        "smart_turn": _OPINION,
        "attempts": List(_ATTEMPT),
        "responses": List(_RESPONSE),
        "speculation": _SPECULATION,
    }
)
TURN = Object(
    {
        **dict.fromkeys(("session", "scenario", "fixture", "text", "heard", "said", "failed"), TEXT),
        **dict.fromkeys(("wants_answer", "barge_in", "backchannel", "cold", "interrupted"), FLAG),
        "turn": COUNT,
        "contains": List(TEXT),
        "late_ms_max": NUMBER,
        "smart_turn": _OPINION,
        "attempts": List(_ATTEMPT),
        "responses": List(_RESPONSE),
        "server_turns": List(_SERVER_TURN),
        "stalls": List(Object({"at": SECONDS, "ms": NUMBER, "kind": TEXT})),
    }
)


def check_turn(values: Mapping[str, Any]) -> None:
    """Hold the keys of a turn against `TURN`.

    Raises:
        TurnError: A value of another form; the sentence names the first.
    """
    _check_keys("", values, TURN)


def known_marks(marks: Mapping[str, float | None]) -> dict[Mark, float]:
    """The known instants of a mapping of mark names to seconds or None.

    Raises:
        TurnError: A name that is no mark, or a time that is no number.
    """
    if not isinstance(marks, Mapping):
        raise TurnError(f"marks is an object, not {shown(marks)}")
    known = {}
    for name, at in marks.items():
        if name not in _MARKS:
            raise TurnError(f"unknown mark {shown(name)}; known are {', '.join(Mark)}")
        if at is None:
            continue
        if not is_number(at):
            raise TurnError(f"the mark {name} is {shown(at)}, not seconds")
        known[_MARKS[name]] = float(at)
    return known


def _check_keys(where: str, values: Mapping[str, Any], form: Object) -> None:
    for key, wanted in form.keys.items():
        if (found := values.get(key)) is not None:
            _check(key, f"{key} in {where}" if where else key, found, wanted)


def _check(key: str, name: str, found: Any, form: Form) -> None:
    match form:
        case Kind():
            if not form.holds(found):
                raise TurnError(f"{name} is {shown(found)}, not {form.name}")
        case Object():
            if not isinstance(found, Mapping):
                raise TurnError(f"{name} is {shown(found)}, not an object")
            _check_keys(key, found, form)
        case List(of=Kind() as kind):
            if not isinstance(found, list | tuple) or not all(map(kind.holds, found)):
                raise TurnError(f"{name} is a list, each item of it {kind.name}, not {shown(found)}")
        case List(of=Object() as item):
            if not isinstance(found, list | tuple) or not all(isinstance(one, Mapping) for one in found):
                raise TurnError(f"{name} is a list of objects, not {shown(found)}")
            for one in found:
                _check_keys(key, one, item)


def shown(value: Any) -> str:
    """A wrong value as a sentence shows it."""
    # Short and in ASCII: it may be a megabyte, or half a character.
    return reprlib.repr(value).encode("ascii", "backslashreplace").decode()
