"""What the simulator saw: one record per request, above all whether and when the client cancelled it."""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Outcome = Literal["completed", "cancelled", "failed", "cut"]

log = logging.getLogger(__name__)
_LATEST = 10_000


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request. Times are in seconds on the simulator's clock, or None when it did not come to that.

    Parameters:
        number: counts requests from 1.
        wire: "chat" or "responses".
        model: what was served, such as "sim:sonnet".
        fault: the fault in force, or None.
        connection: which connection it came on, counted from 1.
        opened: it was the first on its connection, and paid for that.
        bytes_in: length of the request's body or message.
        warm_up: it asks for no answer.
        input_tokens: tokens of the conversation.
        cached_tokens: how many of them were in the cache.
        requested: when it had arrived.
        first_text: when its first text went out.
        ended: when it was over.
        tokens_sent: tokens that went out.
        outcome: how it ended; None while it runs. "cancelled" is the client's doing.
    """

    number: int
    wire: Literal["chat", "responses"]
    model: str
    fault: str | None
    connection: int
    opened: bool
    bytes_in: int
    requested: float
    warm_up: bool = False
    input_tokens: int | None = None
    cached_tokens: int | None = None
    first_text: float | None = None
    ended: float | None = None
    tokens_sent: int = 0
    outcome: Outcome | None = None


class Journal:
    """The latest requests, oldest first; every end is logged in a sentence."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._count = 0
        self.exchanges: deque[Exchange] = deque(maxlen=_LATEST)

    def begin(
        self,
        wire: Literal["chat", "responses"],
        model: str,
        *,
        fault: str | None,
        connection: int,
        opened: bool,
        bytes_in: int,
        warm_up: bool = False,
    ) -> Exchange:
        """A request has arrived."""
        self._count += 1
        exchange = Exchange(
            number=self._count,
            wire=wire,
            model=model,
            fault=fault,
            connection=connection,
            opened=opened,
            bytes_in=bytes_in,
            warm_up=warm_up,
            requested=self._clock(),
        )
        self.exchanges.append(exchange)
        return exchange

    def sent(self, exchange: Exchange, tokens: int) -> None:
        """Text went out."""
        if exchange.first_text is None:
            exchange.first_text = self._clock()
        exchange.tokens_sent += tokens

    def end(self, exchange: Exchange, outcome: Outcome) -> None:
        """A request is over; only its first end counts."""
        if exchange.outcome is not None:
            return
        exchange.ended, exchange.outcome = self._clock(), outcome
        what = "cancelled by the client" if outcome == "cancelled" else outcome
        log.info(
            "request %d, %s over %s, connection %d: %s %.0f ms after the request, %d tokens sent%s",
            exchange.number,
            exchange.model,
            exchange.wire,
            exchange.connection,
            what,
            1000 * (exchange.ended - exchange.requested),
            exchange.tokens_sent,
            f" (fault {exchange.fault})" if exchange.fault else "",
        )

    def as_json(self) -> list[dict[str, Any]]:
        """The records as plain values."""
        return [asdict(exchange) for exchange in self.exchanges]
