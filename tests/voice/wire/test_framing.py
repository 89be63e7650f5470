"""The client's frames are pipecat's own, and anything else is refused."""

import json

import numpy as np
import pytest
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InputTransportMessageFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
    TextFrame,
)
from pipecat.serializers.protobuf import ProtobufFrameSerializer

from tests.voice.wire.packed import audio, message
from voice.errors import WireError
from voice.wire import framing
from voice.wire.framing import AudioPacket, BareText, Interruption
from voice.wire.messages import BotReady, ClientMessage, ClientReady
from voice.wire.requests import ClockPing, Custom, SwapRequest


async def written(frame: Frame) -> bytes:
    data = await ProtobufFrameSerializer().serialize(frame)
    assert isinstance(data, bytes)
    return data


async def test_pipecat_reads_the_users_audio() -> None:
    pcm = np.arange(-160, 160).astype(np.int16)
    frame = await ProtobufFrameSerializer().deserialize(framing.encode_audio(pcm))
    assert isinstance(frame, InputAudioRawFrame)
    assert (frame.sample_rate, frame.num_channels) == (16000, 1)
    assert frame.audio == pcm.tobytes()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            ClientReady(),
            {
                "label": "rtvi-ai",
                "type": "client-ready",
                "id": "ready",
                "data": {"version": "2.0.0", "about": {"library": "turnaround"}},
            },
        ),
        (
            ClientMessage("3", ClockPing(12.5)),
            {
                "label": "rtvi-ai",
                "type": "client-message",
                "id": "3",
                "data": {"t": "clock", "d": {"client": 12.5}},
            },
        ),
        (
            ClientMessage("message-0", SwapRequest(tier="fast")),
            {
                "label": "rtvi-ai",
                "type": "client-message",
                "id": "message-0",
                "data": {"t": "llm", "d": {"tier": "fast"}},
            },
        ),
        *(
            (
                ClientMessage("message-0", Custom("other", data)),
                {
                    "label": "rtvi-ai",
                    "type": "client-message",
                    "id": "message-0",
                    "data": {"t": "other", "d": data},
                },
            )
            for data in ({"a": "b"}, {}, None, ["a", 1])
        ),
    ],
)
async def test_pipecat_reads_the_clients_messages(
    message: ClientReady | ClientMessage, expected: dict[str, object]
) -> None:
    frame = await ProtobufFrameSerializer().deserialize(framing.encode(message))
    assert isinstance(frame, InputTransportMessageFrame)
    assert frame.message == expected


@pytest.mark.parametrize(("channels", "expected"), [(1, [100, 300, -100, -300]), (2, [200, -200])])
async def test_the_bots_audio_is_read_as_pipecat_writes_it(channels: int, expected: list[int]) -> None:
    raw = np.array([100, 300, -100, -300], np.int16).tobytes()
    packet = framing.decode(await written(OutputAudioRawFrame(audio=raw, sample_rate=22050, num_channels=channels)))
    assert isinstance(packet, AudioPacket)
    assert (packet.pcm.tolist(), packet.rate) == (expected, 22050)


async def test_messages_interruptions_and_text_are_read_as_pipecat_writes_them() -> None:
    message = {"label": "rtvi-ai", "type": "bot-ready", "id": "ready", "data": {"version": "2.0.0"}}
    assert framing.decode(await written(OutputTransportMessageFrame(message=message))) == BotReady()
    assert framing.decode(await written(InterruptionFrame())) == Interruption()
    assert framing.decode(await written(TextFrame("hello"))) == BareText("hello")
    assert framing.decode(json.dumps(message)) == BotReady()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        pytest.param(b"\xff\xff\xff\xff", "4 bytes that are not a pipecat protobuf frame", id="garbage"),
        pytest.param(b"", "unknown kind", id="nothing"),
        pytest.param(audio(b"abc"), "3 bytes of audio, which is not 16-bit", id="half a sample"),
        pytest.param(audio(b"abcd", rate=0), "at 0 Hz", id="no rate"),
        pytest.param(audio(b"ab", channels=2), "2 channels", id="half a stereo sample"),
        pytest.param(audio(b"RIFF....WAVEfmt "), "WAV headers", id="wav header"),
        pytest.param(message("{"), "not JSON", id="broken JSON"),
        pytest.param(message("[1]"), "not RTVI", id="JSON of another shape"),
        pytest.param("hello", "not JSON", id="text"),
    ],
)
def test_anything_but_the_protocol_is_refused_with_one_sentence(data: bytes | str, sentence: str) -> None:
    with pytest.raises(WireError, match=sentence) as refused:
        framing.decode(data)
    assert refused.value.exit_code == 4
