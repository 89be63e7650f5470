"""The server refuses broken input and says why."""

import json

import pytest
from pipecat.frames.frames import Frame, InputAudioRawFrame, InputTransportMessageFrame

from tests.voice.wire.packed import audio, message
from voice.errors import WireError
from voice.server.transport import AHEAD, StrictSerializer
from voice.wire.endpoint import IN_RATE

FRAME, SECOND = bytes(640), bytes(2 * IN_RATE)


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
    assert (len(heard.audio), heard.sample_rate, heard.num_channels) == (640, IN_RATE, 1)
    received = await read(message(json.dumps({"label": "rtvi-ai", "type": "client-ready"})))
    assert isinstance(received, InputTransportMessageFrame)
    assert received.message["type"] == "client-ready"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe\xfd\xfc", "not a pipecat protobuf frame"),
        ("hello", "not a pipecat protobuf frame"),
        (b"", "holds no frame"),
        (audio(FRAME, rate=8000), "16000 Hz mono, not 8000 Hz with 1 channels"),
        (audio(FRAME, channels=2), "16000 Hz mono, not 16000 Hz with 2 channels"),
        (audio(bytes(641)), "an odd number of bytes"),
        (message('{"type": '), "holds no frame"),
        (message("[1, 2]"), "not a JSON object"),
        (message("null"), "not a JSON object"),
        (audio(SECOND * 11), "ahead of real time"),
    ],
)
async def test_anything_else_is_refused_with_the_reason(data: str | bytes, reason: str) -> None:
    serializer = StrictSerializer()
    with pytest.raises(WireError, match=reason):
        await read(data, serializer)
    assert serializer.refusal is not None
    assert reason in serializer.refusal
    assert len(serializer.refusal.encode()) <= 123, "a WebSocket's closing reason has no more bytes"


async def test_audio_may_arrive_late_but_not_faster_than_speech() -> None:
    clock = Clock()
    serializer = StrictSerializer(clock=clock)
    await read(audio(SECOND), serializer)
    clock.now += 60
    for _ in range(60 + int(AHEAD) - 1):
        await read(audio(SECOND), serializer)
    with pytest.raises(WireError, match="ahead of real time"):
        await read(audio(SECOND), serializer)
