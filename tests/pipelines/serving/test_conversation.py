"""Nobody speaks, goodbye, and the transcript: a real server and real sockets."""

import asyncio
import contextlib
import json
import time
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.pipelines.server_process import ROOT, running_server
from tests.pipelines.serving.test_strangers import ready, rtvi
from voice.client.call.connection import AGENT_ENDED, close_reason
from voice.conversation.goodbye import GRACE
from voice.language.english.phrases import ENGLISH
from voice.wire import framing


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("transcripts")


@pytest.fixture(scope="module")
def url(kept: Path) -> Iterator[str]:
    """A server that asks after 2.5 seconds, and keeps transcripts for a week."""
    changes = ("call.silence_ms=2500", f"call.transcripts={kept}", "call.transcript_days=7")
    with running_server("--pipeline", "embedded", *(part for each in changes for part in ("--set", each))) as server:
        yield server.url


async def spoken(call: ClientConnection, within: float) -> list[str]:
    """What the agent says within so many seconds, or until it ends the call."""
    found = []
    with contextlib.suppress(TimeoutError, ConnectionClosed):
        async with asyncio.timeout(within):
            while True:
                frame = framing.frames_pb2.Frame()
                frame.ParseFromString(await call.recv())
                message = json.loads(frame.message.data) if frame.WhichOneof("frame") == "message" else {}
                if message.get("type") == "server-message" and message["data"]["type"] == "ended":
                    found.append(f"({message['data']['reason']})")
                if message.get("type") == "bot-tts-text":
                    found.append(message["data"]["text"])
    return found


async def say(call: ClientConnection, recording: Path) -> None:
    """Send a recording in real time, and silence after it until the call ends."""
    with wave.open(str(recording)) as file:
        speech = file.readframes(file.getnframes())
    began = time.monotonic()
    with contextlib.suppress(ConnectionClosed):
        for index in range(2000):
            chunk = speech[index * 640 : (index + 1) * 640].ljust(640, b"\0")
            await call.send(framing.encode_audio(np.frombuffer(chunk, np.int16)))
            await asyncio.sleep(max(0.0, began + (index + 1) * 0.02 - time.monotonic()))


async def test_a_silent_caller_is_asked_once(url: str) -> None:
    async with connect(url) as call:
        await ready(call)
        assert await spoken(call, 8) == ENGLISH.still_there.split()


async def test_goodbye_ends_the_call_after_the_farewell(url: str, kept: Path) -> None:
    expired = kept / "20200131-235959.txt"
    expired.touch()
    before = set(kept.glob("*.txt"))  # noqa: ASYNC240
    async with connect(url) as call:
        await ready(call)
        saying = asyncio.create_task(say(call, ROOT / "samples" / "tour" / "11.wav"))
        assert await spoken(call, 15) == ["Goodbye.", "(the caller said goodbye)"]
        await saying
        assert close_reason(call) == AGENT_ENDED
    (path,) = set(kept.glob("*.txt")) - before  # noqa: ASYNC240
    assert not expired.exists()
    assert [line.split(" ", 1)[1] for line in path.read_text().splitlines()] == ["caller: goodbye", "agent: Goodbye."]


async def test_who_goes_on_after_a_farewell_keeps_the_call(url: str) -> None:
    async with connect(url) as call:
        await ready(call)
        await call.send(rtvi("send-text", content="goodbye"))
        assert await spoken(call, 1.5) == ["Goodbye."]
        await call.send(rtvi("send-text", content="what is two plus three"))
        assert (await spoken(call, GRACE))[-1] == "5."
        await call.send(rtvi("send-text", content="thanks, bye"))
        assert "Goodbye." in await spoken(call, 8)
        assert call.close_code == 1000
