"""The wire between a recogniser service and its worker process: messages to bytes and back, without any I/O.

A message is a little-endian u32 length, one byte for its kind, and the body; the length counts kind and body. The body
of `Audio` is its samples, of all others a JSON list of their fields. The service sends commands on the worker's
standard input, and the worker sends replies on its standard output. The service numbers the utterances; replies about
an utterance carry its number.

`multiprocessing.connection` does not serve here, because its `send` blocks: when a worker hangs, the event loop, and
with it every call of the process, stands still after 94 messages of 20 ms (1.9 s of audio). asyncio's pipes buffer
instead, so that `SphinxWorker.send` can notice the hang. They also cost less: a message takes 8 to 11 us of the event
loop instead of 40, a round trip 139 to 149 us instead of 197 to 246 (medians of 2,000, two runs on two cores). Both
notice a killed worker after 5 to 9 ms (`python -m pytest tests/benchmarks/test_worker_protocol.py -m slow -s`).
"""

import json
import struct
from dataclasses import dataclass, fields
from typing import get_args

_LENGTH = struct.Struct("<I")

SAMPLE_RATE = 16000
BYTES_PER_SECOND = 2 * SAMPLE_RATE
"""Audio is mono, signed 16-bit samples at 16 kHz."""

MAX_MESSAGE = 1 << 20
"""Bytes of kind and body; half a minute of audio. A longer message is a broken stream."""


class ProtocolError(Exception):
    """The bytes are not messages of this protocol: the two ends differ, or something else wrote to the pipe."""


@dataclass(frozen=True, slots=True)
class StartUtterance:
    """Begin an utterance; the audio that follows belongs to it.

    Parameters:
        utterance: its number.
        over_answer: whether it is said over an answer, so that replies tell what it leans to.
    """

    utterance: int
    over_answer: bool = False


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
    """Answer with `Peeked`, the text of the audio so far; the utterance goes on."""

    utterance: int


@dataclass(frozen=True, slots=True)
class AbandonUtterance:
    """Forget the utterance: no more replies about it."""

    utterance: int


@dataclass(frozen=True, slots=True)
class Reset:
    """Forget the speaker and any utterance under way; answered with `Ready`, after the replies to earlier commands."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker has loaded its models, or has carried out a `Reset`.

    Parameters:
        models: engine, version and models, for people.
        load_seconds: how long loading took when the worker started.
    """

    models: str
    load_seconds: float


@dataclass(frozen=True, slots=True)
class Partial:
    """The text so far, sent when it changes; later audio may still change it.

    Parameters:
        utterance: the number given at its start.
        text: the words.
        leaning: by how many nats the sound is more like an interruption than like a backchannel, if it began over an
            answer and is still short. Then partial texts are sent even if the same.
    """

    utterance: int
    text: str
    leaning: float | None = None


@dataclass(frozen=True, slots=True)
class Peeked:
    """The text of all the audio before a `PeekUtterance`, changed or not; `leaning` as in `Partial`."""

    utterance: int
    text: str
    leaning: float | None = None


@dataclass(frozen=True, slots=True)
class Final:
    """The text of a finished utterance, lower case without punctuation; empty when there were no words.

    Parameters:
        utterance: the number given at its start.
        text: the words.
        decode_seconds: time spent recognising the whole utterance.
        finish_seconds: the part of it spent after the end of the audio.
        leaning: as in `Partial`.
    """

    utterance: int
    text: str
    decode_seconds: float
    finish_seconds: float
    leaning: float | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker cannot go on, and exits.

    Parameters:
        reason: one sentence.
    """

    reason: str


Command = StartUtterance | Audio | FinishUtterance | AbandonUtterance | Reset | PeekUtterance
Reply = Ready | Partial | Final | Failed | Peeked
Message = Command | Reply

_KINDS: tuple[type[Message], ...] = get_args(Message)
"""Which message a kind is: its index."""


def encode(message: Message) -> bytes:
    """The bytes of one message.

    Raises:
        ProtocolError: The message is longer than `MAX_MESSAGE`.
    """
    if isinstance(message, Audio):
        body = message.pcm
    else:
        body = json.dumps([getattr(message, field.name) for field in fields(message)]).encode()
    if 1 + len(body) > MAX_MESSAGE:
        raise ProtocolError(f"A {type(message).__name__} of {len(body)} bytes is too long; send it in parts.")
    return _LENGTH.pack(1 + len(body)) + bytes((_KINDS.index(type(message)),)) + body


class MessageReader:
    """Collects bytes as they arrive and returns the messages that are complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """The messages that `data` completes, in order; the rest is kept for the next call.

        Raises:
            ProtocolError: The stream is not of this protocol; do not use the reader again.
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


def _decode(kind: int, body: bytes) -> Message:
    try:
        message = _KINDS[kind]
    except IndexError:
        raise ProtocolError(f"There is no message of kind {kind} in this version of the worker protocol.") from None
    try:
        return Audio(body) if message is Audio else message(*json.loads(body))
    except (ValueError, TypeError) as error:
        raise ProtocolError(f"A {message.__name__} cannot be read: {error}.") from error
