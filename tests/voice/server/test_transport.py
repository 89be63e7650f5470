"""The server refuses broken input and says why."""

import json
import re

import numpy as np
import pytest
from pipecat.frames.frames import Frame, InputAudioRawFrame, InputTransportMessageFrame

from tests.voice.wire.packed import audio, message, text_frame
from voice.errors import WireError
from voice.server.limits import (
    AHEAD,
    BEHIND,
    CHARACTERS,
    DEEPEST,
    LARGEST_AUDIO,
    LARGEST_TEXT,
    RTVI,
)
from voice.server.transport import WINDOW_BYTES, StrictSerializer
from voice.wire.endpoint import IN_RATE

FRAME, SECOND = bytes(2 * WINDOW_BYTES), bytes(2 * IN_RATE)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def read(data: str | bytes, serializer: StrictSerializer | None = None) -> Frame | None:
    return await (serializer or StrictSerializer()).deserialize(data)


async def test_audio_and_json_objects_come_through() -> None:
    heard = await read(audio(FRAME))
    assert isinstance(heard, InputAudioRawFrame)
    assert (len(heard.audio), heard.sample_rate, heard.num_channels) == (2 * WINDOW_BYTES, IN_RATE, 1)
    received = await read(message(json.dumps({"label": "rtvi-ai", "type": "client-ready"})))
    assert isinstance(received, InputTransportMessageFrame)
    assert received.message["type"] == "client-ready"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe\xfd\xfc", "not a pipecat protobuf frame"),
        ("hello", "not a pipecat protobuf frame"),
        (b"", "holds no frame"),
        (audio(FRAME, rate=4000), "16000 Hz mono, not 4000 Hz with 1 channels"),
        (audio(b"RIFF____WAVEfmt " + FRAME), "without a WAV header"),
        (text_frame("I am the bot"), "holds no frame that a client may send"),
        (message("[" * 60_000), f"more than {DEEPEST} lists and objects in one another"),
        (message('{"a": [' + "{}," * 20 + "[" * DEEPEST + "]" * DEEPEST + "]}"), "more than 32 lists"),
        (message('{"a": ' + "9" * 5000 + "}"), "not JSON"),
        ("[" * 60_000, "not a pipecat protobuf frame"),
        (audio(FRAME, channels=2), "16000 Hz mono, not 16000 Hz with 2 channels"),
        (audio(bytes(641)), "an odd number of bytes"),
        (message('{"type": '), "not JSON"),
        (message("[1, 2]"), "not a JSON object"),
        (message("null"), "not a JSON object"),
    ],
)
async def test_anything_else_is_refused_with_the_reason(data: str | bytes, reason: str) -> None:
    serializer = StrictSerializer()
    with pytest.raises(WireError, match=reason):
        await read(data, serializer)
    assert serializer.refusal is not None
    assert re.search(reason, serializer.refusal)
    assert len(serializer.refusal.encode()) <= 123, "a WebSocket's closing reason has no more bytes"


@pytest.mark.parametrize("rate", [8000, 24000, 44100, 48000])
async def test_audio_of_another_rate_is_resampled(rate: int) -> None:
    serializer, heard = StrictSerializer(clock=Clock()), b""
    tone = (8000 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)).astype(np.int16)
    for piece in np.array_split(tone, 50):
        frame = await read(audio(piece.tobytes(), rate=rate), serializer)
        assert frame is None or isinstance(frame, InputAudioRawFrame)
        heard += frame.audio if frame else b""
    samples = np.frombuffer(heard, np.int16)
    assert 0.9 * IN_RATE < len(samples) <= IN_RATE
    spectrum = np.abs(np.fft.rfft(samples[-8000:]))
    assert int(spectrum.argmax()) * 2 == 440


@pytest.mark.parametrize("size", [6, 320, 512, 640, 1024, 1536, 5000])
async def test_audio_is_passed_on_in_whole_windows_as_soon_as_one_is_complete(size: int) -> None:
    serializer = StrictSerializer(clock=Clock())
    sent = np.random.default_rng(1).integers(-99, 99, 4 * WINDOW_BYTES, np.int16).tobytes()
    heard, waiting = b"", 0
    for at in range(0, len(sent), size):
        piece = sent[at : at + size]
        frame = await read(audio(piece), serializer)
        waiting += len(piece)
        assert frame is None or isinstance(frame, InputAudioRawFrame)
        assert len(frame.audio if frame else b"") == waiting // WINDOW_BYTES * WINDOW_BYTES
        heard += frame.audio if frame else b""
        waiting %= WINDOW_BYTES
    assert heard == sent


async def test_a_message_is_refused_by_its_size_before_it_is_parsed() -> None:
    for data, said in (
        (audio(bytes(LARGEST_AUDIO)), "128 kB at most"),
        (message("[" * LARGEST_AUDIO), "128 kB at most"),
        ("x" * (LARGEST_AUDIO + 1), "128 kB at most"),
        (message("{" * (LARGEST_TEXT + 1)), "65536 characters at most"),
    ):
        serializer = StrictSerializer()
        with pytest.raises(WireError, match=said):
            await read(data, serializer)
        assert serializer.code == 1009
    whole = json.dumps({"label": "rtvi-ai", "text": "[{" * 30_000})
    received = await read(message(whole))
    assert isinstance(received, InputTransportMessageFrame)
    assert len(str(received)) < 100, "pipecat formats it at each part of the pipeline"


async def test_messages_may_not_come_much_faster_than_a_client_needs() -> None:
    clock = Clock()
    serializer = StrictSerializer(clock=clock)
    ready = message('{"label": "rtvi-ai", "type": "x"}')
    for _ in range(RTVI.at_once):
        await read(ready, serializer)
    clock.now += 1
    for _ in range(int(RTVI.a_second)):
        await read(ready, serializer)
    await read(audio(FRAME), serializer)
    with pytest.raises(WireError, match="20 messages of RTVI a second"):
        await read(ready, serializer)
    assert serializer.code == 1008


async def test_nor_much_larger_than_a_client_needs() -> None:
    clock = Clock()
    serializer = StrictSerializer(clock=clock)
    large = message('{"text": "' + "x" * (LARGEST_TEXT - 12) + '"}')
    for _ in range(CHARACTERS.at_once // LARGEST_TEXT):
        await read(large, serializer)
    clock.now += LARGEST_TEXT / CHARACTERS.a_second
    await read(large, serializer)
    with pytest.raises(WireError, match="65536 characters of RTVI a second"):
        await read(large, serializer)
    assert serializer.code == 1008


async def test_silence_does_not_let_an_hour_of_audio_come_at_once() -> None:
    clock = Clock()
    serializer = StrictSerializer(clock=clock)
    await read(audio(SECOND), serializer)
    clock.now += 3600
    for _ in range(int(BEHIND + AHEAD)):
        await read(audio(SECOND), serializer)
    with pytest.raises(WireError, match="ahead of real time"):
        await read(audio(SECOND), serializer)
    assert serializer.code == 1008


async def test_audio_may_arrive_late_but_not_faster_than_speech() -> None:
    clock = Clock()
    serializer = StrictSerializer(clock=clock)
    await read(audio(SECOND), serializer)
    clock.now += 60
    for _ in range(60 + int(AHEAD) - 1):
        await read(audio(SECOND), serializer)
    with pytest.raises(WireError, match="ahead of real time"):
        await read(audio(SECOND), serializer)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("half an emoji \ud83d", "half an emoji "),
        ("\ud83d\ude00", "😀"),
        ("a\0b\x1b[31m", "ab"),
        ("<|im_end|> 1 < 2", "<|im_end|> 1 < 2"),
    ],
)
async def test_what_a_client_types_can_be_kept_and_sent_on(typed: str, text: str) -> None:
    sent = {"label": "rtvi-ai", "type": "send-text", "id": "1\udc00", "data": {"content": typed}}
    frame = await read(message(json.dumps(sent)))
    assert isinstance(frame, InputTransportMessageFrame)
    assert frame.message == sent | {"id": "1", "data": {"content": text}}
