"""Errors in the form of OpenAI's servers: a status, a JSON body and headers."""

import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

from pipelines.lab.simulator.rate_limits import RateLimits
from pipelines.lab.simulator.simulator import UnknownModelError
from voice.errors import ConfigurationError

RETRY_AFTER = 3
"""Seconds to wait that a 429 asks for."""

_KINDS = {
    400: ("invalid_request_error", "invalid_value", "The request cannot be served."),
    401: ("authentication_error", "invalid_api_key", "Incorrect API key provided (simulated)."),
    402: ("insufficient_quota", "insufficient_quota", "You exceeded your current quota (simulated)."),
    403: ("permission_error", "permission_denied", "The key may not use this model (simulated)."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    429: ("rate_limit_error", "rate_limit_exceeded", f"Rate limit reached (simulated); try again in {RETRY_AFTER} s."),
    500: ("server_error", "server_error", "The server had an error while processing your request (simulated)."),
    529: ("server_error", "overloaded", "The server is overloaded (simulated)."),
}


class RefusedError(ConfigurationError):
    """A request is refused with an HTTP status of its own, and on OpenAI's wires perhaps a code of its own."""

    def __init__(self, status: int, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def status_of(error: ConfigurationError) -> int:
    """The HTTP status of a request that cannot be served because of `error`."""
    if isinstance(error, RefusedError):
        return error.status
    return 404 if isinstance(error, UnknownModelError) else 400


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


def retry_headers(limits: RateLimits | None) -> dict[str, str]:
    """The header that says when to ask again after a limit was reached, in whole seconds."""
    return {"retry-after": str(math.ceil(limits.retry_after))} if limits else {}


def limit_headers(limits: RateLimits | None) -> dict[str, str]:
    """OpenAI's response headers for the limits; durations as in "1m0.5s"."""
    headers = {}
    for name, bucket in limits.buckets.items() if limits else ():
        minutes, seconds = divmod(bucket.full_in, 60)
        headers[f"x-ratelimit-limit-{name}"] = str(int(bucket.limit))
        headers[f"x-ratelimit-remaining-{name}"] = str(bucket.remaining)
        headers[f"x-ratelimit-reset-{name}"] = (f"{minutes:.0f}m" if minutes else "") + f"{seconds:.3g}s"
    return headers


def refusal(status: int, message: str | None = None, headers: Mapping[str, str] | None = None) -> Response:
    """An error response; `headers` take precedence over those of the status."""
    return JSONResponse(
        {"error": error_body(status, message=message)}, status, {**error_headers(status), **(headers or {})}
    )
