"""The wire between a recogniser service and its worker process: messages to bytes and back, without any I/O.

A message is a little-endian u32 length, one byte for its kind, and the body; the length counts kind and body. The
service sends commands on the worker's standard input, the worker answers with replies on its standard output. Every
utterance has a number chosen by the service, which the replies about it carry.
"""

import struct
from dataclasses import dataclass

_LENGTH = struct.Struct("<I")
_UTTERANCE = struct.Struct("<I")
_FINAL = struct.Struct("<Idd")
_LOADED = struct.Struct("<d")

MAX_MESSAGE = 1 << 20
"""Bytes of kind and body; half a minute of audio. A longer message is a broken stream."""


class ProtocolError(Exception):
    """The bytes are not messages of this protocol: the two sides differ, or something else wrote to the pipe."""


@dataclass(frozen=True, slots=True)
class StartUtterance:
    """Begin to recognise; the audio that follows belongs to this utterance."""

    utterance: int


@dataclass(frozen=True, slots=True)
class Audio:
    """More of the utterance under way: mono signed 16-bit little-endian samples at 16 kHz, of any length."""

    pcm: bytes


@dataclass(frozen=True, slots=True)
class FinishUtterance:
    """No more audio: answer with `Final`."""

    utterance: int


@dataclass(frozen=True, slots=True)
class PeekUtterance:
    """Answer with `Peeked`: the text of the audio so far; the utterance goes on."""

    utterance: int


@dataclass(frozen=True, slots=True)
class AbandonUtterance:
    """Forget the utterance: nothing more is answered about it."""

    utterance: int


@dataclass(frozen=True, slots=True)
class Reset:
    """Forget the speaker and any utterance under way; answered with `Ready`, after everything that was asked before."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker is loaded, or has carried out a `Reset`.

    Parameters:
        models: engine, version and models, for people.
        load_seconds: how long loading took when the worker started.
    """

    models: str
    load_seconds: float


@dataclass(frozen=True, slots=True)
class Partial:
    """What has been recognised so far, changed since the last time; later words may still change it."""

    utterance: int
    text: str


@dataclass(frozen=True, slots=True)
class Peeked:
    """What has been recognised of all the audio before the question, changed or not."""

    utterance: int
    text: str


@dataclass(frozen=True, slots=True)
class Final:
    """The text of a finished utterance, lower case without punctuation; empty when there were no words.

    Parameters:
        utterance: the number given at its start.
        text: the words.
        decode_seconds: time spent recognising the utterance, all in all.
        finish_seconds: the part of it spent after the end of the audio.
    """

    utterance: int
    text: str
    decode_seconds: float
    finish_seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker cannot go on, and ends.

    Parameters:
        reason: one sentence.
    """

    reason: str


Command = StartUtterance | Audio | FinishUtterance | AbandonUtterance | Reset | PeekUtterance
Reply = Ready | Partial | Final | Failed | Peeked
Message = Command | Reply

_KINDS: dict[type[Message], int] = {
    StartUtterance: 1,
    Audio: 2,
    FinishUtterance: 3,
    AbandonUtterance: 4,
    Reset: 5,
    PeekUtterance: 6,
    Ready: 17,
    Partial: 18,
    Final: 19,
    Failed: 20,
    Peeked: 21,
}


def encode(message: Message) -> bytes:
    """The bytes of one message.

    Raises:
        ProtocolError: The message is longer than `MAX_MESSAGE`.
    """
    body = _body(message)
    if 1 + len(body) > MAX_MESSAGE:
        raise ProtocolError(f"A {type(message).__name__} of {len(body)} bytes is too long; send it in parts.")
    return _LENGTH.pack(1 + len(body)) + bytes((_KINDS[type(message)],)) + body


class MessageReader:
    """Collects bytes as they arrive and gives the messages that are complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """The messages that `data` completes, in order; an incomplete rest is kept for the next call.

        Raises:
            ProtocolError: The stream is not of this protocol; the reader must not be used any further.
        """
        self._buffer += data
        messages: list[Message] = []
        at = 0
        while len(self._buffer) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer, at)
            if not 1 <= length <= MAX_MESSAGE:
                raise ProtocolError(f"A message cannot have {length} bytes: this is not the worker protocol.")
            end = at + _LENGTH.size + length
            if len(self._buffer) < end:
                break
            kind, body = self._buffer[at + _LENGTH.size], bytes(self._buffer[at + _LENGTH.size + 1 : end])
            messages.append(_decode(kind, body))
            at = end
        del self._buffer[:at]
        return messages


def _body(message: Message) -> bytes:
    match message:
        case (
            StartUtterance(utterance)
            | FinishUtterance(utterance)
            | AbandonUtterance(utterance)
            | PeekUtterance(utterance)
        ):
            return _UTTERANCE.pack(utterance)
        case Audio(pcm):
            return pcm
        case Reset():
            return b""
        case Ready(models, load_seconds):
            return _LOADED.pack(load_seconds) + models.encode()
        case Partial(utterance, text) | Peeked(utterance, text):
            return _UTTERANCE.pack(utterance) + text.encode()
        case Final(utterance, text, decode_seconds, finish_seconds):
            return _FINAL.pack(utterance, decode_seconds, finish_seconds) + text.encode()
        case Failed(reason):
            return reason.encode()


def _decode(kind: int, body: bytes) -> Message:
    try:
        match kind:
            case 1:
                return StartUtterance(*_UTTERANCE.unpack(body))
            case 2:
                return Audio(body)
            case 3:
                return FinishUtterance(*_UTTERANCE.unpack(body))
            case 4:
                return AbandonUtterance(*_UTTERANCE.unpack(body))
            case 5:
                return Reset()
            case 6:
                return PeekUtterance(*_UTTERANCE.unpack(body))
            case 17:
                return Ready(body[_LOADED.size :].decode(), *_LOADED.unpack_from(body))
            case 18:
                (utterance,) = _UTTERANCE.unpack_from(body)
                return Partial(utterance, body[_UTTERANCE.size :].decode())
            case 19:
                utterance, decode_seconds, finish_seconds = _FINAL.unpack_from(body)
                return Final(utterance, body[_FINAL.size :].decode(), decode_seconds, finish_seconds)
            case 20:
                return Failed(body.decode())
            case 21:
                (utterance,) = _UTTERANCE.unpack_from(body)
                return Peeked(utterance, body[_UTTERANCE.size :].decode())
    except (struct.error, UnicodeDecodeError) as error:
        raise ProtocolError(f"A message of kind {kind} cannot be read: {error}.") from error
    raise ProtocolError(f"There is no message of kind {kind} in this version of the worker protocol.")
