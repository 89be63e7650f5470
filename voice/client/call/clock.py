"""Aligns the server's monotonic clock with the client's by ping exchanges. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

PINGS = 8
"""Exchanges when the call begins: with fewer, a single delayed one can decide the offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockExchange:
    """One ping and its answer; instants are seconds on the client's clock, except `server`."""

    sent: float
    received: float
    server: float
    """The server's clock when it answered."""

    def __post_init__(self) -> None:
        if self.received < self.sent:
            raise ValueError("a ping was answered before it was sent")

    @property
    def rtt(self) -> float:
        """Round trip, seconds."""
        return self.received - self.sent

    @property
    def offset(self) -> float:
        """Server's clock minus client's in seconds, assuming that both ways took equally long."""
        return self.server - (self.sent + self.received) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredAlignment:
    """The server's clock minus the client's, as the exchange with the shortest round trip shows it."""

    offset: float
    """Seconds."""
    rtt: float
    """Round trip of that exchange, seconds; half of it bounds the error."""
    pings: int
    """Number of exchanges that it was chosen from."""

    @classmethod
    def of(cls, exchanges: Iterable[ClockExchange]) -> "MeasuredAlignment | None":
        """The best alignment the exchanges allow; None when there are none."""
        known = list(exchanges)
        if not known:
            return None
        best = min(known, key=lambda exchange: exchange.rtt)
        return cls(offset=best.offset, rtt=best.rtt, pings=len(known))

    def to_client(self, server_time: float) -> float:
        """Convert an instant from the server's clock to the client's."""
        return server_time - self.offset
