"""The RTVI messages of a call: typed, with their JSON. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import Meta, ValidationError, convert, to_builtins

from latency.record.json_form import TurnError
from latency.record.turn import TurnReport
from voice.errors import WireError
from voice.wire.requests import Reply, Request, read_reply

RTVI_VERSION = "2.0.0"
_LABEL = "rtvi-ai"


@dataclass(frozen=True, slots=True)
class ClientReady:
    """Begins the handshake; `BotReady` answers it."""


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """A request in mid-call; its `RequestAnswer` or `Refusal` has the same id."""

    id: str
    request: Request


@dataclass(frozen=True, slots=True)
class BotReady:
    """Ends the handshake."""


@dataclass(frozen=True, slots=True)
class Speaking:
    """The server detected that someone started or stopped speaking."""

    who: Literal["user", "bot"]
    started: bool


@dataclass(frozen=True, slots=True)
class Transcription:
    """A text from the recogniser."""

    text: str
    final: bool
    """False for the turn so far, which may still change."""


@dataclass(frozen=True, slots=True)
class BotOutput:
    """Text of the bot; sent before it is spoken and again afterwards."""

    text: str
    segment: Any
    """Equal in all messages about the same text; None if the server does not number them."""
    will_be_spoken: bool
    heard: str = ""
    """The part of it that has been played so far, by the server's clock."""
    left: str | None = None
    """The rest; None if the server does not report its progress."""


@dataclass(frozen=True, slots=True)
class SpokenText:
    """Text that is being spoken, from servers that send no `BotOutput`."""

    text: str


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """The server reports a failure."""

    reason: str


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """The server's report of a turn, sent again whenever it changes."""

    report: TurnReport

    def to_json(self) -> dict[str, Any]:
        """The data of the `server-message`."""
        return {"type": "turn", **self.report.to_json()}


class _ServerData:
    """A `server-message` whose fields are its JSON."""

    __slots__ = ()
    type: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """The data of the `server-message`."""
        return {"type": self.type, **to_builtins(self)}


@dataclass(frozen=True, slots=True)
class DuckMessage(_ServerData):
    """The server asks the client to lower its volume, or to restore it; an interruption also restores it.

    Sent to clients that have announced support (`voice.wire.endpoint.DUCKS_PARAMETER`).
    """

    type: ClassVar[str] = "duck"
    gain: Annotated[float, Meta(ge=0, le=1)]
    """1 is full volume."""


@dataclass(frozen=True, slots=True)
class EndedMessage(_ServerData):
    """The agent ends the call, so the closed connection is not broken. Only browsers need this message."""

    type: ClassVar[str] = "ended"
    reason: str
    """The reason, a clause."""


@dataclass(frozen=True, slots=True)
class ResumeMessage(_ServerData):
    """How to resume a call that loses its connection (`voice.wire.resumption`)."""

    type: ClassVar[str] = "resume"
    token: str = field(repr=False)
    within: float
    """Seconds for which the server waits for the client."""
    received: int
    """The number of client messages that the server has received."""


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """The server's reply to the client message with this id."""

    id: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class Refusal:
    """The server refuses the client message with this id."""

    id: str
    reason: str
    """A sentence."""


@dataclass(frozen=True, slots=True)
class UnknownMessage:
    """A message that this client does not use."""

    type: str


ServerMessage: TypeAlias = (
    BotReady
    | Speaking
    | Transcription
    | BotOutput
    | SpokenText
    | ServerFailure
    | TurnMessage
    | DuckMessage
    | ResumeMessage
    | RequestAnswer
    | Refusal
    | UnknownMessage
)


def to_rtvi(
    message: ClientReady
    | ClientMessage
    | BotReady
    | Speaking
    | TurnMessage
    | DuckMessage
    | ResumeMessage
    | EndedMessage,
    *,
    id: str = "",
) -> dict[str, Any]:
    """The message as JSON; `id` is that of messages without their own."""
    match message:
        case ClientReady():
            data: dict[str, Any] = {"version": RTVI_VERSION, "about": {"library": "turnaround"}}
            return _envelope("client-ready", id, data)
        case ClientMessage():
            data = {"t": message.request.topic, "d": message.request.to_json()}
            return _envelope("client-message", message.id, data)
        case BotReady():
            return _envelope("bot-ready", id, {"version": RTVI_VERSION})
        case TurnMessage() | DuckMessage() | ResumeMessage() | EndedMessage():
            return _envelope("server-message", id, message.to_json())
        case Speaking():
            return _envelope(f"{message.who}-{'started' if message.started else 'stopped'}-speaking", id, {})


def read_rtvi(text: str) -> ServerMessage:
    """Read a message from a server.

    Raises:
        WireError: it is not RTVI, or its content is broken.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"The server sent a message that is not JSON: {text[:60]!r}.") from error
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        raise WireError(f"The server sent a message that is not RTVI: {text[:60]!r}.")
    data = content.get("data")
    return _read(content["type"], str(content.get("id", "")), data if isinstance(data, dict) else {})


def _envelope(type: str, id: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"label": _LABEL, "type": type, "id": id, "data": data}


def _read(type: str, id: str, data: Mapping[str, Any]) -> ServerMessage:
    match type:
        case "bot-ready":
            return BotReady()
        case "user-started-speaking" | "user-stopped-speaking":
            return Speaking("user", "started" in type)
        case "bot-started-speaking" | "bot-stopped-speaking":
            return Speaking("bot", "started" in type)
        case "server-message":
            return _read_server_data(data) or UnknownMessage(type)
        case "server-response":
            return RequestAnswer(id, read_reply(str(data.get("t")), data.get("d")))
        case "error-response":
            return Refusal(id, str(data.get("error") or "The server refused without a reason."))
        case "error":
            return ServerFailure(str(data.get("error") or data.get("message") or data))
        case _:
            return _read_text(type, data)


def _read_server_data(data: Mapping[str, Any]) -> TurnMessage | DuckMessage | ResumeMessage | None:
    """Read the data of a `server-message`; None for other subjects."""
    kind = data.get("type")
    try:
        if kind == "turn":
            return TurnMessage(TurnReport.from_json(data))
        if kind == DuckMessage.type:
            return convert(data, DuckMessage)
        return convert(data, ResumeMessage) if kind == ResumeMessage.type else None
    except TurnError as error:
        raise WireError(f"The server sent a broken report of a turn: {error}.") from error
    except ValidationError as error:
        raise WireError(f"The server sent a broken {kind} message: {error}.") from error


def _read_text(type: str, data: Mapping[str, Any]) -> ServerMessage:
    text = data.get("text")
    if not isinstance(text, str) or not text.strip():
        return UnknownMessage(type)
    match type:
        case "user-transcription":
            return Transcription(text, final=bool(data.get("final")))
        case "bot-output":
            will_be_spoken = bool(data.get("will_be_spoken", data.get("spoken", True)))
            progress = data.get("spoken_progress")
            heard, left = "", None
            if isinstance(progress, Mapping):
                heard, left = str(progress.get("accumulated_text") or ""), str(progress.get("remaining_text") or "")
            return BotOutput(text, data.get("segment_id"), will_be_spoken, heard, left)
        case "bot-tts-text":
            return SpokenText(text)
        case _:
            return UnknownMessage(type)
