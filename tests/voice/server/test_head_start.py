"""When the sounds of an answer leave the server."""

import asyncio
from types import SimpleNamespace
from typing import Any

from pipecat.frames.frames import OutputAudioRawFrame
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams

from voice.server.transport import LONGEST_HOLD, HeadStartOutput

CHUNK = OutputAudioRawFrame(bytes(640), 16000, 1)


class Socket:
    """Takes what is sent, in place of pipecat's client of a socket."""

    is_closing, is_connected = False, True

    def __init__(self) -> None:
        self.sent = 0


class Output(HeadStartOutput):
    """Counts what would be sent."""

    socket: Socket

    async def _write_frame(self, frame: Any) -> bool:
        self.socket.sent += 1
        return True


def output(caller: SimpleNamespace) -> Output:
    one = Output(None, Socket(), FastAPIWebsocketParams(serializer=None))  # type: ignore[arg-type]
    one.socket = Socket()
    one._send_interval, one._sample_rate = 0.02, 16000
    one.user_may_be_starting = lambda: caller.starts
    return one


async def test_nothing_begins_to_sound_while_the_caller_may_be_starting_to_speak() -> None:
    caller = SimpleNamespace(starts=True)
    voice = output(caller)
    writing = asyncio.create_task(voice.write_audio_frame(CHUNK))
    await asyncio.sleep(0.05)
    assert voice.socket.sent == 0
    caller.starts = False
    assert await writing
    assert voice.socket.sent == 1


async def test_an_interruption_drops_what_was_held() -> None:
    voice = output(SimpleNamespace(starts=True))
    writing = asyncio.create_task(voice.write_audio_frame(CHUNK))
    await asyncio.sleep(0.03)
    voice._interrupted = True
    assert not await writing
    assert voice.socket.sent == 0


async def test_a_doubt_that_lasts_holds_only_so_long_and_only_the_first_sound() -> None:
    voice = output(SimpleNamespace(starts=True))
    began = asyncio.get_running_loop().time()
    assert await voice.write_audio_frame(CHUNK)
    held = asyncio.get_running_loop().time() - began
    assert held >= LONGEST_HOLD * 0.9
    began = asyncio.get_running_loop().time()
    assert await voice.write_audio_frame(CHUNK)
    assert asyncio.get_running_loop().time() - began < held / 2
