"""Times in which the server's event loop served nobody, as its turns report them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args

Kind = Literal["event loop", "garbage collection"]
SHORTEST_MS = 20.0
"""A shorter delay of the event loop is not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """One such time of at least 20 ms."""

    at: float
    """When it began, seconds on the recording's clock."""
    ms: float
    kind: Kind

    def to_json(self) -> dict[str, Any]:
        """The stall as a turn's line holds it."""
        return asdict(self)

    @classmethod
    def all_of(cls, entries: Iterable[Mapping[str, Any]]) -> "tuple[Stall, ...]":
        """Read the stalls of a turn's line.

        Raises:
            ValueError: An entry that is no stall.
        """
        found = []
        for entry in entries:
            try:
                at, ms, kind = float(entry["at"]), float(entry["ms"]), entry["kind"]
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"a stall has at, ms and kind, not {entry!r}") from error
            if kind not in get_args(Kind):
                raise ValueError(f"the kind of a stall is {' or '.join(get_args(Kind))}, not {kind!r}")
            found.append(cls(at=at, ms=ms, kind=cast(Kind, kind)))
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStall(Stall):
    """A stall and when in the conversation it was."""

    session: str
    turn: int | None
    """The turn that had begun and was not followed by the next one; None before the first."""
