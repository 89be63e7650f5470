"""Why a request to a language model failed, in one sentence, whichever wire it was made on.

The errors of OpenAI's and Anthropic's SDKs have the same names, and are recognised by them: importing an SDK takes a
second.
"""

import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
from pipecat.utils.http import TIMEOUT_EXCEPTIONS
from websockets.exceptions import InvalidStatus, WebSocketException

from voice.llm.wires.events import ProviderError, WireError
from voice.redaction import quoted
from voice.redirects import Redirected, redirect_words

OVERLOADED = "overloaded_error"
"""Anthropic's error type for an overload, which may come inside a stream that began with status 200."""


def reason(error: Exception, *, model: str, where: str) -> str:
    """One sentence that says why a request to `model` at `where` (a URL or a provider's name) failed."""
    return f"{model} at {where} {_words(error)}."


def connection_words(error: BaseException) -> str:
    """Why a connection failed, as a phrase that follows "<model> at <where>"."""
    raised = list(_causes(error))
    if any(isinstance(cause, ConnectionRefusedError) for cause in raised):
        return "refused the connection"
    if any(isinstance(cause, socket.gaierror) for cause in raised):
        return "has a host name that could not be resolved"
    if any(isinstance(cause, OSError) and not isinstance(cause, ConnectionError) for cause in raised):
        return "could not be reached"
    return "broke the connection off"


def was_taken(error: BaseException | None) -> bool:
    """Whether the provider accepted the request but did not answer in time; it may bill it."""
    is_late = isinstance(error, TIMEOUT_EXCEPTIONS) or is_sdk_error(error, "APITimeoutError")
    return is_late and not _was_connecting(error)


def is_overload(error: Exception) -> bool:
    """Whether the server, or the pool of a speed, is overloaded: 429, 529, or an error in a stream."""
    if isinstance(error, ProviderError):
        return error.kind == OVERLOADED or error.status_code in (429, 529)
    return is_sdk_error(error, "APIStatusError") and getattr(error, "status_code", None) in (429, 529)


def is_sdk_error(error: BaseException | None, name: str) -> bool:
    """Whether an error is an instance of an SDK's class of that name, such as "APIStatusError"."""
    return any(kind.__name__ == name for kind in type(error).__mro__)


def _words(error: Any) -> str:
    """A phrase that follows "<model> at <where>"."""
    if isinstance(error, Redirected):
        return str(error)
    if isinstance(error, InvalidStatus):
        status, body = error.response.status_code, error.response.body
        return f"answered HTTP {status}" + (
            " and opened no WebSocket: check base_url" if status < 300 else _quoted(_json(body))
        )
    # A timeout is also a connection error, and an error status is also an API error.
    if isinstance(error, (TimeoutError, *TIMEOUT_EXCEPTIONS)) or is_sdk_error(error, "APITimeoutError"):
        return f"did not {'take the connection' if _was_connecting(error) else 'answer'} in time"
    if isinstance(error, httpx2.TransportError | OSError | WebSocketException) or is_sdk_error(
        error, "APIConnectionError"
    ):
        return connection_words(error)
    if is_sdk_error(error, "APIStatusError"):
        redirect = redirect_words(error.status_code, error.response.headers)
        return redirect or f"answered HTTP {error.status_code}{_quoted(error.body)}"
    if is_sdk_error(error, "APIError"):
        return f"reported an error{_quoted(error.body)}"
    if isinstance(error, WireError):
        return quoted(str(error))
    return f"sent an answer that could not be used ({type(error).__name__}: {quoted(str(error))})"


def _was_connecting(error: BaseException | None) -> bool:
    """Whether the connection timed out, in httpx or httpx2, whichever the SDK uses."""
    return any(type(cause).__name__ == "ConnectTimeout" for cause in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and its causes, down to the operating system's."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _json(body: bytes | bytearray | None) -> Any:
    try:
        return json.loads(body or b"")
    except (ValueError, RecursionError):
        return None


def _quoted(body: Any) -> str:
    """The provider's message in the JSON of an error; other bodies, such as a proxy's page, are left out."""
    # OpenAI's SDK gives only the inner object.
    details = body.get("error", body) if isinstance(body, Mapping) else None
    message = details.get("message") if isinstance(details, Mapping) else None
    return f": {quoted(message)}" if isinstance(message, str) and message.strip() else ""
