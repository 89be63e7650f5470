"""Moving a record from one clock to another: every instant in it, found by its type.

A field of type `Instant` is an instant, and so is every value of `Marks`; records inside records are moved too. A field
that is added to a record needs no entry anywhere else.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, get_type_hints

from latency.record.marks import Marks
from latency.record.units import EarlierInstant, Instant

Record = TypeVar("Record")
Convert = Callable[[float], float | None]
"""An instant on one clock to the same instant on another, seconds; None when that is not known."""


def moved(record: Record, convert: Convert) -> Record:
    """A copy of a record on another clock; instants that cannot be converted are unknown in it."""
    return _moved(record, convert)  # type: ignore[no-any-return]


def _moved(value: Any, convert: Convert) -> Any:
    if isinstance(value, Marks):
        known = ((mark, convert(at)) for mark, at in value.items())
        return Marks({mark: at for mark, at in known if at is not None})
    if isinstance(value, tuple):
        return tuple(_moved(item, convert) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    instants = _instants_of(type(value))
    changes = {}
    for field in fields(value):
        found = getattr(value, field.name)
        if field.name not in instants:
            changes[field.name] = _moved(found, convert)
        elif found is not None:
            changes[field.name] = convert(found)
    return replace(value, **changes)


@cache
def _instants_of(kind: type) -> frozenset[str]:
    hints = get_type_hints(kind, include_extras=True)
    kinds = (Instant, Instant | None, EarlierInstant)
    return frozenset(name for name, hint in hints.items() if hint in kinds)
