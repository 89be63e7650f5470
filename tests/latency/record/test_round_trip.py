"""Records with every field set survive JSON; the values follow from the fields' types, so a new field is covered."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass, replace
from itertools import count
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from msgspec import Struct, UnsetType

from latency.record.json_form import from_json, to_json
from latency.record.marks import Mark, Marks
from latency.record.session import Session
from latency.record.turn import ServerTurn, Stall, TurnRecord, TurnReport


def full(kind: type, numbers: Iterator[int]) -> Any:
    """A record of which no field is unknown, empty or false."""
    hints = get_type_hints(kind, include_extras=True)
    return kind(**{name: a_value(hint, name, numbers) for name, hint in hints.items()})


def a_value(hint: Any, name: str, numbers: Iterator[int]) -> Any:
    """A value of a type; numbers grow from field to field, as instants must, and fit a probability."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return a_value(arguments[0], name, numbers)
    if origin in (Union, UnionType):
        return a_value(next(one for one in arguments if one not in (NoneType, UnsetType)), name, numbers)
    if origin is Literal:
        return arguments[-1]
    if origin is tuple:
        return tuple(a_value(one, name, numbers) for one in arguments if one is not ...)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {f"{name}.wav": a_value(arguments[1], name, numbers)}
    if hint is Marks:
        return Marks({mark: next(numbers) / 1000 for mark in Mark})
    if is_dataclass(hint) or issubclass(hint, Struct):
        return full(hint, numbers)
    samples = {str: f"the {name}", bool: True, int: next(numbers), float: next(numbers) / 1000}
    assert hint in samples, f"{name} is a {hint}, of which this test knows no value"
    return samples[hint]


def unset(value: Any, place: str = "") -> list[str]:
    """Where JSON holds something unknown, empty or false."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place] if not value else [found for key, child in items for found in unset(child, f"{place}.{key}")]


@pytest.mark.parametrize("kind", [TurnRecord, ServerTurn, Session])
def test_a_record_with_every_field_set_survives_json(kind: type) -> None:
    record = full(kind, count(1))
    content = json.loads(json.dumps(to_json(record)))
    assert unset(content) == []
    assert from_json(kind, content) == record


def test_a_line_of_a_run_holds_every_field_of_its_turn() -> None:
    record = full(TurnRecord, count(1))
    line = json.dumps(record.to_json())
    assert json.loads(line) == {"schema": 1, **json.loads(json.dumps(to_json(record)))}
    assert TurnRecord.from_json(line) == record


def test_a_report_with_every_field_set_survives_the_wire() -> None:
    numbers = count(1)
    stalls = (full(Stall, numbers), full(Stall, numbers))
    report = TurnReport(turn=replace(full(ServerTurn, numbers), stalls=len(stalls)), stalls=stalls)
    content = json.loads(json.dumps(report.to_json()))
    assert unset(content) == []
    assert TurnReport.from_json(content) == report
