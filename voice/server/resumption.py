"""A WebSocket that outlives its connection: when that breaks, the call waits until the client connects again."""

import asyncio
import contextlib
import hmac
import json
import logging
import secrets
import time
from collections.abc import Callable, MutableMapping
from typing import Any

from fastapi import WebSocket
from pipecat.frames.protobufs import frames_pb2
from starlette.websockets import WebSocketDisconnect, WebSocketState

from voice.server.closing import CLOSE_WITHIN, STOPPED
from voice.wire.messages import ResumeMessage, to_rtvi
from voice.wire.resumption import Outbox

DROPPED = frozenset({None, 1005, 1006})
"""Close codes of a broken connection; a client that hangs up sends another one."""
AUDIO = b"\x12"
"""The first byte of a protobuf audio frame."""
MOST_UNREAD = 8
"""Messages read before the call takes them; uvicorn stops reading at that many."""
log = logging.getLogger(__name__)

Message = MutableMapping[str, Any]


class ResumableSocket:
    """Takes a WebSocket's place in pipecat's transport.

    While the client is away, `receive` waits and messages to it are kept; senders can wait for `present`.

    Args:
        within: seconds for which the call waits for its client to come back.
        may_wait: whether it may wait now.
    """

    def __init__(self, *, within: float, may_wait: Callable[[], bool]) -> None:
        self.token = secrets.token_urlsafe(32)
        self.present = asyncio.Event()
        """Set while the client is connected, and once the call is over."""
        self._came_or_went: Callable[[bool], None] = lambda _: None
        self.resent = range(0)
        """The numbers of the messages sent again, or late, at the client's latest return."""
        self.within, self._may_wait = within, may_wait
        self._socket: WebSocket | None = None
        self._outbox = Outbox()
        self._received = 0
        self._written = 0
        self._wrote, self._more = asyncio.Event(), asyncio.Event()
        self._incoming: asyncio.Queue[tuple[WebSocket | None, Message]] = asyncio.Queue(MOST_UNREAD)
        self._tasks: list[asyncio.Task[None]] = []
        self._left = asyncio.Event()
        self._attaching = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()
        self._away_since: float | None = None
        self._over = False

    @property
    def away(self) -> bool:
        """Whether the call waits for its client."""
        return self._away_since is not None and not self._over

    @property
    def client_state(self) -> WebSocketState:
        """Connected until the call is over."""
        return WebSocketState.DISCONNECTED if self._over else WebSocketState.CONNECTED

    @property
    def application_state(self) -> WebSocketState:
        """As `client_state`."""
        return self.client_state

    def watch(self, came_or_went: Callable[[bool], None]) -> None:
        """Call `changed` with False when the client has gone, and with True when it has come back."""
        self._came_or_went = came_or_went

    def is_for(self, token: str, received: int) -> bool:
        """Whether a client with this token that has received so many messages can resume the call.

        Tokens are compared in constant time.
        """
        known = hmac.compare_digest(self.token.encode(), token.encode(errors="replace"))
        return known and not self._over and self._outbox.reaches(received)

    async def attach(self, websocket: WebSocket, received: int = 0) -> None:
        """Continue on this accepted connection, and give up the older one.

        Args:
            websocket: the client's new connection.
            received: how many messages the client has received.
        """
        # Of several simultaneous connections, each replaces the one before.
        async with self._attaching:
            begins = self._socket is None and self._away_since is None
            await self._give_up()
            resume = ResumeMessage(token=self.token, within=self.within, received=self._received)
            self._socket, self._left = websocket, asyncio.Event()
            self._written = received
            self.resent = range(received + 1, self._outbox.count + 1)
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # reading reports a further loss
                await websocket.send_bytes(_packed(resume))
            self._tasks = [asyncio.create_task(self._read(websocket)), asyncio.create_task(self._write(websocket))]
            away, self._away_since = self._away_since, None
            self.present.set()
            if not begins:
                lost = "" if away is None else f" after {time.monotonic() - away:.1f} s"
                log.warning("a client is back%s; its call goes on", lost)
                self._came_or_went(True)

    async def until_left(self, websocket: WebSocket) -> None:
        """Wait until this attached connection is lost or closed, or the call is over."""
        while self._socket is websocket and not self._over:
            await self._left.wait()
        # The connection ends once this returns, so its client must be told why before.
        await asyncio.gather(*self._closing)

    def audio_resent(self) -> int:
        """How many audio messages were sent again, or late, at the client's latest return."""
        return sum((self._outbox.get(number) or b"")[:1] == AUDIO for number in self.resent)

    async def receive(self) -> Message:
        """The client's next message; a disconnect once it has hung up or failed to come back."""
        while True:
            try:
                async with asyncio.timeout(self.within if self.away else None):
                    socket, message = await self._incoming.get()
            except TimeoutError:
                if not self.away:
                    continue
                log.warning("a client did not come back within %g s; its call ends", self.within)
                self.end()
                return {"type": "websocket.disconnect", "code": 1006}
            if message["type"] != "websocket.disconnect":
                return message
            if socket is not self._socket:
                # It came from an abandoned connection.
                continue
            if self._over or message.get("code") not in DROPPED or not self._may_wait():
                self.end()
                return message
            self._lose()

    async def send_bytes(self, data: bytes) -> None:
        """Send a message; wait until it is written if the client is connected."""
        number = self._outbox.add(data)
        self._more.set()
        while self._socket is not None and not self._over and self._written < number:
            self._wrote.clear()
            await self._wrote.wait()

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        """End the call after all messages before it."""
        socket = self._socket
        if socket is not None and not self._over:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_WITHIN):
                    while self._socket is socket and self._written < self._outbox.count:
                        self._wrote.clear()
                        await self._wrote.wait()
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it is closed already
                await socket.close(code, reason)
        self.end()

    async def _read(self, socket: WebSocket) -> None:
        while True:
            message = await socket.receive()
            await self._incoming.put((socket, message))
            if message["type"] == "websocket.disconnect":
                return
            # Counted last, so that the client resends a message that was not passed on.
            self._received += 1

    async def _write(self, socket: WebSocket) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # reading reports it
            while True:
                data = self._outbox.get(self._written + 1)
                if data is None:
                    self._more.clear()
                    await self._more.wait()
                    continue
                await socket.send_bytes(data)
                self._written += 1
                self._wrote.set()

    def _lose(self) -> None:
        log.warning("the connection of a call was lost; the call waits %g s for its client", self.within)
        self._socket, self._away_since = None, time.monotonic()
        self.present.clear()
        for task in self._tasks:
            task.cancel()
        self._left.set()
        self._wrote.set()
        self._came_or_went(False)

    async def _give_up(self) -> None:
        """Stop reading and writing on the present connection."""
        socket, self._socket = self._socket, None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._left.set()
        self._wrote.set()
        if socket is not None:
            # Its client may have stopped reading, so nothing waits for it.
            closing = asyncio.create_task(_close(socket))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    def abandon(self) -> None:
        """Stop waiting for the client."""
        if self.away:
            self._incoming.put_nowait((None, {"type": "websocket.disconnect", "code": STOPPED}))

    def end(self) -> None:
        """Mark the call as over."""
        self._over = True
        for task in self._tasks:
            task.cancel()
        for event in (self.present, self._left, self._wrote):
            event.set()


async def _close(socket: WebSocket) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
        async with asyncio.timeout(CLOSE_WITHIN):
            await socket.close(1001, "the call goes on with another connection")


def _packed(message: ResumeMessage) -> bytes:
    frame = frames_pb2.Frame()
    frame.message.data = json.dumps(to_rtvi(message))
    return bytes(frame.SerializeToString())
