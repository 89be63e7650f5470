"""How a call is closed: the code and the reason sent to the client, and the limit for idle clients."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

CLOSE_REASON_BYTES = 123
"""The most bytes of a WebSocket's close reason."""
CLOSE_WITHIN = 1.0
"""Seconds that a client has to answer the closing handshake; the end of a call does not wait for it."""
STOPPED = 1012
"""Code with which a server that is stopped closes its connections, uvicorn's."""

FAILED = "the call cannot go on: the server failed, and its log says why"


@dataclass(frozen=True, slots=True)
class Closing:
    """How a call is closed by the server."""

    code: int
    """The WebSocket close code."""
    reason: str
    """The reason, a clause."""
    kind: Literal["refused", "given up"]
    """Whether the client broke the rules, or the call failed."""


def shortened(reason: str) -> str:
    """The reason in at most `CLOSE_REASON_BYTES` of UTF-8; a longer one is cut between words and ends in "…"."""
    encoded = reason.encode()
    if len(encoded) <= CLOSE_REASON_BYTES:
        return reason
    # One byte beyond the space before the "…" shows whether the last word is whole.
    room = CLOSE_REASON_BYTES - len("…".encode())
    kept = encoded[: room + 1].decode(errors="ignore")
    return (kept.rpartition(" ")[0] or encoded[:room].decode(errors="ignore")).rstrip(" ,;:") + "…"


@contextlib.asynccontextmanager
async def closed_at_end(websocket: WebSocket) -> AsyncIterator[None]:
    """Close a connection with 1011 if nothing else has; otherwise the client would see 1006, without a reason."""
    try:
        yield
    finally:
        if WebSocketState.DISCONNECTED not in (websocket.application_state, websocket.client_state):
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it is closed already
                await websocket.close(1011, FAILED)


class IdleTransport(Protocol):
    """The part of a call's transport that is watched here."""

    @property
    def last_message(self) -> float | None:
        """When the client last sent something or came back; None while it is away and may come back."""

    async def end(self, reason: str) -> None:
        """End the call; `reason` is a clause."""


async def end_when_idle(transport: IdleTransport, within: float, clock: Callable[[], float] = time.monotonic) -> None:
    """End the call once its client has sent nothing for `within` seconds; 0 for never.

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
