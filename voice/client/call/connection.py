"""The WebSocket connection of a call, which is restored when it breaks.

Every message arrives once and in order, across all connections.
"""

import asyncio
import json
import os
import ssl
import time
from collections import deque
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.frames import CLOSE_CODE_EXPLANATIONS, CloseCode

from voice.client.call.agent_call import AgentCall, CallOver
from voice.client.sound.pcm import Pcm
from voice.environment import proxy_for, read_key
from voice.errors import CallRefused, CallUnknown, ComponentError, ConfigurationError
from voice.redirects import DirectConnection, Redirected
from voice.wire import framing
from voice.wire.endpoint import CALL_PATH, NATIVE, TOKEN_VARIABLE, with_ducking, with_rate, with_resuming
from voice.wire.framing import Incoming
from voice.wire.messages import BotReady, ClientReady, ResumeMessage
from voice.wire.resumption import RECEIVED_HEADER, RESUME_HEADER, Outbox

HANG_UP_WITHIN = 0.5
"""Seconds that a server may take to answer the closing handshake; hanging up does not wait for a stuck server."""

TRY_LATER = (429, 503)
"""HTTP statuses of a server that takes no more calls now."""
UNKNOWN = (401, 403, 404, 410)
"""HTTP statuses of a server that does not resume a call."""
LOST = "the connection to the server was lost"


def check_url(url: str) -> None:
    """Check that a call can be made to the address.

    Raises:
        ConfigurationError: it is not a WebSocket address.
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0 and not parts.fragment
    except ValueError:  # a port that is not a number, or an unmatched bracket
        is_address = False
    if not is_address:
        raise ConfigurationError(f'"{url}" is not a WebSocket address; use ws://host:port{CALL_PATH}.')


async def connect_call(url: str, *, sample_rate: int | str, resume: tuple[str, int] | None = None) -> ClientConnection:
    """Open the connection of a call to a pipecat server.

    Args:
        url: see `check_url`.
        sample_rate: the rate that the bot's audio should have, in hertz or `native`, unless the URL names one.
        resume: the token of a call whose connection broke, and the number of server messages received.

    Raises:
        CallUnknown: the server has no such call to take up again.
        CallRefused, ComponentError: see `open_socket`.
    """
    where = {} if resume is None else {RESUME_HEADER: resume[0], RECEIVED_HEADER: str(resume[1])}
    dialled = with_resuming(with_ducking(with_rate(url, sample_rate)))
    try:
        return await open_socket(url, credentials() | where, dialled=dialled)
    except ComponentError as error:
        cause = error.__cause__
        if resume is not None and isinstance(cause, InvalidStatus) and cause.response.status_code in UNKNOWN:
            raise CallUnknown(url, _said(cause) or f"HTTP {cause.response.status_code}") from cause
        raise


async def open_socket(url: str, headers: Mapping[str, str], *, dialled: str | None = None) -> ClientConnection:
    """Open a WebSocket.

    Args:
        url: see `check_url`.
        headers: of the request, with credentials.
        dialled: `url` with further parameters.

    Raises:
        CallRefused: the server takes no more calls now.
        ComponentError: the server cannot be reached or refuses the call for another reason.
    """
    dialled = dialled or url
    # asyncio sets TCP_NODELAY by itself, so frames are not held back to be sent together.
    try:
        return await connect(
            dialled,
            create_connection=DirectConnection,
            compression=None,
            max_size=None,
            ping_interval=None,
            close_timeout=HANG_UP_WITHIN,
            proxy=proxy_for(dialled),
            additional_headers=headers,
        )
    except Redirected as error:
        raise ComponentError(f"{url} {error}.") from error
    except InvalidStatus as error:
        said, status = _said(error), error.response.status_code
        if status in TRY_LATER:
            raise CallRefused(url, said or f"HTTP {status}") from error
        raise ComponentError(f"{url} refused the call with HTTP {status}{f': {said}' if said else ''}.") from error
    except TimeoutError as error:
        raise ComponentError(f"{url} did not answer within 10 s; is the server running?") from error
    except (OSError, UnicodeError, WebSocketException) as error:  # UnicodeError: an impossible host name
        if dialled.startswith("wss:") and _is_without_tls(error):
            raise ComponentError(f"{url} does not answer in TLS; use ws:// for a server without TLS.") from error
        why = str(error) or type(error).__name__
        raise ComponentError(f"{url} cannot be reached ({why}); is the server running there?") from error


def _is_without_tls(error: Exception) -> bool:
    """Whether an attempt to agree on TLS failed because the server answered something else, or hung up."""
    # asyncio gives no reason when the other end closes the connection meanwhile.
    is_closed = isinstance(error, ConnectionResetError) and not str(error)
    return is_closed or (isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER")


def _said(refusal: InvalidStatus) -> str:
    """The server's reason for a refusal; empty without one."""
    body = (refusal.response.body or b"").decode(errors="replace").strip()
    try:
        error = json.loads(body)["error"]
        return str(error.get("message", error) if isinstance(error, dict) else error).rstrip(".")[:200]
    except (ValueError, KeyError, TypeError):
        return body[:200]


AGENT_ENDED = "the agent ended the call"
"""The reason for a call's end by the agent, as after a goodbye."""


def credentials() -> dict[str, str]:
    """The headers for authentication: the token in `VOICE_TOKEN`, if there is one.

    Raises:
        ConfigurationError: no header can carry the token.
    """
    token = read_key(TOKEN_VARIABLE, spaces=True) if os.environ.get(TOKEN_VARIABLE) else None
    return {"Authorization": f"Bearer {token}"} if token else {}


def close_reason(socket: ClientConnection) -> str:
    """Why the server closed the connection, a clause."""
    if socket.close_code is None or socket.close_code == 1006:
        return LOST
    if socket.close_code == CloseCode.NORMAL_CLOSURE and not socket.close_reason:
        return AGENT_ENDED
    reason = socket.close_reason or CLOSE_CODE_EXPLANATIONS.get(socket.close_code)
    return f"the server closed the call ({socket.close_code}{f': {reason}' if reason else ''})"


CONNECT_WITHIN = 3.0
"""Seconds that one attempt to connect again may take."""
REFUSED_FOR = 4.0
"""Seconds without a listener at the server's address after which its process, and the call, have ended."""
FIRST_WAIT, LONGEST_WAIT = 0.05, 1.0
"""Seconds after a failed attempt before the next one; the wait doubles from attempt to attempt."""


class CallConnection:
    """The connection of one call; open it first.

    Reconnects to servers that support resumption (`ResumeMessage`).

    Args:
        url: see `voice.client.call.connection.check_url`.
        sample_rate: the rate that the bot's audio should have: hertz, or `native`.
        lost: called when the connection has broken and is made again.
        resumed: called when it has been.
        clock: seconds, monotonic.

    Raises:
        ConfigurationError: the URL is not a WebSocket address.
    """

    def __init__(
        self,
        url: str,
        *,
        sample_rate: int | str = NATIVE,
        lost: Callable[[], None] = lambda: None,
        resumed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_url(url)
        self._url, self._sample_rate = url, sample_rate
        self._lost, self._resumed, self._clock = lost, resumed, clock
        self._socket: ClientConnection | None = None
        self._resume: ResumeMessage | None = None
        self._outbox = Outbox()
        self._received = 0
        self._away = False
        self._heard = clock()
        self._early: deque[Incoming] = deque()
        self.over: str | None = None
        """Why the connection is gone for good; None while it exists or is being restored."""

    async def open(self) -> None:
        """Connect.

        Raises:
            CallRefused: the server takes no more calls now.
            ComponentError: the server cannot be reached or refuses the call for another reason.
        """
        self._socket = await connect_call(self._url, sample_rate=self._sample_rate)

    async def send(self, data: bytes) -> None:
        """Send a message; while the connection is being restored, it is queued.

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
        if self._early:
            return self._early.popleft()
        return await self._next()

    async def _next(self) -> Incoming:
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
        """Break the connection without telling the server, as a network does; it is then restored."""
        if self._socket is not None and not self._away and self.over is None:
            self._socket.transport.abort()

    @property
    def away(self) -> bool:
        """Whether the connection is being restored."""
        return self._away

    def check(self, patience: float) -> None:
        """Give up the connection if nothing has arrived for so many seconds, and restore it."""
        if not self._away and self._resumable and self._clock() - self._heard > patience:
            self._connected.transport.abort()

    @property
    def refused(self) -> str | None:
        """Why the server takes no call now; None if the connection ended otherwise."""
        if self._connected.close_code != CloseCode.TRY_AGAIN_LATER:
            return None
        return self._connected.close_reason or "it takes no more calls now"

    @property
    def _connected(self) -> ClientConnection:
        assert self._socket is not None
        return self._socket

    @property
    def _resumable(self) -> bool:
        """Whether the connection broke, rather than being closed, and the call can be resumed."""
        return self._resume is not None and self.over is None and self._connected.close_code in (None, 1006)

    async def _take_up(self) -> None:
        """Connect again, and send the messages that the server has not received.

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


READY_WITHIN = 5.0
"""Seconds that the server may take from the handshake's first message to `bot-ready`."""


class PipecatCall(CallConnection, AgentCall):
    """A call to a pipecat server, by its protobuf frames and RTVI messages."""

    async def open(self) -> None:
        """Connect, announce the client and wait until the bot is ready."""
        await super().open()
        try:
            await self.send(framing.encode(ClientReady()))
            async with asyncio.timeout(READY_WITHIN):
                while not isinstance(incoming := await self._next(), BotReady):
                    self._early.append(incoming)
        except TimeoutError:
            raise ComponentError(
                f"{self._url} answered, but its bot was not ready within {READY_WITHIN:g} s; does it speak pipecat's "
                "protocol? If so, see its log."
            ) from None
        except CallOver as over:
            if self.refused is not None:
                raise CallRefused(self._url, self.refused) from None
            raise ComponentError(f"{self._url} ended the call before its bot was ready: {over}.") from None

    async def send_audio(self, pcm: Pcm) -> None:
        """Send the user's next samples; while the connection is being restored, they are queued."""
        await self.send(framing.encode_audio(pcm))
