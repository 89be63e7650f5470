"""The messages between a recogniser and its worker process, each one line of JSON. Pure.

The service sends commands to the worker's standard input, and the worker sends replies to its standard output. The
service numbers the utterances; replies about an utterance carry its number.

`multiprocessing` is unsuitable: its `Connection.send` blocks, so a hanging worker would stop the event loop and every
call of the process, and its `spawn` and `forkserver` import the user's script again in every worker.
"""

import msgspec

SAMPLE_RATE = 16000
BYTES_PER_SECOND = 2 * SAMPLE_RATE
"""Audio is mono, signed 16-bit samples at 16 kHz."""


class StartUtterance(msgspec.Struct, frozen=True, tag=True):
    """Begin an utterance; the audio that follows belongs to it."""

    utterance: int
    over_answer: bool = False
    """Whether it is spoken over an answer, so that replies include evidence for its class."""


class Audio(msgspec.Struct, frozen=True, tag=True):
    """More of the utterance under way: mono signed 16-bit little-endian samples at 16 kHz, of any length."""

    pcm: bytes


class FinishUtterance(msgspec.Struct, frozen=True, tag=True):
    """No more audio: answer with `Final`."""

    utterance: int


class PeekUtterance(msgspec.Struct, frozen=True, tag=True):
    """Answer with `Peeked`, the text of the audio so far; the utterance goes on."""

    utterance: int


class AbandonUtterance(msgspec.Struct, frozen=True, tag=True):
    """Forget the utterance: no more replies about it."""

    utterance: int


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The worker has loaded its models."""

    models: str
    """Engine, version and models, for display."""


class Partial(msgspec.Struct, frozen=True, tag=True):
    """The text so far, sent when it changes; later audio may still change it."""

    utterance: int
    text: str
    evidence: float | None = None
    """The log-likelihood ratio of interruption to backchannel, in nats, if the sound began over an answer and is still
    short. Partial texts are then sent even if unchanged."""


class Peeked(msgspec.Struct, frozen=True, tag=True):
    """The text of all audio before a `PeekUtterance`, even if unchanged; `evidence` as in `Partial`."""

    utterance: int
    text: str
    evidence: float | None = None


class Final(msgspec.Struct, frozen=True, tag=True):
    """The text of a finished utterance, lower case without punctuation; empty if there were no words."""

    utterance: int
    text: str
    decode_seconds: float
    """Seconds spent recognising the whole utterance."""
    finish_seconds: float
    """The part of it spent after the end of the audio."""
    evidence: float | None = None
    """As in `Partial`."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The worker cannot go on, and exits."""

    reason: str
    """One sentence."""


Command = StartUtterance | Audio | FinishUtterance | AbandonUtterance | PeekUtterance
Reply = Ready | Partial | Final | Failed | Peeked

_COMMANDS: "msgspec.json.Decoder[Command]" = msgspec.json.Decoder(Command)
_REPLIES: "msgspec.json.Decoder[Reply]" = msgspec.json.Decoder(Reply)


def encode(message: Command | Reply) -> bytes:
    """The line of a message."""
    return msgspec.json.encode(message) + b"\n"


def read_command(line: bytes) -> Command:
    """The command in a line.

    Raises:
        msgspec.DecodeError, UnicodeError: it is not a command.
    """
    return _COMMANDS.decode(line)


def read_reply(line: bytes) -> Reply:
    """The reply in a line.

    Raises:
        msgspec.DecodeError, UnicodeError: it is not a reply.
    """
    return _REPLIES.decode(line)
