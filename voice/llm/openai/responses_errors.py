"""Why a request over a Responses socket failed, in one sentence."""

import json

from websockets.exceptions import InvalidStatus, WebSocketException

from voice.llm import provider_errors
from voice.redaction import quoted
from voice.redirects import Redirected


def reason(error: Exception, *, model: str, where: str) -> str:
    """Like `provider_errors.reason`, but also covers the errors of a socket."""
    whose = f"{model} at {where}"
    match error:
        case Redirected():
            return f"{whose} {error}."
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
