"""How a call is closed: the code and the reason that its client gets, and when a client counts as idle."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

CLOSE_REASON_BYTES = 123
"""Bytes of the reason with which a WebSocket is closed."""
CLOSE_WITHIN = 1.0
"""Seconds that a client may take to answer the closing handshake; the end of a call does not wait for it."""
STOPPED = 1012
"""Code with which a server that is stopped closes its connections, uvicorn's."""

FAILED = "the call cannot go on: the server failed, and its log says why"


@dataclass(frozen=True, slots=True)
class Closing:
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


@contextlib.asynccontextmanager
async def closed_at_end(websocket: WebSocket) -> AsyncIterator[None]:
    """Close a connection with 1011 where nothing else has: its server would drop it without a word (1006)."""
    try:
        yield
    finally:
        if WebSocketState.DISCONNECTED not in (websocket.application_state, websocket.client_state):
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it is closed already
                await websocket.close(1011, FAILED)


class IdleTransport(Protocol):
    """A call's transport, as far as it is watched here."""

    @property
    def last_message(self) -> float | None:
        """When the client sent something last, or came back; None while it is away and may come back."""

    async def end(self, reason: str) -> None:
        """End the call; `reason` is a clause."""


async def end_when_idle(transport: IdleTransport, within: float, clock: Callable[[], float] = time.monotonic) -> None:
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
