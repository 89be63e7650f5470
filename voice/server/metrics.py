"""The interface of a server's metrics, and the figures shown for each call under way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from latency.record.turn import ServerTurn

CallState = Literal["listening", "answering", "speaking", "away"]
"""The state of a call: the agent listens, prepares an answer or speaks, or the client's connection is broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFigures:
    """The public figures of a call under way: no words, no tokens."""

    number: int
    """The call's number on this server, from 1."""
    seconds: float
    """Seconds since the call began."""
    state: CallState
    turns: int
    """The number of turns."""
    typed: int
    """How many turns were typed, not spoken; these have no latency."""
    late: int
    """Turns whose answer came so late that people notice the pause."""
    p50: float | None
    """Median seconds from the end of speech, by the voice detector, to the first audio sent; None before the first."""
    p95: float | None
    """The 95th percentile; None for too few turns."""
    slowest: float | None
    answered_by: str | None
    """The tier and the model of the latest answer; None when no language model gave it."""


class CallMetrics(Protocol):
    """The metrics of one call."""

    def away(self, gone: bool) -> None:
        """Note that the client's connection broke, or was restored."""

    def note(self, turn: ServerTurn) -> None:
        """Note a changed turn; its instants are on the server's clock."""

    def missed(self) -> None:
        """Count an event that an observer could not take, such as an odd value from a model."""


class ServerMetrics(Protocol):
    """The metrics of all calls."""

    def refused(self, kind: str) -> None:
        """Count a refused call; `kind` is one of a few words."""

    def began(self) -> CallMetrics:
        """Count an accepted call."""

    def ended(self, call: CallMetrics, why: str) -> None:
        """Count a finished call; `why` is a clause."""

    def under_way(self) -> Sequence[CallFigures]:
        """The calls under way, in the order in which they began."""

    def exposition(self) -> tuple[bytes, str]:
        """The figures of all calls in Prometheus's format, and its content type."""
