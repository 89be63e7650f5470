"""The wire: what pipecat's own serializer reads and writes, and what is refused."""

import json

import numpy as np
import pytest
from pipecat.frames.frames import (
    InputAudioRawFrame,
    InputTransportMessageFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
    TextFrame,
)
from pipecat.frames.protobufs import frames_pb2
from pipecat.serializers.protobuf import ProtobufFrameSerializer

from voice.wire import client_wire as wire


async def test_the_users_audio_is_what_pipecat_reads():
    pcm = np.arange(-160, 160).astype(np.int16)
    frame = await ProtobufFrameSerializer().deserialize(wire.encode_audio(pcm))
    assert isinstance(frame, InputAudioRawFrame)
    assert (frame.sample_rate, frame.num_channels) == (16000, 1)
    assert frame.audio == pcm.tobytes()


async def test_the_handshake_and_the_ping_are_what_pipecat_reads():
    ready = await ProtobufFrameSerializer().deserialize(wire.client_ready())
    assert isinstance(ready, InputTransportMessageFrame)
    assert ready.message == {
        "label": "rtvi-ai",
        "type": "client-ready",
        "id": "ready",
        "data": {"version": "2.0.0", "about": {"library": "turnaround"}},
    }
    ping = await ProtobufFrameSerializer().deserialize(wire.clock_ping(3, 12.5))
    assert ping.message == {
        "label": "rtvi-ai",
        "type": "client-message",
        "id": "3",
        "data": {"t": "clock", "d": {"client": 12.5}},
    }


@pytest.mark.parametrize(("channels", "expected"), [(1, [100, 300, -100, -300]), (2, [200, -200])])
async def test_the_bots_audio_is_read_as_pipecat_writes_it(channels, expected):
    raw = np.array([100, 300, -100, -300], np.int16).tobytes()
    frame = OutputAudioRawFrame(audio=raw, sample_rate=22050, num_channels=channels)
    packet = wire.decode(await ProtobufFrameSerializer().serialize(frame))
    assert isinstance(packet, wire.AudioPacket)
    assert (packet.pcm.tolist(), packet.rate) == (expected, 22050)


async def test_messages_interruptions_and_text_are_read_as_pipecat_writes_them():
    serializer = ProtobufFrameSerializer()
    message = {"label": "rtvi-ai", "type": "bot-ready", "id": "ready", "data": {"version": "2.0.0"}}
    written = await serializer.serialize(OutputTransportMessageFrame(message=message))
    assert wire.decode(written) == wire.Message("bot-ready", "ready", {"version": "2.0.0"})
    assert wire.decode(await serializer.serialize(InterruptionFrame())) == wire.Interruption()
    assert wire.decode(await serializer.serialize(TextFrame("hello"))) == wire.Text("hello")
    assert wire.decode(json.dumps(message)) == wire.Message("bot-ready", "ready", {"version": "2.0.0"})


def audio(raw: bytes, rate: int = 16000, channels: int = 1) -> bytes:
    frame = frames_pb2.Frame()
    frame.audio.audio, frame.audio.sample_rate, frame.audio.num_channels = raw, rate, channels
    return frame.SerializeToString()


def message(text: str) -> bytes:
    frame = frames_pb2.Frame()
    frame.message.data = text
    return frame.SerializeToString()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        pytest.param(b"\xff\xff\xff\xff", "4 bytes that are no pipecat protobuf frame", id="garbage"),
        pytest.param(b"", "unknown kind", id="nothing"),
        pytest.param(audio(b"abc"), "audio of 3 bytes as 16-bit", id="half a sample"),
        pytest.param(audio(b"abcd", rate=0), "at 0 Hz", id="no rate"),
        pytest.param(audio(b"ab", channels=2), "2 channels", id="half a stereo sample"),
        pytest.param(audio(b"RIFF....WAVEfmt "), "WAV headers", id="wav header"),
        pytest.param(message("{"), "not JSON", id="broken JSON"),
        pytest.param(message("[1]"), "not RTVI", id="JSON of another shape"),
        pytest.param("hello", "not JSON", id="text"),
    ],
)
def test_what_is_not_the_protocol_is_refused_with_one_sentence(data, sentence):
    with pytest.raises(wire.WireError, match=sentence) as refused:
        wire.decode(data)
    assert refused.value.exit_code == 4


def test_a_clock_answer_is_recognised_and_one_without_its_clock_is_refused():
    answer = wire.Message("server-response", "3", {"t": "clock", "d": {"client": 1.0, "server": 7.5}})
    assert wire.clock_pong(answer) == 7.5
    assert wire.clock_pong(wire.Message("server-response", "3", {"t": "other", "d": {}})) is None
    assert wire.clock_pong(wire.Message("bot-ready", "3", {})) is None
    with pytest.raises(wire.WireError, match="without its clock"):
        wire.clock_pong(wire.Message("server-response", "3", {"t": "clock", "d": {"client": 1.0}}))


@pytest.mark.parametrize("data", [{"tier": "fast"}, {}, None, ["a", 1]])
async def test_a_message_of_our_own_is_what_pipecat_reads(data):
    sent = wire.client_message(wire.ClientMessage("message-0", "llm", data))
    read = await ProtobufFrameSerializer().deserialize(sent)
    assert read.message == {
        "label": "rtvi-ai",
        "type": "client-message",
        "id": "message-0",
        "data": {"t": "llm", "d": data},
    }


@pytest.mark.parametrize(
    ("type", "data", "expected"),
    [
        ("server-response", {"t": "llm", "d": {"policy": "race"}}, wire.Answer("4", data={"policy": "race"})),
        ("server-response", {"t": "llm"}, wire.Answer("4")),
        ("error-response", {"error": "No such tier."}, wire.Answer("4", refusal="No such tier.")),
        ("error-response", {}, wire.Answer("4", refusal="The server refused without a reason.")),
        ("server-message", {"t": "llm", "d": {}}, None),
    ],
)
def test_answers_and_refusals_are_told_from_everything_else(type, data, expected):
    assert wire.answer(wire.Message(type, "4", data)) == expected
