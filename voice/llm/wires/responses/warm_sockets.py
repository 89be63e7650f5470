"""Persistent WebSockets, opened in advance; each carries one request at a time."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.protocol import State

from voice.llm.wires.responses.socket import RESPONSE_ENDS, Socket
from voice.llm.wires.responses.socket_upkeep import pause, upkeep

OPEN_WITHIN = 2.0
WARM_WITHIN = 5.0
DRAIN_WITHIN = 0.5
"""Seconds that a server has to confirm a cancellation; the next request does not wait for it."""
CLOSE_WITHIN = 1.0
TRY_LATER = (408, 425, 429)
"""Client errors that may be temporary."""

log = logging.getLogger(__name__)


class WarmSockets:
    """Keeps sockets open: opens them in advance, replaces lost and worn ones, and lends one to each request.

    Args:
        connect: opens a socket.
        warm_up: prepares the first socket; raises an error if the server does not support it.
        create_task: starts a background task.
        rotate_after: age from which a socket is replaced, seconds.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[ClientConnection]],
        *,
        warm_up: Callable[[Socket], Awaitable[None]],
        create_task: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
        rotate_after: float,
    ) -> None:
        self._connect, self._warm_up, self._create_task = connect, warm_up, create_task
        self._rotate_after = rotate_after
        self._held: dict[Socket, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._opening = self._failures = 0
        self._problem: Exception | None = None
        self._retry_at = -math.inf
        self._cold = True

    def start(self) -> None:
        """Start keeping sockets open in the background."""
        if not self._tasks:
            self._run(self._keep(), "keep sockets open")

    async def close(self) -> None:
        """Close all sockets."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_WITHIN)

    def check(self) -> None:
        """Check in the background whether the free sockets still work, before an expected request."""
        for socket in self._held:
            if socket.state == "free":
                self._run(self._check(socket), "check socket")

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[Socket]:
        """A free socket, preferably the last one used.

        If the response is unfinished when the context ends, it is cancelled on the wire, without waiting.

        Raises:
            OSError, TimeoutError, WebSocketException: no socket is open, and none can be opened.
        """
        socket = await self._take()
        socket.state, socket.asked, socket.ended = "busy", False, False
        try:
            yield socket
        finally:
            if socket.ended or not socket.asked:
                if socket.ended:
                    socket.used, self._failures = time.monotonic(), 0
                self._free(socket)
            elif socket.response_id is not None:
                socket.state = "draining"
                self._run(self._drain(socket), "drain socket")
            else:
                # The response has no id yet, so only closing the socket cancels it.
                self._drop(socket)
            self._wake()

    async def _take(self) -> Socket:
        # A request needs a socket: try again at once.
        self._retry_at, self._problem = -math.inf, None
        self._wake()
        async with asyncio.timeout(OPEN_WITHIN):
            while True:
                free = [socket for socket in self._held if socket.state == "free"]
                usable = [socket for socket in free if socket.websocket.state is State.OPEN]
                if usable:
                    return max(usable, key=lambda socket: socket.used or 0.0)
                if self._problem is not None and not self._opening:
                    raise self._problem
                await self._changed.wait()

    async def _keep(self) -> None:
        while True:
            changed, now = self._changed, time.monotonic()
            sockets = list(self._held)
            todo = upkeep(
                [socket.held for socket in sockets], opening=self._opening, now=now, rotate_after=self._rotate_after
            )
            for index in todo.retire:
                self._drop(sockets[index])
            wake_at = todo.wake_at
            if todo.open and now < self._retry_at:
                wake_at = min(self._retry_at, math.inf if wake_at is None else wake_at)
            elif todo.open:
                for _ in range(todo.open):
                    self._opening += 1
                    self._run(self._hold(warm=self._cold), "hold socket")
                    self._cold = False
            await _set_or(changed, None if wake_at is None else wake_at - now)

    async def _hold(self, *, warm: bool) -> None:
        """Open a socket and hold it until it is lost or dropped."""
        websocket: ClientConnection | None = None
        opening = True
        try:
            async with asyncio.timeout(OPEN_WITHIN):
                websocket = await self._connect()
            socket = Socket(websocket, time.monotonic())
            if warm:
                await self._warm(socket)
            task = asyncio.current_task()
            assert task is not None
            self._held[socket] = task
            self._opening -= 1
            opening, self._problem = False, None
            self._wake()
            await websocket.wait_closed()
            log.info("a socket was lost (%s)", websocket.close_code)
            if socket.used is None:
                # Do not hammer a server that accepts connections and then drops them.
                self._failed()
        except Exception as error:
            # The next request reports any error, such as a proxy that needs a missing package; try again later.
            self._cold |= warm and websocket is None
            self._problem = error
            self._failed(final=_refuses(error))
        finally:
            self._opening -= opening
            self._held = {socket: task for socket, task in self._held.items() if socket.websocket is not websocket}
            self._wake()
            if websocket is not None:
                try:
                    await websocket.close()
                finally:
                    websocket.transport.abort()

    async def _warm(self, socket: Socket) -> None:
        """Warm up the socket. If the server does not support that, the call continues without a warm-up."""
        try:
            async with asyncio.timeout(WARM_WITHIN):
                await self._warm_up(socket)
            socket.used = time.monotonic()
        except (OSError, TimeoutError, WebSocketException, ValueError) as error:
            log.info("no warm-up: %s: %s", type(error).__name__, error)
            if not socket.ended:
                raise

    async def _drain(self, socket: Socket) -> None:
        """Cancel the response; the socket is clean once that is confirmed.

        On an error, the server cannot cancel and continues the response; closing the socket stops it. A response that
        was already complete confirms nothing: an error may still follow, and would be taken for that of the next
        request.
        """
        confirmed = False
        try:
            async with asyncio.timeout(DRAIN_WITHIN):
                await socket.cancel()
                while (kind := (await socket.recv()).get("type")) not in (*RESPONSE_ENDS, "error"):
                    pass
                confirmed = kind not in ("response.completed", "error")
        except (OSError, TimeoutError, WebSocketException, ValueError) as error:
            log.info("the server did not confirm a cancellation (%s); the socket is closed", type(error).__name__)
        finally:
            if confirmed:
                self._free(socket)
            else:
                self._drop(socket)

    async def _check(self, socket: Socket) -> None:
        if not await socket.answers() and socket.state == "free":
            log.info("a socket's other end no longer responds")
            self._drop(socket)

    def _failed(self, *, final: bool = False) -> None:
        self._failures += 1
        self._retry_at = math.inf if final else time.monotonic() + pause(self._failures)

    def _free(self, socket: Socket) -> None:
        socket.state = "free"
        self._wake()

    def _drop(self, socket: Socket) -> None:
        if task := self._held.pop(socket, None):
            task.cancel()
        self._wake()

    def _run(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = self._create_task(work, name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _wake(self) -> None:
        """Wake the tasks that wait for a change."""
        self._changed.set()
        self._changed = asyncio.Event()


def _refuses(error: Exception) -> bool:
    """Whether a server refused the connection and would refuse it again."""
    if not isinstance(error, InvalidStatus):
        return False
    return 400 <= error.response.status_code < 500 and error.response.status_code not in TRY_LATER


async def _set_or(event: asyncio.Event, seconds: float | None) -> None:
    """Wait until an event is set or the time is up; None means no limit."""
    if seconds is not None and math.isinf(seconds):
        seconds = None
    try:
        async with asyncio.timeout(None if seconds is None else max(0.0, seconds)):
            await event.wait()
    except TimeoutError:
        return
