"""What a server tells its metrics, and what it shows of the calls under way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from latency.record.turn import ServerTurn

CallState = Literal["listening", "answering", "speaking", "away"]
"""Whether a call's server listens, prepares an answer, speaks it, or waits for a client whose connection broke."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFigures:
    """What may be shown of a call under way: no words, and nothing that opens anything."""

    number: int
    """Of the server's calls, from 1."""
    seconds: float
    """Since it began."""
    state: CallState
    turns: int
    """How many the caller has had."""
    typed: int
    """How many of them were typed, not spoken; these have no latency."""
    late: int
    """Turns whose answer came later than people feel a pause."""
    p50: float | None
    """Seconds from the end of speech, as the voice detector heard it, to the first audio sent; None before any."""
    p95: float | None
    """The same; None for too few turns."""
    slowest: float | None
    answered_by: str | None
    """The tier and the model of the latest answer; None when no language model gave it."""


class CallMetrics(Protocol):
    """The metrics of one call."""

    def away(self, gone: bool) -> None:
        """Its client's connection has broken, or is there again."""

    def note(self, turn: ServerTurn) -> None:
        """A turn has changed; its instants are on the server's clock."""

    def missed(self) -> None:
        """An observer could not take what came, such as an odd value from a model."""


class ServerMetrics(Protocol):
    """The metrics of all calls."""

    def refused(self, kind: str) -> None:
        """A call was not taken; `kind` is one of a few words."""

    def began(self) -> CallMetrics:
        """A call was taken."""

    def ended(self, call: CallMetrics, why: str) -> None:
        """A call is over; `why` is a clause."""

    def under_way(self) -> Sequence[CallFigures]:
        """The calls under way, in the order in which they began."""

    def exposition(self) -> tuple[bytes, str]:
        """The figures of all calls in Prometheus's format, and its content type."""
