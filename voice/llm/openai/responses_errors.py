"""Why a request over a Responses socket failed, in one sentence."""

import json
from typing import Any

from websockets.exceptions import InvalidStatus, WebSocketException

from voice.llm import provider_errors
from voice.llm.openai.responses_socket import WORN_OUT, NoEventError
from voice.redaction import quoted


class ServerError(ValueError):
    """The server reported an error in an event.

    Args:
        event: an `error` event, or a response that ended incomplete.
    """

    def __init__(self, event: dict[str, Any]) -> None:
        response = event.get("response") or {}
        error = event.get("error") or response.get("error") or response.get("incomplete_details") or {}
        self.code = error.get("code")
        self.words = str(error.get("message") or error.get("reason") or self.code or "it did not say which")
        status = event.get("status")
        # pipecat stops using a service whose requests are wrong; a worn socket is not the request's fault.
        self.status_code = status if isinstance(status, int) and self.code != WORN_OUT else None
        self.headers = headers if isinstance(headers := error.get("headers"), dict) else {}
        super().__init__(self.words)


def reason(error: Exception, *, model: str, where: str) -> str:
    """Like `provider_errors.reason`, but also covers the errors of a socket."""
    whose = f"{model} at {where}"
    match error:
        case ServerError(status_code=None):
            return f"{whose} reported an error: {quoted(error.words)}."
        case ServerError():
            return f"{whose} answered HTTP {error.status_code}: {quoted(error.words)}."
        case NoEventError():
            return f"{whose} answered with {error}, not with an event of the Responses API: check base_url."
        case InvalidStatus() if error.response.status_code < 300:
            return f"{whose} answered HTTP {error.response.status_code} and opened no WebSocket: check base_url."
        case InvalidStatus():
            return f"{whose} answered HTTP {error.response.status_code}{_words_of(error.response.body)}."
        case TimeoutError():
            return f"{whose} did not answer in time."
        case OSError() | WebSocketException():
            return f"{whose} {provider_errors.connection_words(error)}."
    return provider_errors.reason(error, model=model, where=where)


def _words_of(body: bytes | bytearray | None) -> str:
    """The server's own words in an HTTP error; a body that is not JSON, such as a proxy's page, is not quoted."""
    try:
        message = json.loads(body or b"")["error"]["message"]
    except (ValueError, LookupError, TypeError):
        return ""
    return f": {quoted(str(message))}"
