"""Who comes in, and what a stranger's client can do: real sockets against a real server."""

import asyncio
import json
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import psutil
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from pipelines.serving.address import Address
from tests.pipelines.server_process import ServerProcess, running_server
from tests.voice.wire.packed import audio, message
from voice.client.call.connection import connect_call
from voice.errors import ComponentError, ConfigurationError
from voice.server.limits import MOST_UNREAD
from voice.wire import framing
from voice.wire.endpoint import START_PATH
from voice.wire.messages import BotReady, ClientReady

TOKEN = "a-token-of-this-test"


async def eventually(holds: Callable[[], bool], within: float = 20.0) -> bool:
    """Whether it holds within so many seconds."""
    for _ in range(round(within / 0.1)):
        if await asyncio.to_thread(holds):
            return True
        await asyncio.sleep(0.1)
    return False


def fetch(url: str, *, data: bytes | None = None, **headers: str) -> tuple[int, dict[str, Any]]:
    """Status and JSON of a request."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, data=data, headers=headers), timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def rtvi(kind: str, **data: object) -> bytes:
    """An RTVI message of a client."""
    return message(json.dumps({"label": "rtvi-ai", "type": kind, "id": kind, "data": data}))


async def answers(call: ClientConnection, within: float) -> list[dict[str, Any]]:
    """The RTVI messages that come within so many seconds."""
    found = []
    try:
        async with asyncio.timeout(within):
            async for data in call:
                frame = framing.frames_pb2.Frame()
                frame.ParseFromString(data)
                if frame.WhichOneof("frame") == "message":
                    found.append(json.loads(frame.message.data))
    except TimeoutError:
        pass
    return found


async def ready(call: ClientConnection) -> None:
    """Begin the call."""
    await call.send(framing.encode(ClientReady()))
    async with asyncio.timeout(10):
        async for data in call:
            if isinstance(framing.decode(data), BotReady):
                return


@pytest.fixture(scope="module")
def guarded() -> Iterator[ServerProcess]:
    """A server that needs a token, at all addresses of this machine."""
    options = ("--pipeline", "embedded", "--host", "0.0.0.0", "--behind-proxy", "--calls", "1")
    with mock.patch.dict(os.environ, VOICE_TOKEN=TOKEN), running_server(*options) as running:
        yield ServerProcess(running.process, running.url.replace("0.0.0.0", "127.0.0.1"))


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}])
async def test_web_pages_of_others_may_not_call_a_local_server(server: ServerProcess, headers: dict[str, str]) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(server.url, additional_headers=headers)
    assert refused.value.response.status_code == 403
    assert "may not call" in json.loads(refused.value.response.body or b"")["error"]
    status, told = await asyncio.to_thread(lambda: fetch(server.health, **headers))
    assert (status, told) == (200, {"ready": True})


async def test_a_name_that_was_pointed_at_this_machine_is_not_answered(server: ServerProcess) -> None:
    status, told = await asyncio.to_thread(lambda: fetch(server.health, Host="evil.example"))
    assert (status, told) == (200, {"ready": True})
    status, told = await asyncio.to_thread(lambda: fetch(server.health))
    assert told["pipeline"]["name"] == "embedded"


async def test_a_guarded_server_asks_for_its_token(guarded: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOICE_TOKEN", raising=False)
    with pytest.raises(ComponentError, match="401.*A token is needed: set VOICE_TOKEN"):
        await connect_call(guarded.url, sample_rate="native")
    assert await asyncio.to_thread(lambda: fetch(guarded.health)) == (200, {"ready": True})
    assert await asyncio.to_thread(lambda: fetch(guarded.health.replace("healthz", "livez"))) == (200, {"alive": True})
    monkeypatch.setenv("VOICE_TOKEN", TOKEN)
    async with await connect_call(guarded.url, sample_rate="native") as call:
        await ready(call)


async def test_a_browser_gets_a_short_lived_token_and_the_server_takes_no_more_calls_than_it_may(
    guarded: ServerProcess,
) -> None:
    start = guarded.health.replace("/healthz", START_PATH)
    assert (await asyncio.to_thread(lambda: fetch(start, data=b"{}")))[0] == 401
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    # The call of the test before may not be over yet.
    assert await eventually(lambda: fetch(start, data=b"{}", **bearer)[0] == 200)
    _, told = await asyncio.to_thread(lambda: fetch(start, data=b"{}", **bearer))
    assert TOKEN not in told["wsUrl"]
    async with connect(told["wsUrl"]) as call:
        await ready(call)
        async with connect(told["wsUrl"]) as second:
            with pytest.raises(ConnectionClosed) as closed:
                await second.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013
        assert "the server is full (1 of 1 calls)" in closed.value.rcvd.reason
        status, told = await asyncio.to_thread(lambda: fetch(guarded.health.replace("healthz", "readyz")))
        assert (status, told["ready"]) == (503, False)
        assert "the server is full (1 of 1 calls)" in told["reason"]
        await call.send(rtvi("send-text", content="what time is it"))
        assert any(one["type"] == "bot-output" for one in await answers(call, 3))


async def test_errors_are_not_answered_and_other_messages_once(server: ServerProcess) -> None:
    async with connect(server.url) as call:
        await ready(call)
        for _ in range(50):
            await call.send(rtvi("error", error="I did not understand", fatal=False))
            await call.send(rtvi("error-response", error="nor I"))
        await call.send(rtvi("raw-audio", base64Audio="AAAA", sampleRate=16000, numChannels=1))
        await call.send(rtvi("send-text", content="one " * 5000))
        found = [one for one in await answers(call, 2) if one["type"].startswith("error")]
    assert [one["id"] for one in found] == ["raw-audio", "send-text"]
    assert "2000 characters at most" in found[1]["data"]["error"]


async def test_a_broken_frame_and_an_orderly_close_leave_nothing_behind(server: ServerProcess) -> None:
    process = psutil.Process(server.process.pid)

    async def break_off() -> None:
        async with connect(server.url) as call:
            await ready(call)
            await call.send(b"\xff\xfe\xfd")
            await call.close()

    def calls() -> int:
        return int(fetch(server.health)[1]["calls"])

    await break_off()
    assert await eventually(lambda: calls() == 0)
    before = process.num_fds()
    for _ in range(5):
        await break_off()
    assert await eventually(lambda: calls() == 0)
    assert await eventually(lambda: process.num_fds() <= before + 3)


async def test_a_client_that_pings_and_never_reads_is_cut_off(server: ServerProcess) -> None:
    """Its pongs pile up in the server only as far as `MOST_UNREAD`."""
    host, port = server.url.removeprefix("ws://").removesuffix("/ws").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.sendall(
            f"GET /ws HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        ping = bytes([0x89, 0x80 | 125]) + bytes(4) + bytes(125)

        def flood() -> int:
            sent = 0
            try:
                while sent < 64 * MOST_UNREAD:
                    raw.sendall(ping * 1000)
                    sent += len(ping) * 1000
            except (ConnectionError, TimeoutError):
                pass
            return sent

        assert await asyncio.to_thread(flood) < 64 * MOST_UNREAD
    assert await eventually(lambda: fetch(server.health)[1]["calls"] == 0)


async def test_audio_of_a_telephone_is_understood(server: ServerProcess) -> None:
    async with connect(server.url) as call:
        await ready(call)
        for _ in range(25):
            await call.send(audio(bytes(640), rate=8000))
        assert not [one for one in await answers(call, 0.5) if one["type"] == "error"]
        await call.ping()


@pytest.mark.parametrize(
    ("address", "token", "reason"),
    [
        (Address(host="0.0.0.0"), None, "Anybody who reaches 0.0.0.0 could call: set VOICE_TOKEN"),
        (Address(behind_proxy=True), None, "set VOICE_TOKEN"),
        (Address(host="0.0.0.0"), TOKEN, "could be overheard"),
        (Address(host="::"), TOKEN, "could be overheard"),
        (Address(), "short", "at least 16 characters"),
        (Address(allow_origins=("shop.example",)), None, '"shop.example" is no origin'),
        (Address(allow_origins=("https://shop.example/page",)), None, "is no origin"),
        (Address(tls_cert="cert.pem"), None, "give both"),
        (Address(tls_cert="no.pem", tls_key="no.pem"), None, 'There is no file "no.pem"'),
        (Address(tls_cert=__file__, tls_key=__file__), None, "no certificate with its key"),
    ],
)
def test_an_address_that_lets_strangers_in_is_refused(
    address: Address, token: str | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICE_TOKEN", token or "")
    with pytest.raises(ConfigurationError, match=reason):
        address.access()


def test_the_addresses_of_this_machine_need_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOICE_TOKEN", raising=False)
    for host in ("127.0.0.1", "::1", "localhost"):
        assert Address(host=host).access().local


async def test_a_call_that_lasts_too_long_is_closed_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOICE_TOKEN", raising=False)
    with running_server("--pipeline", "embedded", "--longest-call", "0.05") as server:
        async with connect(server.url) as call:
            await ready(call)
            await asyncio.wait_for(call.wait_closed(), 30)
            assert call.close_code == 1011
            assert call.close_reason == "it has lasted 0.05 minutes, the longest for this server"
