"""Errors in the form of OpenAI's servers: a status, a JSON body and headers."""

from typing import Any

from starlette.responses import JSONResponse, Response

from voice.errors import ConfigurationError
from voice.simulator.simulator import UnknownModelError

RETRY_AFTER = 3
"""Seconds to wait that a 429 asks for."""

_KINDS = {
    400: ("invalid_request_error", "invalid_value", "The request cannot be served."),
    401: ("authentication_error", "invalid_api_key", "Incorrect API key provided (simulated)."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    429: ("rate_limit_error", "rate_limit_exceeded", f"Rate limit reached (simulated); try again in {RETRY_AFTER} s."),
    500: ("server_error", "server_error", "The server had an error while processing your request (simulated)."),
}


def error_body(
    status: int, *, message: str | None = None, code: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """The `error` object for a status; `message`, `code` and `param` override the defaults of the status."""
    kind, default_code, default_message = _KINDS[status]
    return {"message": message or default_message, "type": kind, "param": param, "code": code or default_code}


def error_headers(status: int) -> dict[str, str]:
    """The additional headers of an error response."""
    if status != 429:
        return {}
    return {"retry-after": str(RETRY_AFTER), "x-ratelimit-remaining-requests": "0"}


def refusal(status: int, message: str | None = None) -> Response:
    """An error response."""
    return JSONResponse({"error": error_body(status, message=message)}, status, error_headers(status))


def status_of(error: ConfigurationError) -> int:
    """The HTTP status of a request that cannot be served because of `error`."""
    return 404 if isinstance(error, UnknownModelError) else 400
