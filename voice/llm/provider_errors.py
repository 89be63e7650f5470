"""Why a request to a language model failed, in one sentence."""

import socket

import httpx2
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError
from pipecat.utils.http import TIMEOUT_EXCEPTIONS

from voice.llm.request_timeout import causes, was_connecting
from voice.llm.wires.events import WireError
from voice.redaction import quoted
from voice.redirects import redirect_words


def reason(error: Exception, *, model: str, where: str) -> str:
    """One sentence on why a request to `model` at `where` (a URL or a provider's name) failed."""
    # The SDK's timeout is a connection error too, and an error status an API error.
    if isinstance(error, (APITimeoutError, *TIMEOUT_EXCEPTIONS)):
        # Of httpx or httpx2, whichever the SDK is built on.
        did_not = "take the connection" if was_connecting(error) else "answer"
        return f"{model} at {where} did not {did_not} in time."
    if isinstance(error, APIConnectionError | httpx2.TransportError):
        return f"{model} at {where} {connection_words(error)}."
    if isinstance(error, APIStatusError):
        if words := redirect_words(error.status_code, error.response.headers):
            return f"{model} at {where} {words}."
        return f"{model} at {where} answered HTTP {error.status_code}{_words_of(error)}."
    if isinstance(error, APIError):
        return f"{model} at {where} reported an error{_words_of(error)}."
    if isinstance(error, WireError):
        return f"{model} at {where} {quoted(str(error))}."
    return f"The answer of {model} at {where} could not be used ({type(error).__name__}: {quoted(str(error))})."


def connection_words(error: BaseException) -> str:
    """Why a connection failed, as a phrase that follows "<model> at <where>"."""
    raised = list(causes(error))
    if any(isinstance(cause, ConnectionRefusedError) for cause in raised):
        return "refused the connection"
    if any(isinstance(cause, socket.gaierror) for cause in raised):
        return "could not be found by its name"
    if any(isinstance(cause, OSError) and not isinstance(cause, ConnectionError) for cause in raised):
        return "could not be reached"
    return "broke the connection off"


def _words_of(error: APIError) -> str:
    """The provider's own words; a body that is not JSON, such as a proxy's page, is left out."""
    message = error.body.get("message") if isinstance(error.body, dict) else None
    return f": {quoted(message)}" if isinstance(message, str) and message.strip() else ""
