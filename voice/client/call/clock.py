"""Aligns the server's monotonic clock with the client's by ping exchanges. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from latency.record.session import ClockAlignment

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


def aligned(exchanges: Iterable[ClockExchange]) -> ClockAlignment | None:
    """The best alignment that the exchanges allow; None when there are none."""
    known = list(exchanges)
    if not known:
        return None
    best = min(known, key=lambda exchange: exchange.rtt)
    return ClockAlignment(offset=best.offset, rtt=best.rtt, pings=len(known))
