"""How a server closes a call: a code, a reason that fits a WebSocket's close message; and when its client is idle."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

CLOSE_REASON_BYTES = 123
"""Bytes of the reason with which a WebSocket is closed."""
CLOSE_WITHIN = 1.0
"""Seconds that a client may take to answer the closing handshake; the end of a call does not wait for it."""
IDLE = 60.0
"""Seconds without a message from the client after which its call is closed, unless it is set."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call is closed by the server."""

    code: int
    """Of WebSocket."""
    reason: str
    """A clause."""
    kind: Literal["refused", "given up"]
    """Whether it is for what the client sent, or because the call could not go on."""


def shortened(reason: str) -> str:
    """A reason that fits `CLOSE_REASON_BYTES` of UTF-8; a longer one is cut between words and ends in "…"."""
    encoded = reason.encode()
    if len(encoded) <= CLOSE_REASON_BYTES:
        return reason
    # The byte after the room for the "…" shows whether the last word is whole.
    room = CLOSE_REASON_BYTES - len("…".encode())
    kept = encoded[: room + 1].decode(errors="ignore")
    return (kept.rpartition(" ")[0] or encoded[:room].decode(errors="ignore")).rstrip(" ,;:") + "…"


class Idling(Protocol):
    """A call's transport, as far as it is watched here."""

    @property
    def last_message(self) -> float | None:
        """When the client sent something last, or came back; None while it is away and may come back."""

    async def end(self, reason: str) -> None:
        """End the call; `reason` is a clause."""


async def end_when_idle(transport: Idling, within: float, clock: Callable[[], float] = time.monotonic) -> None:
    """End the call once its client has sent nothing for `within` seconds; 0 never does.

    Args:
        transport: the call's.
        within: seconds.
        clock: that of `last_message`.
    """
    if not within:
        return
    while True:
        last = transport.last_message
        remaining = within if last is None else last + within - clock()
        if remaining <= 0:
            break
        await asyncio.sleep(remaining)
    await transport.end(f"the client has sent nothing for {within:g} s, not even silence")
