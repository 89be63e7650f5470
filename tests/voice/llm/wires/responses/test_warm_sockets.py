"""Sockets to a plain server, and through a network that goes silent: replaced in time, all closed at the end."""

import asyncio
import contextlib
import http
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import InvalidStatus
from websockets.protocol import State

from voice.llm.wires.responses.socket import Socket
from voice.llm.wires.responses.warm_sockets import WarmSockets

LIMIT = 10.0


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(LIMIT):
        while not condition():
            await asyncio.sleep(0.005)


@dataclass
class Network:
    """A TCP relay whose connections can go silent without being closed."""

    port: int
    cut: asyncio.Event = field(default_factory=asyncio.Event)
    accepted: int = 0

    async def relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        cut = self.cut
        to_server, from_client = await asyncio.open_connection("127.0.0.1", self.port)
        pipes = [asyncio.create_task(pipe(reader, from_client)), asyncio.create_task(pipe(to_server, writer))]
        pipes.append(asyncio.create_task(wait_for(cut)))
        try:
            await asyncio.wait(pipes, return_when=asyncio.FIRST_COMPLETED)
            if cut.is_set():
                for task in pipes:
                    task.cancel()
                await asyncio.sleep(LIMIT)
        except asyncio.CancelledError:
            return
        finally:
            for task in pipes:
                task.cancel()
            writer.close()
            from_client.close()

    def go_silent(self) -> None:
        """Connections of now are; those opened later are not."""
        self.cut.set()
        self.cut = asyncio.Event()


async def wait_for(event: asyncio.Event) -> None:
    await event.wait()


async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(4096):
            writer.write(data)


@dataclass
class World:
    """A server, and the sockets to it."""

    sockets: WarmSockets
    tasks: set[asyncio.Task[None]]
    opened: list[ClientConnection]
    network: Network | None
    served: list[ServerConnection]
    tried: list[int]

    @property
    def open(self) -> int:
        return sum(websocket.state is State.OPEN for websocket in self.opened)


async def echo(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(message)


async def throw_out(connection: ServerConnection) -> None:
    await connection.close(1008)


@asynccontextmanager
async def world(
    handler: Callable[[ServerConnection], Awaitable[None]] = echo, *, refuse: int | None = None, relayed: bool = False
) -> AsyncIterator[World]:
    served: list[ServerConnection] = []
    tried: list[int] = []
    opened: list[ClientConnection] = []
    tasks: set[asyncio.Task[None]] = set()

    async def handle(connection: ServerConnection) -> None:
        served.append(connection)
        await handler(connection)

    def let_in(connection: ServerConnection, _: Any) -> Any:
        tried.append(len(tried))
        return connection.respond(http.HTTPStatus(refuse), "no") if refuse else None

    async def open_one() -> ClientConnection:
        websocket = await connect(f"ws://127.0.0.1:{port}", close_timeout=0.2, proxy=None)
        opened.append(websocket)
        return websocket

    async def warm_up(_: Socket) -> None:
        return

    def create_task(work: Any, name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    async with serve(handle, "127.0.0.1", 0, process_request=let_in, close_timeout=0.2) as server:
        port = server.sockets[0].getsockname()[1]
        network = relay = None
        if relayed:
            network = Network(port)
            relay = await asyncio.start_server(network.relay, "127.0.0.1", 0)
            port = relay.sockets[0].getsockname()[1]
        sockets = WarmSockets(open_one, warm_up=warm_up, create_task=create_task, rotate_after=3600.0)
        sockets.start()
        try:
            yield World(sockets, tasks, opened, network, served, tried)
        finally:
            await sockets.close()
            if relay:
                relay.close()
            await asyncio.sleep(0)
            assert tasks == set()
            assert all(websocket.state is State.CLOSED for websocket in opened)


async def test_two_are_open_before_anyone_asks_and_the_one_used_last_is_lent_again() -> None:
    async with world() as w:
        await until(lambda: w.open == 2)
        used = []
        for _ in range(3):
            async with w.sockets.lent() as socket:
                await socket.ask({})
                socket.ended = True
                used.append(socket)
        assert len(set(used)) == 1
        assert len(w.opened) == 2


async def test_a_server_that_throws_everybody_out_is_not_asked_all_the_time() -> None:
    async with world(throw_out) as w:
        await until(lambda: len(w.served) >= 4)
        await asyncio.sleep(0.5)
        assert len(w.served) < 12


async def test_a_server_that_refuses_us_is_asked_again_only_when_someone_needs_it() -> None:
    async with world(refuse=403) as w:
        await until(lambda: len(w.tried) == 2)
        await asyncio.sleep(0.6)
        assert len(w.tried) == 2
        with pytest.raises(InvalidStatus):
            async with w.sockets.lent():
                pass
        assert len(w.tried) == 4


async def test_a_server_that_is_overloaded_is_asked_again_after_a_pause() -> None:
    async with world(refuse=503) as w:
        await until(lambda: len(w.tried) >= 4)
        assert len(w.tried) < 8


async def test_a_network_that_went_silent_is_found_out_while_the_user_speaks() -> None:
    async with world(relayed=True) as w:
        assert w.network is not None
        await until(lambda: w.open == 2)
        w.network.go_silent()
        w.sockets.check()
        await until(lambda: w.network and w.network.accepted == 4)
        await until(lambda: w.open == 2)
        async with w.sockets.lent() as socket:
            assert await socket.answers()


async def test_a_network_that_works_passes_the_check() -> None:
    async with world(relayed=True) as w:
        await until(lambda: w.open == 2)
        w.sockets.check()
        await asyncio.sleep(0.2)
        assert len(w.opened) == 2


async def test_closing_does_not_wait_for_a_network_that_went_silent() -> None:
    async with world(relayed=True) as w:
        assert w.network is not None
        await until(lambda: w.open == 2)
        w.network.go_silent()
        await w.sockets.close()
        assert w.open == 0


async def test_what_is_no_event_is_an_error_and_the_socket_is_given_up() -> None:
    async def talk_nonsense(connection: ServerConnection) -> None:
        async for _ in connection:
            await connection.send("[1, 2]")

    async with world(talk_nonsense) as w:
        await until(lambda: w.open == 2)
        async with w.sockets.lent() as socket:
            await socket.ask({})
            with pytest.raises(ValueError, match="JSON of another kind"):
                await socket.recv(1.0)
        await until(lambda: len(w.opened) == 3 and w.open == 2)
