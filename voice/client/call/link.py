"""A call's connection to its server, which is made again when it breaks: every message arrives once, and in order."""

import asyncio
import time
from collections.abc import Callable

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

from voice.client.call.connection import LOST, close_reason, connect_call
from voice.errors import CallRefused, CallUnknown, ComponentError
from voice.wire import framing
from voice.wire.framing import Incoming
from voice.wire.messages import ResumeMessage
from voice.wire.resumption import Outbox

CONNECT_WITHIN = 3.0
"""Seconds that one attempt to connect again may take."""
REFUSED_FOR = 4.0
"""Seconds for which nobody may listen at the server's address: its process has ended, and the call with it."""
FIRST_WAIT, LONGEST_WAIT = 0.05, 1.0
"""Seconds after a failed attempt before the next one; the wait doubles from attempt to attempt."""


class CallOver(Exception):
    """There is no connection any more; the message says why, as a clause."""


class Link:
    """The connection of one call; open it first.

    Servers that say how their calls are taken up again (`ResumeMessage`) are connected to again.

    Args:
        url: see `voice.client.call.connection.check_url`.
        sample_rate: the rate that the bot's audio should have: hertz, or `native`.
        lost: called when the connection has broken and is made again.
        resumed: called when it has been.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        url: str,
        *,
        sample_rate: int | str,
        lost: Callable[[], None] = lambda: None,
        resumed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url, self._sample_rate = url, sample_rate
        self._lost, self._resumed, self._clock = lost, resumed, clock
        self._socket: ClientConnection | None = None
        self._resume: ResumeMessage | None = None
        self._outbox = Outbox()
        self._received = 0
        self._away = False
        self._heard = clock()
        self.over: str | None = None
        """Why there is no connection any more; None while there is one, or one is made."""

    async def open(self) -> None:
        """Connect.

        Raises:
            CallRefused: the server takes no more calls now.
            ComponentError: the server cannot be reached or refuses the call for another reason.
        """
        self._socket = await connect_call(self._url, sample_rate=self._sample_rate)

    async def send(self, data: bytes) -> None:
        """Send a message; while the connection is made again, it waits to be sent.

        Raises:
            CallOver: there is no connection any more.
        """
        if self.over is not None:
            raise CallOver(self.over)
        self._outbox.add(data)
        if self._away:
            return
        try:
            await self._connected.send(data)
        except ConnectionClosed:
            if not self._resumable:
                raise CallOver(close_reason(self._connected)) from None

    async def receive(self) -> Incoming:
        """The server's next message.

        Raises:
            CallOver: there is no connection any more.
            WireError: the server sent something that is not this protocol.
        """
        while True:
            try:
                data = await self._connected.recv()
            except ConnectionClosed:
                if not self._resumable:
                    self.over = close_reason(self._connected)
                    raise CallOver(self.over) from None
                await self._take_up()
                continue
            self._heard = self._clock()
            incoming = framing.decode(data)
            if not isinstance(incoming, ResumeMessage):
                self._received += 1
                return incoming
            self._resume = incoming

    async def close(self) -> None:
        """Hang up."""
        self.over = self.over or "the client hung up"
        if self._socket is not None:
            await self._socket.close()

    def cut(self) -> None:
        """Break the connection without a word to the server, as a network does; it is made again."""
        if not self._away and self.over is None:
            self._connected.transport.abort()

    @property
    def away(self) -> bool:
        """Whether the connection is being made again."""
        return self._away

    def check(self, patience: float) -> None:
        """Give the connection up if nothing has come for so many seconds, and make it again."""
        if not self._away and self._resumable and self._clock() - self._heard > patience:
            self._connected.transport.abort()

    @property
    def refused(self) -> str | None:
        """Why the server takes no call now; None if that is not how the connection ended."""
        if self._connected.close_code != CloseCode.TRY_AGAIN_LATER:
            return None
        return self._connected.close_reason or "it takes no more calls now"

    @property
    def _connected(self) -> ClientConnection:
        assert self._socket is not None
        return self._socket

    @property
    def _resumable(self) -> bool:
        """Whether the connection broke, rather than being closed, and the call can be taken up again."""
        return self._resume is not None and self.over is None and self._connected.close_code in (None, 1006)

    async def _take_up(self) -> None:
        """Connect again, and send what the server has not received.

        Raises:
            CallOver: the server was not reached in time, or has ended the call.
        """
        resume = self._resume
        assert resume is not None
        self._away = True
        self._lost()
        began, wait, listened = self._clock(), FIRST_WAIT, self._clock()
        while True:
            try:
                if await self._attempt(resume):
                    break
            except (CallRefused, CallUnknown) as error:
                raise self._given_up(str(error.reason)) from error
            except ComponentError as error:
                now = self._clock()
                if not isinstance(error.__cause__, ConnectionRefusedError):
                    listened = now
                if now - listened > REFUSED_FOR:
                    self.over = LOST
                    raise CallOver(LOST) from error
                if now + wait >= began + resume.within:
                    raise self._given_up(f"the server was not reached within {resume.within:g} s") from error
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)
        self._resumed()

    async def _attempt(self, resume: ResumeMessage) -> bool:
        """Connect once; returns whether the call goes on."""
        try:
            async with asyncio.timeout(CONNECT_WITHIN):
                socket = await connect_call(
                    self._url, sample_rate=self._sample_rate, resume=(resume.token, self._received)
                )
                where = framing.decode(await socket.recv())
        except (ConnectionClosed, TimeoutError) as error:
            raise ComponentError("the connection broke again") from error
        if not isinstance(where, ResumeMessage) or not self._outbox.reaches(where.received):
            await socket.close()
            raise CallUnknown(self._url, "the server does not know what it has received")
        self._socket, self._resume, self._heard = socket, where, self._clock()
        position = where.received
        try:
            while (data := self._outbox.get(position + 1)) is not None:
                await socket.send(data)
                position += 1
        except ConnectionClosed:
            return False
        self._away = False
        return True

    def _given_up(self, reason: str) -> CallOver:
        self.over = f"{LOST}, and the call cannot be taken up again: {reason}"
        return CallOver(self.over)
