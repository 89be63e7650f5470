"""WebSocket messages of a call as typed events: pipecat's protobuf frames, seen from the client. Pure."""

import json
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError
from pipecat.frames.protobufs import frames_pb2

from voice.errors import WireError
from voice.wire.endpoint import IN_RATE
from voice.wire.messages import ClientMessage, ClientReady, ServerMessage, read_rtvi, to_rtvi


@dataclass(frozen=True, slots=True, eq=False)
class AudioPacket:
    """The bot's next audio."""

    pcm: npt.NDArray[np.int16]
    """Mono samples."""
    rate: int
    """Hertz."""


@dataclass(frozen=True, slots=True)
class Interruption:
    """The user has interrupted the bot: audio that has not been played must be dropped."""


@dataclass(frozen=True, slots=True)
class BareText:
    """Bot text or a transcription sent as a bare frame; some pipecat servers do."""

    text: str


Incoming: TypeAlias = AudioPacket | Interruption | BareText | ServerMessage


def encode_audio(pcm: npt.NDArray[np.int16]) -> bytes:
    """The user's next samples, 16 kHz mono."""
    frame = frames_pb2.Frame()
    frame.audio.audio = pcm.tobytes()
    frame.audio.sample_rate = IN_RATE
    frame.audio.num_channels = 1
    return bytes(frame.SerializeToString())


def encode(message: ClientReady | ClientMessage) -> bytes:
    """A message to the server.

    Raises:
        TypeError: its data is not JSON.
    """
    frame = frames_pb2.Frame()
    frame.message.data = json.dumps(to_rtvi(message, id="ready"))
    return bytes(frame.SerializeToString())


def decode(data: bytes | str) -> Incoming:
    """Read one WebSocket message from a server.

    Raises:
        WireError: it is not a pipecat frame, or its audio or RTVI message is broken.
    """
    if isinstance(data, str):
        return read_rtvi(data)
    frame = frames_pb2.Frame()
    try:
        frame.ParseFromString(data)
    except DecodeError as error:
        raise WireError(f"The server sent {len(data)} bytes that are not a pipecat protobuf frame.") from error
    kind = frame.WhichOneof("frame")
    if kind == "audio":
        return _audio(bytes(frame.audio.audio), frame.audio.sample_rate, frame.audio.num_channels)
    if kind == "interruption":
        return Interruption()
    if kind == "message":
        return read_rtvi(frame.message.data)
    if kind in ("text", "transcription"):
        return BareText(getattr(frame, kind).text)
    raise WireError("The server sent a pipecat frame of an unknown kind; it may speak a newer protocol.")


def _audio(raw: bytes, rate: int, channels: int) -> AudioPacket:
    if raw[:4] == b"RIFF" and raw[8:12] == b"WAVE":
        raise WireError("The server sends WAV headers with its audio; set add_wav_header=False in its transport.")
    if rate <= 0 or channels <= 0 or len(raw) % (2 * channels):
        raise WireError(
            f"The server sent {len(raw)} bytes of audio, which is not 16-bit with {channels} channels at {rate} Hz."
        )
    pcm = np.frombuffer(raw, np.int16)
    if channels > 1:
        pcm = pcm.reshape(-1, channels).mean(axis=1).astype(np.int16)
    return AudioPacket(pcm, rate)
