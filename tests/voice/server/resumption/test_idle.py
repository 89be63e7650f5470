"""A call whose client sends nothing is closed with the reason; one that sends, or is away, is not."""

import asyncio

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.voice.server.resumption.test_cuts import serving
from tests.voice.wire.packed import audio
from voice.server.closing import end_when_idle

SILENCE = audio(bytes(640))


async def read_all(socket: ClientConnection) -> None:
    """Reads messages until the connection ends, and raises how it did."""
    while True:
        await socket.recv()


class Transport:
    """A call whose client sent something last at `last_message`, on a clock that runs a second for each look at it."""

    def __init__(self, *last_messages: float | None) -> None:
        self._last = list(last_messages)
        self.ended: list[str] = []

    @property
    def last_message(self) -> float | None:
        return self._last.pop(0) if len(self._last) > 1 else self._last[0]

    async def end(self, reason: str) -> None:
        self.ended.append(reason)


async def test_a_client_that_sends_nothing_is_closed_with_the_reason() -> None:
    async with serving(idle=0.2) as (_, calls, proxy), connect(f"ws://127.0.0.1:{proxy.port}/ws") as socket:
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(read_all(socket), 10)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (
            1011,
            "the client has sent nothing for 0.2 s, not even silence",
        )
        async with asyncio.timeout(10):
            while calls.active:
                await asyncio.sleep(0.01)


async def test_silence_keeps_a_call_open() -> None:
    async with serving(idle=0.5) as (_, calls, proxy), connect(f"ws://127.0.0.1:{proxy.port}/ws") as socket:
        for _ in range(30):
            await socket.send(SILENCE)
            await asyncio.sleep(0.05)
        assert len(calls.active) == 1


async def test_a_client_that_is_away_is_not_idle() -> None:
    now = iter(range(100, 1000))
    # It is away twice, then back without a word since 100.
    transport = Transport(None, None, 100.0)
    await asyncio.wait_for(end_when_idle(transport, 0.001, clock=lambda: next(now)), 10)
    assert transport.ended == ["the client has sent nothing for 0.001 s, not even silence"]
    # The clock was looked at twice, and never while the client was away.
    assert next(now) == 102


async def test_zero_never_ends_a_call() -> None:
    transport = Transport(0.0)
    await end_when_idle(transport, 0.0)
    assert transport.ended == []
