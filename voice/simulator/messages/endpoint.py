"""The endpoint of Anthropic's Messages."""

from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from voice.simulator.http_call import Reply
from voice.simulator.http_wire import HttpWire
from voice.simulator.journal import Exchange
from voice.simulator.messages.errors import limit_headers, refusal
from voice.simulator.messages.events import MessageWriter
from voice.simulator.messages.reply import StreamedReply, WholeReply
from voice.simulator.messages.request import FAST_BETA, MessagesRequest, read_request
from voice.simulator.simulator import ServedModel


class Messages(HttpWire[MessagesRequest]):
    """The ASGI application of `POST /v1/messages`."""

    wire = "messages"

    def read(self, body: object, headers: Mapping[str, str]) -> MessagesRequest:
        """Read a request."""
        return read_request(body, headers, fast_beta=FAST_BETA if self.simulator.fast_needs_header else None)

    def refuse(self, status: int, message: str | None, served: ServedModel | None) -> Response:
        """An error in Anthropic's form."""
        return refusal(status, message, served)

    def reply(
        self,
        asked: MessagesRequest,
        served: ServedModel,
        exchange: Exchange,
        tool: str | None,
        to: tuple[Scope, Receive, Send],
    ) -> Reply:
        """The message as a stream, or whole."""
        writer = MessageWriter(asked, served, exchange, tool)
        return (StreamedReply if asked.stream else WholeReply)(writer, *to, headers=limit_headers(served))
