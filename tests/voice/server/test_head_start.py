"""When the sounds of an answer leave the server."""

import asyncio
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pipecat.frames.frames import InterruptionFrame, OutputAudioRawFrame
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams

from voice.ducking import Ducking
from voice.server.output import HEAD_START, LONGEST_HOLD, HeadStartOutput, SentAudio

CHUNK = OutputAudioRawFrame(bytes(640), 16000, 1)


class Socket:
    """Takes what is sent, in place of pipecat's client of a socket."""

    is_closing, is_connected = False, True

    def __init__(self) -> None:
        self.sent = 0
        self.frames: list[Any] = []


class Output(HeadStartOutput):
    """Keeps what would be sent."""

    socket: Socket

    async def _write_frame(self, frame: Any) -> bool:
        self.socket.sent += 1
        self.socket.frames.append(frame)
        return True


def output(caller: SimpleNamespace) -> Output:
    one = Output(
        None,
        Socket(),
        FastAPIWebsocketParams(serializer=None),
        user_may_be_starting=lambda: caller.starts,
        ducked_gain=0.1,
    )
    one.socket = Socket()
    one._send_interval, one._sample_rate = 0.02, 16000
    one._ducking, one._sent = Ducking(sample_rate=16000), SentAudio(bytes_per_second=32000, ahead=HEAD_START)
    return one


def chunk(number: int) -> OutputAudioRawFrame:
    """20 ms that can be told from the others."""
    return OutputAudioRawFrame(np.full(320, 100 * number, np.int16).tobytes(), 16000, 1)


def heard(voice: Output) -> list[int | None]:
    """The numbers of the pieces that were sent; None for an interruption, after which the client has nothing."""
    return [
        None if isinstance(frame, InterruptionFrame) else round(int(np.frombuffer(frame.audio, np.int16)[-1]) / 100)
        for frame in voice.socket.frames
    ]


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


async def test_an_interruption_ends_the_wait_for_what_a_client_that_came_back_was_sent_again() -> None:
    voice = output(SimpleNamespace(starts=False))
    assert voice.sent_again(500) == pytest.approx(10)
    writing = asyncio.create_task(voice.write_audio_frame(CHUNK))
    await asyncio.sleep(0.05)
    assert not writing.done()
    voice._stopped.set()
    async with asyncio.timeout(2):
        assert await writing


async def test_a_doubt_that_lasts_holds_only_so_long_and_only_the_first_sound() -> None:
    voice = output(SimpleNamespace(starts=True))
    began = asyncio.get_running_loop().time()
    assert await voice.write_audio_frame(CHUNK)
    held = asyncio.get_running_loop().time() - began
    assert held >= LONGEST_HOLD * 0.9
    began = asyncio.get_running_loop().time()
    assert await voice.write_audio_frame(CHUNK)
    assert asyncio.get_running_loop().time() - began < held / 2


async def test_a_silenced_answer_goes_on_where_the_client_was() -> None:
    voice = output(SimpleNamespace(starts=False))
    for number in range(1, 11):
        await voice.write_audio_frame(chunk(number))
    voice.silence()
    writing = asyncio.create_task(voice.write_audio_frame(chunk(11)))
    await asyncio.sleep(0.1)
    assert not writing.done()
    assert heard(voice)[-1] is None
    voice.resume()
    assert await writing
    after = heard(voice)[11:]
    # Nothing is missing, and it is as loud as before.
    assert after[-1] == 11
    assert after == list(range(after[0] or 0, 12))
    assert after[0] is not None
    assert after[0] <= 6


async def test_an_answer_that_is_silenced_before_its_first_sound_begins_later_and_repeats_nothing() -> None:
    voice = output(SimpleNamespace(starts=False))
    for number in range(1, 4):
        await voice.write_audio_frame(chunk(number))
    # The answer before is over.
    voice._played_until = 0.0
    voice.silence()
    writing = asyncio.create_task(voice.write_audio_frame(chunk(11)))
    await asyncio.sleep(0.05)
    assert heard(voice) == [1, 2, 3]
    voice.resume()
    assert await writing
    assert heard(voice) == [1, 2, 3, 11]


async def test_an_interruption_ends_a_silenced_answer() -> None:
    voice = output(SimpleNamespace(starts=False))
    await voice.write_audio_frame(chunk(1))
    voice.silence()
    writing = asyncio.create_task(voice.write_audio_frame(chunk(2)))
    await asyncio.sleep(0.03)
    voice._interrupted = True
    voice.resume()
    assert not await writing
    assert heard(voice) == [1, None]


async def test_a_ducked_answer_is_softer_until_it_is_resumed() -> None:
    voice = output(SimpleNamespace(starts=False))
    await voice.write_audio_frame(chunk(10))
    voice.duck()
    for _ in range(3):
        await voice.write_audio_frame(chunk(10))
    voice.resume()
    for _ in range(3):
        await voice.write_audio_frame(chunk(10))
    assert heard(voice) == [10, heard(voice)[1], 1, 1, heard(voice)[4], 10, 10]


async def test_a_resumed_answer_repeats_what_was_sent_at_its_usual_loudness() -> None:
    voice = output(SimpleNamespace(starts=False))
    voice.duck()
    for number in range(1, 9):
        await voice.write_audio_frame(chunk(10 * number))
    voice.silence()
    writing = asyncio.create_task(voice.write_audio_frame(chunk(90)))
    await asyncio.sleep(0.05)
    voice.resume()
    await writing
    assert heard(voice)[-1] == 90
    assert heard(voice)[-2] == 80
