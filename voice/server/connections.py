"""Connections of a server, with limits for silence, slow reading and the amount of input.

uvicorn has no such settings. It would keep a client without a request for ever, fill the memory for one that never
reads, and let one that sends without end block the event loop.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from voice.server import limits
from voice.server.authentication import is_local_address
from voice.server.closing import STOPPED
from voice.server.limits import Bucket, most_connections

SAID_EVERY = 10.0
"""Seconds between two warnings that connections are refused."""
SLICE = 2048
"""Bytes parsed before their contents are checked: some 300 of the smallest frames."""
log = logging.getLogger(__name__)


class TolerantHTTP(H11Protocol):
    """HTTP connections that close on a broken request, even after earlier answers."""

    def send_400_response(self, msg: str) -> None:
        """Refuse a broken request; during or after the last answer, uvicorn would raise an error."""
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:
            self.transport.close()
        if self.cycle is not None:
            # A handler that is still answering the broken request has no client any more.
            self.cycle.disconnected = True
            self.cycle.message_event.set()


class TolerantWebSocket(WebSocketsSansIOProtocol):
    """WebSockets that survive a handshake which uvicorn accepts as a request and `websockets` does not."""

    def shutdown(self) -> None:
        """Tell the client that the server ends; uvicorn would send only the code."""
        if self.handshake_complete and not self.close_sent:
            self.queue.put_nowait({"type": "websocket.disconnect", "code": STOPPED})
            self.conn.send_close(STOPPED, "the server was stopped")
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
        super().shutdown()

    def handle_parser_exception(self) -> None:
        """Refuse a broken handshake, such as one with a long line; `websockets` refuses broken frames."""
        if self.conn.close_sent is not None:
            super().handle_parser_exception()
            return
        self.close_sent = True
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        self.transport.close()


class RequestReader(h11.Connection):
    """Reads requests, and refuses bodies larger than any address of the server needs."""

    def next_event(self) -> Any:
        """The next event.

        Raises:
            h11.RemoteProtocolError: the request is broken, or its body may be too long.
        """
        event = super().next_event()
        if isinstance(event, h11.Request):
            for name, value in event.headers:
                # Each chunk of a body is an event, even one of a single byte.
                if name == b"transfer-encoding" or (name == b"content-length" and int(value) > limits.LARGEST_BODY):
                    self._process_error(self.their_role)
                    raise h11.RemoteProtocolError("the body is too large, or chunked", error_status_hint=413)
        return event


class BoundedHTTP(TolerantHTTP):
    """HTTP connections with a time limit for each request, and one request at a time.

    There are at most `most_connections`, and at most half as many from one other machine, so that it cannot lock out
    everyone else. Further requests on a connection queue with those of all clients.
    """

    _patience: asyncio.TimerHandle | None = None
    _quiet_until = 0.0

    def __init__(self, *args: Any, opened: Bucket | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn = RequestReader(h11.SERVER, limits.LARGEST_HEAD)
        self._opened = opened or Bucket(limits.OPENED)
        self._may_begin = True
        self._head = self._lines = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and wait for its request."""
        super().connection_made(transport)
        # Input that asyncio has read is parsed without a pause.
        transport.max_size = limits.READ_BYTES  # type: ignore[attr-defined]
        if refused := self._refused():
            self._say(refused)
            transport.abort()
            return
        self._patience = self.loop.call_later(limits.REQUEST_WITHIN, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Read on, unless a request's head is too large; further requests wait for their turn."""
        if self.conn.their_state is h11.IDLE:
            head = data.partition(b"\r\n\r\n")[0]
            self._head, self._lines = self._head + len(head), self._lines + head.count(b"\n")
            if (
                self._head > limits.LARGEST_HEAD
                or self._lines > limits.MOST_HEADERS
                or len(data) > limits.LARGEST_HEAD + limits.LARGEST_BODY
            ):
                self._say("a request has too many headers, or too long ones")
                self.transport.write(b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\r\n")
                self.transport.close()
                return
            if not self._may_begin:
                self._may_begin = True
                if wait := self._opened.wait(self.loop.time()):
                    self.transport.pause_reading()
                    self.loop.call_later(wait, self._go_on, data)
                    return
        super().data_received(data)

    def _go_on(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.resume_reading()
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """The request is a handshake: the connection becomes a call."""
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def _refused(self) -> str | None:
        """Why this connection is one too many; None if it is not."""
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
        """Start the time limit for the next request; one that did not wait for this answer gets none."""
        self._may_begin, self._head, self._lines = False, 0, 0
        if self.conn.trailing_data[0]:
            self.transport.close()
        super().on_response_complete()
        self._stop_waiting()
        self._patience = self.loop.call_later(limits.REQUEST_WITHIN, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


class BoundedWebSocket(TolerantWebSocket):
    """WebSockets with limits for unread output and for the rate of frames.

    A client that exceeds them is told so and dropped. uvicorn pauses reading after each message, which takes two system
    calls; here it pauses when `MOST_WAITING` messages wait.
    """

    _unread: asyncio.TimerHandle | None = None
    _paused = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._frames = Bucket(limits.FRAMES)
        self._controls = Bucket(limits.CONTROLS)

    def data_received(self, data: bytes) -> None:
        """Read on until something is refused."""
        for start in range(0, len(data), SLICE):
            if self.transport.is_closing():
                break
            super().data_received(data[start : start + SLICE])

    def handle_text(self, event: Any) -> None:
        """A message of text, or its first fragment."""
        self._bounded(super().handle_text, event)

    def handle_bytes(self, event: Any) -> None:
        """A message, or its first fragment."""
        self._bounded(super().handle_bytes, event)

    def handle_cont(self, event: Any) -> None:
        """A further fragment of a message."""
        self._bounded(super().handle_cont, event)

    def _bounded(self, handle: Callable[[Any], None], event: Any) -> None:
        if self.transport.is_closing():
            return
        if self._frames.take(self.loop.time()):
            handle(event)
        else:
            self._refuse(1008, f"more than {limits.FRAMES.a_second:g} messages a second came")

    def handle_ping(self) -> None:
        """Answer a ping, unless there are too many or the client leaves the answers unread."""
        if not self._takes_control():
            return
        super().handle_ping()
        if self.transport.get_write_buffer_size() > limits.MOST_UNREAD:
            self._cut()

    def handle_pong(self, event: Any) -> None:
        """Take a pong, unless there are too many."""
        if self._takes_control():
            super().handle_pong(event)

    def _takes_control(self) -> bool:
        if self.transport.is_closing():
            return False
        if self._controls.take(self.loop.time()):
            return True
        self._refuse(1008, f"more than {limits.CONTROLS.a_second:g} pings or pongs a second came")
        return False

    def send_receive_event_to_app(self) -> None:
        """Pass a message on, unless it is invalid UTF-8: uvicorn would print a traceback."""
        if self.curr_msg_data_type == "text" and not self.close_sent:
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self._refuse(1007, "a message of text is not UTF-8")
                return
        super().send_receive_event_to_app()

    def _refuse(self, code: int, reason: str) -> None:
        """Close because of the client's input, without waiting for it."""
        if self.close_sent:
            self.transport.close()
            return
        self.conn.fail(code, reason)
        self.handle_parser_exception()

    def handle_parser_exception(self) -> None:
        """Close because of the client's input, and tell the application why."""
        close = self.conn.close_sent
        if close is not None and not self.close_sent:
            log.warning("a client was refused: %s", close.reason)
            why = {"type": "websocket.disconnect", "code": close.code, "reason": close.reason, "refused": True}
            self.queue.put_nowait(why)  # type: ignore[arg-type]
        super().handle_parser_exception()

    @property
    def read_paused(self) -> bool:
        """Whether uvicorn should neither pause nor resume reading: it is paused, or more may wait."""
        return self._paused or self.queue.qsize() < limits.MOST_WAITING

    @read_paused.setter
    def read_paused(self, paused: bool) -> None:
        self._paused = paused

    async def send(self, message: Any) -> None:
        """Send the application's message; a refusal completes the handshake, which uvicorn would log as an error."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True

    def pause_writing(self) -> None:
        """The socket's buffer for the client is full."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(limits.READ_WITHIN, self._cut)

    def resume_writing(self) -> None:
        """The client has read its buffer."""
        super().resume_writing()
        self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _cut(self) -> None:
        log.warning("a call was cut off: its client does not read")
        self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
