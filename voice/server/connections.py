"""Bounds on a server's connections: how many there are, how long they may say nothing, and how slowly they may read.

uvicorn has no settings for these. A client that connects and sends no request would be kept for ever, one that never
reads would fill the memory, and a server without free descriptors would log a traceback for each waiting connection.
"""

import asyncio
import logging
import resource
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from voice.server.access import is_local_address
from voice.server.closing import STOPPED

REQUEST_WITHIN = 10.0
"""Seconds from connecting to a whole request."""
READ_WITHIN = 5.0
"""Seconds for which a client may read nothing while audio waits for it: more than any jitter buffer holds."""
MOST_UNREAD = 1 << 20
"""Bytes that may wait for a client; pongs are written without waiting for it."""
DESCRIPTORS_OF_A_CALL = 4
MOST_WAITING = 64
"""Messages of a client that may wait to be handled before its socket is not read: a second of audio."""
SAID_EVERY = 10.0
"""Seconds between two warnings that connections are refused."""
log = logging.getLogger(__name__)


def most_connections() -> int:
    """How many connections leave enough descriptors for calls: a quarter of those that the process may open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(soft, 4096) // DESCRIPTORS_OF_A_CALL)


class TolerantHTTP(H11Protocol):
    """HTTP connections that a broken request ends, whatever has been answered on them before."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what came; where an answer is under way or was the last one, uvicorn would raise an error."""
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:
            self.transport.close()
        if self.cycle is not None:
            # What still answers the request whose body broke has nobody to answer.
            self.cycle.disconnected = True
            self.cycle.message_event.set()


class TolerantWebSocket(WebSocketsSansIOProtocol):
    """WebSockets whose handshake may be one that uvicorn takes for a request, and `websockets` does not."""

    def shutdown(self) -> None:
        """The server ends: tell the client so, where uvicorn would give the code alone."""
        if self.handshake_complete and not self.close_sent:
            self.queue.put_nowait({"type": "websocket.disconnect", "code": STOPPED})
            self.conn.send_close(STOPPED, "the server was stopped")
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
        super().shutdown()

    def handle_parser_exception(self) -> None:
        """Refuse a broken handshake, such as one with a long line; a broken frame is refused by `websockets`."""
        if self.conn.close_sent is not None:
            super().handle_parser_exception()
            return
        self.close_sent = True
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        self.transport.close()


class BoundedHTTP(TolerantHTTP):
    """HTTP connections, each with a whole request in time.

    There are at most `most_connections`, and at most half as many from one other machine, so that it does not keep
    everybody else out.
    """

    _patience: asyncio.TimerHandle | None = None
    _quiet_until = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and wait for its request."""
        super().connection_made(transport)
        if refused := self._refused():
            self._say(refused)
            transport.abort()
            return
        self._patience = self.loop.call_later(REQUEST_WITHIN, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """The request came, and the connection becomes a call."""
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def _refused(self) -> str | None:
        """Why this connection is one too many; None when it is not."""
        most, others = most_connections(), len(self.connections) - 1
        if others >= most:
            return f"{others} are open"
        address = self.client[0] if self.client else None
        if others < most // 2 or address is None or is_local_address(address):
            return None
        bounded = (one for one in self.connections if isinstance(one, BoundedHTTP | BoundedWebSocket))
        of_one = sum(one.client is not None and one.client[0] == address for one in bounded) - 1
        return f"{of_one} from {address} are open" if of_one >= most // 2 else None

    def _say(self, why: str) -> None:
        if self.loop.time() >= BoundedHTTP._quiet_until:
            BoundedHTTP._quiet_until = self.loop.time() + SAID_EVERY
            log.warning("connections are refused: %s", why)

    def on_response_complete(self) -> None:
        """The next request has to come in time, too."""
        super().on_response_complete()
        self._stop_waiting()
        self._patience = self.loop.call_later(REQUEST_WITHIN, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


class BoundedWebSocket(TolerantWebSocket):
    """WebSockets whose client reads what it is sent.

    uvicorn stops reading a socket after each message until it has been handled, which takes two calls of the system;
    here it stops when `MOST_WAITING` messages wait.
    """

    _unread: asyncio.TimerHandle | None = None
    _paused = False

    @property
    def read_paused(self) -> bool:
        """Whether uvicorn should leave reading as it is: nothing is read, or more may wait."""
        return self._paused or self.queue.qsize() < MOST_WAITING

    @read_paused.setter
    def read_paused(self, paused: bool) -> None:
        self._paused = paused

    async def send(self, message: Any) -> None:
        """Send what the application says; a refusal completes the handshake, which uvicorn would log as an error."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True

    def pause_writing(self) -> None:
        """More waits for the client than the socket takes."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(READ_WITHIN, self._cut)

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_ping(self) -> None:
        """Answer a ping, unless the client does not read the answers."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MOST_UNREAD:
            self._cut()

    def _cut(self) -> None:
        log.warning("a call was cut off: its client does not read what it is sent")
        self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
