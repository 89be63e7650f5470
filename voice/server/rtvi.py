"""The RTVI messages of one call's client: bounded before parsing, handled if a client needs them, and answered.

pipecat's processor also takes messages that only a server should send, and answers errors with errors, which two
servers would exchange for ever.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputTransportMessageFrame,
    InterimTranscriptionFrame,
    OutputTransportMessageUrgentFrame,
    TranscriptionFrame,
    UserStartedSpeakingFrame,
)
from pipecat.processors.frameworks.rtvi import RTVIObserver, RTVIObserverParams, RTVIProcessor
from pipecat.processors.frameworks.rtvi import models as rtvi
from pipecat.processors.frameworks.rtvi.models import ClientMessage
from pydantic import BaseModel

from voice.errors import ConfigurationError, WireError
from voice.frames import CheckedTranscriptionFrame, RevisedTranscriptionFrame, SilenceAskedFrame
from voice.plain_text import plain, plain_values
from voice.redaction import redacted
from voice.server import limits
from voice.server.limits import Bucket
from voice.turns.turn_so_far import joined
from voice.wire.requests import (
    ClockPing,
    ClockPong,
    Custom,
    InterruptRequest,
    Reply,
    SwapRequest,
    SwapState,
    read_request,
)

_STEPS = np.zeros(256, np.int8)
"""How each character of a JSON text changes the nesting depth."""
_STEPS[[ord("["), ord("{")]], _STEPS[[ord("]"), ord("}")]] = 1, -1
TAKEN = frozenset(["client-ready", "client-message", "send-text", "disconnect-bot"])
"""The types of messages that are handled."""
MOST_WARNINGS = 3
"""The most warnings per call about unhandled messages."""
log = logging.getLogger(__name__)
NO_TIERS = "This pipeline answers without a language model, so there is none to swap."


class CompactRepr(dict[str, Any]):
    """A JSON object with a short `repr`: pipecat formats a frame's message at each part of the pipeline."""

    def __repr__(self) -> str:
        return f"{len(self)} fields"


def read_message(text: str) -> CompactRepr:
    """Read a client's message, and clean its texts of lone surrogates.

    Raises:
        WireError: it is nested too deeply, or not a JSON object.
    """
    if is_deep(text):
        raise WireError(f"a message has more than {limits.DEEPEST} lists and objects in one another")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError("a message is not JSON") from error
    if not isinstance(content, dict):
        raise WireError("a message is not a JSON object")
    return CompactRepr(plain_values(content))


def is_deep(text: str) -> bool:
    """Whether a JSON text is nested deeper than `DEEPEST`.

    Texts with few brackets are not scanned.
    """
    if text.count("[") + text.count("{") <= limits.DEEPEST:
        return False
    # With escapes removed, each quote begins or ends a string. Non-ASCII characters become question marks.
    plain = text.replace("\\\\", "").replace('\\"', "").encode("ascii", "replace")
    characters = np.frombuffer(plain, np.uint8)
    steps = _STEPS[characters]
    steps[np.cumsum(characters == ord('"')) % 2 == 1] = 0
    return bool(steps.cumsum(dtype=np.int32).max(initial=0) > limits.DEEPEST)


class CallRTVIObserver(RTVIObserver):
    """Reports one call's events to its client; the words of a turn become final once, at its commit.

    Until then later speech may revise them, so they are sent as interim words. Words outside a turn are final at once.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._in_turn = False
        self._latest: TranscriptionFrame | None = None
        self._words: list[str] = []
        """The transcripts of the open turn."""

    async def _handle_interruptions(self, frame: Frame) -> None:
        self._in_turn = isinstance(frame, UserStartedSpeakingFrame)
        latest, self._latest = self._latest, None
        if latest is not None:
            text, self._words = joined(self._words), []
            final = TranscriptionFrame(text, latest.user_id, latest.timestamp, latest.language, finalized=True)
            await super()._handle_user_transcriptions(final)
        await super()._handle_interruptions(frame)

    async def _handle_user_transcriptions(self, frame: TranscriptionFrame | InterimTranscriptionFrame) -> None:
        if isinstance(frame, CheckedTranscriptionFrame) and not self._in_turn:
            # The turn's words have been sent, and clients cannot replace them.
            return
        if self._in_turn and isinstance(frame, TranscriptionFrame):
            if isinstance(frame, RevisedTranscriptionFrame):
                del self._words[-1:]
            self._words.append(frame.text)
            self._latest = frame
            frame = InterimTranscriptionFrame(joined(self._words), frame.user_id, frame.timestamp, frame.language)
        await super()._handle_user_transcriptions(frame)


class CallRTVI(RTVIProcessor):
    """Handles the messages of one call's client; answers unknown ones with an error, and errors with nothing."""

    _warnings = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._asked = Bucket(limits.ASKED)

    async def push_transport_message(self, model: BaseModel, exclude_none: bool = True) -> None:
        """Send a message to the client."""
        message = CompactRepr(model.model_dump(exclude_none=exclude_none))
        await self.push_frame(OutputTransportMessageUrgentFrame(message=message))

    def create_rtvi_observer(self, *, params: RTVIObserverParams | None = None, **options: Any) -> RTVIObserver:
        """The observer that reports the call's events to the client."""
        return CallRTVIObserver(self, params=params, **options)

    async def _handle_transport_message(self, frame: InputTransportMessageFrame) -> None:
        """Queue a valid message if there is room."""
        if frame.message.get("label") != rtvi.MESSAGE_LABEL:
            self._warn("a client sent a message that is not RTVI; it is ignored")
        elif str(frame.message.get("type", "")).startswith("error"):
            self._warn("a client sent an error; errors are not answered")
        elif self._message_queue.qsize() >= limits.MOST_QUEUED:
            self._warn(f"more than {limits.MOST_QUEUED} messages of a client wait; further ones are dropped")
        else:
            await super()._handle_transport_message(frame)

    async def _handle_message(self, message: rtvi.Message, user_id: str | None = None) -> None:
        """Handle a message, or answer why not."""
        if message.type not in TAKEN:
            self._warn("a client sent an RTVI message of a type that is not handled")
            await self._send_error_response(message.id, f'messages of type "{message.type[:40]}" are not handled here')
            return
        if message.type == "send-text":
            content = (message.data or {}).get("content")
            if isinstance(content, str) and len(content) > limits.LONGEST_TEXT:
                await self._send_error_response(message.id, f"a text may have {limits.LONGEST_TEXT} characters at most")
                return
        if _asks(message):
            wait = self._asked.wait(time.monotonic(), limits.ASKED_WITHIN)
            if wait is None:
                self._warn("a client asks for answers or interrupts them too often")
                await self._send_error_response(message.id, f"more than {limits.ASKED.a_second:g} requests a second")
                return
            await asyncio.sleep(wait)
        await super()._handle_message(message, user_id)

    async def _handle_send_text(self, data: rtvi.SendTextData, message_id: str, user_id: str | None = None) -> None:
        """Take a text in place of speech; if it is to be answered at once, it interrupts the answer under way."""
        if data.options is None or data.options.run_immediately:
            await self.push_frame(SilenceAskedFrame())
        await super()._handle_send_text(data, message_id, user_id)

    async def _send_error_frame(self, frame: ErrorFrame) -> None:
        """Report an error to the client, without any API keys that a provider quoted in it."""
        await super()._send_error_frame(ErrorFrame(error=plain(redacted(frame.error)), fatal=frame.fatal))

    def _warn(self, what: str) -> None:
        self._warnings += 1
        if self._warnings <= MOST_WARNINGS:
            more = "; further such warnings of this call are left out" if self._warnings == MOST_WARNINGS else ""
            log.warning("%s%s", what, more)


def _asks(message: rtvi.Message) -> bool:
    """Whether a message requests or interrupts an answer, which keeps the whole pipeline busy."""
    topic = (message.data or {}).get("t") if message.type == "client-message" else None
    return message.type == "send-text" or topic == InterruptRequest.topic


def answer_requests(rtvi: RTVIProcessor, swap: Callable[[SwapRequest], SwapState] | None) -> None:
    """Answer the requests of one call's client; requests on other topics are left to others.

    Args:
        rtvi: the call's RTVI processor.
        swap: carries out a swap or raises ConfigurationError; None without a language model, when every swap is
            refused.
    """

    def reply(message: ClientMessage) -> Reply | None:
        match read_request(message.type, message.data):
            case ClockPing(client):
                return ClockPong(server=time.monotonic(), client=client)
            case SwapRequest() as request:
                if swap is None:
                    raise ConfigurationError(NO_TIERS)
                return swap(request)
            case InterruptRequest():
                return Custom(InterruptRequest.topic, {})
            case Custom():
                return None

    @rtvi.event_handler("on_client_message")  # type: ignore[untyped-decorator]
    async def answer(processor: RTVIProcessor, message: ClientMessage) -> None:
        try:
            found = reply(message)
        except (ConfigurationError, WireError) as error:
            await processor.send_error_response(message, str(error))
        else:
            if isinstance(found, Custom):
                await processor.push_frame(SilenceAskedFrame())
                await processor.interrupt_bot()
            if found:
                await processor.send_server_response(message, found.to_json())
