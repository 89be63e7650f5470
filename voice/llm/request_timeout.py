"""Whether a request failed because its provider did not answer in time, and after it had taken the request."""

from collections.abc import Iterator

from pipecat.utils.http import TIMEOUT_EXCEPTIONS


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it was raised from, down to the operating system's."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def was_connecting(error: BaseException) -> bool:
    """Whether it was no connection that came in time, of httpx or httpx2, whichever the SDK is built on."""
    return any(type(cause).__name__ == "ConnectTimeout" for cause in causes(error))


def was_taken(error: BaseException | None) -> bool:
    """Whether the provider had taken the request and did not answer in time; it may bill that."""
    # The SDKs of OpenAI and Anthropic have an APITimeoutError each.
    if error is None or (not isinstance(error, TIMEOUT_EXCEPTIONS) and type(error).__name__ != "APITimeoutError"):
        return False
    return not was_connecting(error)
