"""The wire of a call: pipecat's protobuf frames and the RTVI messages inside them. No I/O."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from google.protobuf.message import DecodeError
from pipecat.frames.protobufs import frames_pb2

from voice.client.sound.pcm import RATE, Pcm
from voice.errors import ComponentError

RTVI_VERSION = "2.0.0"
_LABEL = "rtvi-ai"


class WireError(ComponentError):
    """The server sent something that is not this protocol."""


@dataclass(frozen=True, slots=True, eq=False)
class AudioPacket:
    """The bot's next audio."""

    pcm: Pcm
    rate: int
    """Hertz."""


@dataclass(frozen=True, slots=True)
class Interruption:
    """The user has interrupted: audio that has not been played must not be."""


@dataclass(frozen=True, slots=True)
class Message:
    """An RTVI message."""

    type: str
    id: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Text:
    """Bot text or a transcription sent as a bare frame; some pipecat servers do."""

    text: str


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """What a client tells its server or asks it for.

    Parameters:
        id: its answer has the same.
        type: what it is about.
        data: any JSON.
    """

    id: str
    type: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answers to a client message.

    Parameters:
        id: of the message.
        data: any JSON; None when it was refused.
        refusal: why it was refused, in a sentence.
    """

    id: str
    data: Any = None
    refusal: str | None = None


Incoming: TypeAlias = AudioPacket | Interruption | Message | Text


def encode_audio(pcm: Pcm) -> bytes:
    """The user's next samples, 16 kHz mono."""
    frame = frames_pb2.Frame()
    frame.audio.audio = pcm.tobytes()
    frame.audio.sample_rate = RATE
    frame.audio.num_channels = 1
    return bytes(frame.SerializeToString())


def encode_message(type: str, id: str, data: Mapping[str, Any]) -> bytes:
    """An RTVI message."""
    frame = frames_pb2.Frame()
    frame.message.data = json.dumps({"label": _LABEL, "type": type, "id": id, "data": data})
    return bytes(frame.SerializeToString())


def client_ready() -> bytes:
    """The handshake's first message; `bot-ready` answers it."""
    return encode_message("client-ready", "ready", {"version": RTVI_VERSION, "about": {"library": "turnaround"}})


def client_message(message: ClientMessage) -> bytes:
    """A message of our own; `answer` reads what comes back.

    Raises:
        TypeError: its data is no JSON.
    """
    return encode_message("client-message", message.id, {"t": message.type, "d": message.data})


def answer(message: Message) -> Answer | None:
    """What a server says to a client message; None when it is something else."""
    if message.type == "server-response":
        return Answer(message.id, data=message.data.get("d"))
    if message.type == "error-response":
        return Answer(message.id, refusal=str(message.data.get("error") or "The server refused without a reason."))
    return None


def clock_ping(number: int, now: float) -> bytes:
    """Ask for the server's monotonic clock; `clock_pong` reads the answer."""
    return client_message(ClientMessage(str(number), "clock", {"client": now}))


def clock_pong(message: Message) -> float | None:
    """The server's clock when it answered a ping, seconds; None when the message is no such answer.

    Raises:
        WireError: it is one, but without the instant.
    """
    if message.type != "server-response" or message.data.get("t") != "clock":
        return None
    answer = message.data.get("d")
    server = answer.get("server") if isinstance(answer, dict) else None
    if not isinstance(server, int | float):
        raise WireError("The server answered a clock ping without its clock; is it another version of this project?")
    return float(server)


def decode(data: bytes | str) -> Incoming:
    """Read one WebSocket message.

    Raises:
        WireError: it is not a pipecat frame, or its audio or RTVI message is broken.
    """
    if isinstance(data, str):
        return _message(data)
    frame = frames_pb2.Frame()
    try:
        frame.ParseFromString(data)
    except DecodeError as error:
        raise WireError(f"The server sent {len(data)} bytes that are no pipecat protobuf frame.") from error
    kind = frame.WhichOneof("frame")
    if kind == "audio":
        return _audio(bytes(frame.audio.audio), frame.audio.sample_rate, frame.audio.num_channels)
    if kind == "interruption":
        return Interruption()
    if kind == "message":
        return _message(frame.message.data)
    if kind in ("text", "transcription"):
        return Text(getattr(frame, kind).text)
    raise WireError("The server sent a pipecat frame of an unknown kind; it may speak a newer protocol.")


def _audio(raw: bytes, rate: int, channels: int) -> AudioPacket:
    if raw[:4] == b"RIFF" and raw[8:12] == b"WAVE":
        raise WireError("The server sends WAV headers with its audio; set add_wav_header=False in its transport.")
    if rate <= 0 or channels <= 0 or len(raw) % (2 * channels):
        raise WireError(f"The server sent audio of {len(raw)} bytes as 16-bit, {channels} channels at {rate} Hz.")
    pcm = np.frombuffer(raw, np.int16)
    if channels > 1:
        pcm = pcm.reshape(-1, channels).mean(axis=1).astype(np.int16)
    return AudioPacket(pcm, rate)


def _message(text: str) -> Message:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise WireError(f"The server sent a message that is not JSON: {text[:60]!r}.") from error
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        raise WireError(f"The server sent a message that is not RTVI: {text[:60]!r}.")
    data = content.get("data")
    return Message(content["type"], str(content.get("id", "")), data if isinstance(data, dict) else {})
