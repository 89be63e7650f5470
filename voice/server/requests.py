"""Answers what clients ask for in mid-call: the server's clock, another policy, tier or speed, and to be silent."""

import time
from collections.abc import Callable

from pipecat.processors.frameworks.rtvi import RTVIProcessor
from pipecat.processors.frameworks.rtvi.models import ClientMessage

from voice.errors import ConfigurationError, WireError
from voice.frames import SilenceAskedFrame
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

NO_TIERS = "This pipeline answers without a language model, so there is no other one to take."


def answer_requests(rtvi: RTVIProcessor, swap: Callable[[SwapRequest], SwapState] | None) -> None:
    """Answer the requests of one call's client; requests on other topics are left to others.

    Args:
        rtvi: the call's RTVI processor.
        swap: carries out a swap or raises ConfigurationError; None where no language model answers, in which case
            every swap is refused.
    """

    def reply(message: ClientMessage) -> Reply | None:
        match read_request(message.type, message.data):
            case ClockPing(client):
                return ClockPong(time.monotonic(), client)
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
