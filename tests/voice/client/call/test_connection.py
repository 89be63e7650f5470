"""A call that cannot start or cannot go on says why in one sentence."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from tests.voice.client.call.rig import Bot, Notes, call, caller, fixture, serving, tone
from voice.client.call import connection as connection_module
from voice.client.call.line import PacedLine
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import Fixture
from voice.client.sound.pcm import MESSAGE_SAMPLES
from voice.errors import CallRefused, ComponentError, ConfigurationError


@pytest.mark.parametrize(
    ("suffix", "how", "asked"),
    [
        ("", {}, "/ws?sample_rate=native&ducks=1&resumes=1"),
        ("", {"sample_rate": 48000}, "/ws?sample_rate=48000&ducks=1&resumes=1"),
        ("?key=a", {}, "/ws?key=a&sample_rate=native&ducks=1&resumes=1"),
        ("?sample_rate=8000", {}, "/ws?sample_rate=8000&ducks=1&resumes=1"),
    ],
)
async def test_the_call_asks_for_the_voices_own_rate(suffix: str, how: dict[str, Any], asked: str) -> None:
    paths: list[str] = []

    async def note(socket: ServerConnection) -> None:
        assert socket.request is not None
        paths.append(socket.request.path)
        await Bot(socket).answer_turns(delay=0.1)

    async with serving(note) as url:
        silent = Fixture(name="x", source=Path("x"), group="", turns=(), notices=())
        line = PacedLine(ScriptedCaller(silent.turns, lead_in=0.0, hang_up_after=0.0, reply_wait=0.0))
        await CallSession(url + suffix, line, **how).run()
    assert paths == [asked]


async def test_a_server_that_is_not_there_is_named_in_one_sentence() -> None:
    async with serving(lambda socket: Bot(socket).answer_turns(delay=0.1)) as url:
        pass
    with pytest.raises(ComponentError, match="cannot be reached") as refused:
        await CallSession(url, PacedLine(caller(fixture()))).run()
    assert url in str(refused.value)


async def test_a_server_without_tls_is_told_from_one_that_is_not_there() -> None:
    async with serving(lambda socket: Bot(socket).answer_turns(delay=0.1)) as url:
        with pytest.raises(ComponentError, match="does not answer in TLS; use ws:// for a server without TLS"):
            await CallSession(url.replace("ws:", "wss:"), PacedLine(caller(fixture()))).run()


async def test_a_url_that_is_not_a_websocket_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="is not a WebSocket address"):
        await CallSession("http://127.0.0.1:1/ws", PacedLine(caller(fixture()))).run()


async def test_a_server_that_refuses_the_call_is_quoted() -> None:
    async def refuse(connection: ServerConnection, request: Request) -> Response:
        return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "all 4 lines are taken\n")

    async with serving(lambda socket: Bot(socket).answer_turns(delay=0.1), process_request=refuse) as url:
        with pytest.raises(CallRefused, match="refused the call: all 4 lines are taken"):
            await CallSession(url, PacedLine(caller(fixture()))).run()


async def test_a_bot_that_is_never_ready_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "READY_WITHIN", 0.2)

    async def sleep(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with serving(sleep) as url:
        with pytest.raises(ComponentError, match="not ready within 0.2 s"):
            await CallSession(url, PacedLine(caller(fixture()))).run()


async def test_a_server_that_takes_no_more_calls_is_quoted() -> None:
    async def leave(socket: ServerConnection) -> None:
        await socket.close(1013, "all 4 lines are taken")

    async with serving(leave) as url:
        with pytest.raises(CallRefused, match="refused the call: all 4 lines are taken") as refused:
            await CallSession(url, PacedLine(caller(fixture()))).run()
    assert refused.value.reason == "all 4 lines are taken"


async def test_a_server_that_hangs_up_before_it_is_ready_is_quoted() -> None:
    async def leave(socket: ServerConnection) -> None:
        await socket.close(1011, "no model")

    async with serving(leave) as url:
        with pytest.raises(ComponentError, match=r"its bot was ready: the server closed the call \(1011: no model"):
            await CallSession(url, PacedLine(caller(fixture()))).run()


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (lambda bot: bot.socket.transport.abort(), "the connection to the server was lost"),
        (lambda bot: bot.socket.send(b"\xff\xff\xff"), "not a pipecat protobuf frame"),
        (lambda bot: bot.socket.send("hello"), "not JSON"),
        (lambda bot: bot.audio(tone(0.1, 8000), rate=8000), "changed its sample rate from 16000 to 8000 Hz"),
        (lambda bot: bot.message("server-message", {"type": "turn", "turn": "one"}), "broken report of a turn"),
    ],
)
async def test_a_server_that_vanishes_or_breaks_the_protocol_ends_the_call_with_the_reason(
    sent: Callable[[Bot], Awaitable[None] | None], reason: str
) -> None:
    async def garble(socket: ServerConnection) -> None:
        bot = Bot(socket)
        async for _ in bot.frames():
            if len(bot.received) == 12 * MESSAGE_SAMPLES:
                await bot.audio(tone(0.1))
            elif len(bot.received) == 32 * MESSAGE_SAMPLES and (sending := sent(bot)):
                await sending

    result = await call(garble, fixture())
    assert result.closed is not None
    assert reason in result.closed
    assert 0.4 < result.seconds < 3.0


async def test_hanging_up_does_not_wait_for_a_server_that_is_stuck() -> None:
    stuck = asyncio.Event()

    async def talk(socket: ServerConnection) -> None:
        bot = Bot(socket)
        async for _ in bot.frames():
            if len(bot.received) == 32 * MESSAGE_SAMPLES:
                # It neither reads nor says goodbye any more.
                socket.transport.pause_reading()
                await stuck.wait()

    async with serving(talk, close_timeout=0.1) as url:
        session = CallSession(url, PacedLine(caller(fixture(turns=50))), listener=(notes := Notes()))
        running = asyncio.create_task(session.run())
        await notes.wait("placed", 0)
        await asyncio.sleep(1.0)
        begin = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        took = time.monotonic() - begin
        stuck.set()
    assert took < 1.5
