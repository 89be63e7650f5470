"""Errors in the form of Anthropic's servers, and what their headers say of the limits."""

from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import JSONResponse, Response

from voice.simulator.simulator import FAST, ServedModel
from voice.simulator.wire_errors import RETRY_AFTER, retry_headers

_KINDS = {
    400: ("invalid_request_error", "The request cannot be served."),
    401: ("authentication_error", "invalid x-api-key (simulated)"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API (simulated)."),
    403: ("permission_error", "Your API key does not have permission to use this model (simulated)."),
    404: ("not_found_error", "model: it has been retired (simulated)"),
    429: ("rate_limit_error", "This request would exceed your rate limit (simulated)."),
    500: ("api_error", "Internal server error (simulated)"),
    529: ("overloaded_error", "Overloaded (simulated)"),
}


def error_body(status: int, message: str | None = None) -> dict[str, Any]:
    """The body of an error, or the data of an `error` event; `message` overrides the status's own."""
    kind, words = _KINDS[status]
    return {"type": "error", "error": {"type": kind, "message": message or words}, "request_id": "req_sim"}


def refusal(status: int, message: str | None = None, served: ServedModel | None = None) -> Response:
    """An error response; `served` is the model that would have served the request."""
    headers = {"retry-after": str(RETRY_AFTER)} if status == 429 else {}
    if served is not None:
        headers |= limit_headers(served) | (retry_headers(served.quota) if status == 429 else {})
    return JSONResponse(error_body(status, message), status, headers)


def limit_headers(served: ServedModel) -> dict[str, str]:
    """What is left of the limits of the pool that serves a request."""
    pool = "anthropic-fast" if served.speed == FAST else "anthropic-ratelimit"
    headers = {}
    for name, left in served.quota.left.items() if served.quota else ():
        whole_again = datetime.now(UTC) + timedelta(seconds=left.full_in)
        headers[f"{pool}-{name}-limit"] = str(left.limit)
        headers[f"{pool}-{name}-remaining"] = str(left.remaining)
        headers[f"{pool}-{name}-reset"] = whole_again.isoformat(timespec="seconds").replace("+00:00", "Z")
    return headers
