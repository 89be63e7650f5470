"""The Chat Completions endpoint."""

from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from voice.simulator.chat.completion import Completion
from voice.simulator.chat.reply import StreamedReply, WholeReply
from voice.simulator.chat.request import ChatRequest, read_request
from voice.simulator.http_call import Reply
from voice.simulator.http_wire import HttpWire
from voice.simulator.journal import Exchange
from voice.simulator.simulator import ServedModel
from voice.simulator.wire_errors import limit_headers, refusal, retry_headers


class ChatCompletions(HttpWire[ChatRequest]):
    """The ASGI application of `POST /v1/chat/completions`."""

    wire = "chat"

    def read(self, body: object, headers: Mapping[str, str]) -> ChatRequest:
        """Read a request."""
        return read_request(body)

    def refuse(self, status: int, message: str | None, served: ServedModel | None) -> Response:
        """An error in OpenAI's form."""
        quota = served.quota if served else None
        return refusal(status, message, {**retry_headers(quota), **limit_headers(quota)})

    def reply(
        self,
        asked: ChatRequest,
        served: ServedModel,
        exchange: Exchange,
        tool: str | None,
        to: tuple[Scope, Receive, Send],
    ) -> Reply:
        """The answer as a stream, or whole."""
        completion = Completion(asked, served, exchange, tool)
        return (StreamedReply if asked.stream else WholeReply)(completion, *to, headers=limit_headers(served.quota))
