"""The client of Anthropic's SDK that all calls share, and why a request with it failed."""

from anthropic import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
    Timeout,
)

from voice.llm import provider_errors
from voice.llm.provider_errors import connection_words
from voice.llm.warm_connections import CONNECT_WITHIN, http_client
from voice.llm.wires.events import ProviderError
from voice.redaction import quoted
from voice.redirects import redirect_words

ANTHROPIC = "https://api.anthropic.com"
OVERLOADED = "overloaded_error"
"""The type of error by which Anthropic reports an overload, also inside a stream that began with status 200."""


def make_client(*, base_url: str | None, api_key: str, silence: float) -> AsyncAnthropic:
    """Make a client whose open connections all calls share. This takes tenths of a second, mostly for imports.

    By default the SDK waits ten minutes and tries three times; during a call that would be silence.

    Args:
        base_url: the server's URL, without /v1; None for Anthropic.
        api_key: sent with every request.
        silence: seconds without a byte after which a request has failed.

    Raises:
        ConfigurationError, ComponentError: the environment names a proxy that cannot be used.
    """
    client = AsyncAnthropic(
        api_key=api_key,
        base_url=base_url,
        max_retries=0,
        timeout=Timeout(silence, connect=CONNECT_WITHIN),
        http_client=http_client(base_url or ANTHROPIC),
    )
    # The SDK imports what requests need when they are first looked up.
    assert client.beta.messages.create is not None
    return client


async def warm_up(client: AsyncAnthropic, *, model: str, where: str) -> str | None:
    """Open a connection; returns None, or one sentence that says why it failed. The failure may be temporary."""
    try:
        await client.with_options(timeout=CONNECT_WITHIN).models.list()
    except APIStatusError:
        # It has answered; what it thinks of the key, the first request shows.
        return None
    except (APIError, ValueError) as error:
        return reason(error, model=model, where=where)
    return None


def reason(error: Exception, *, model: str, where: str) -> str:
    """One sentence on why a request to `model` at `where` (a URL or a provider's name) failed."""
    whose = f"{model} at {where}"
    match error:
        case APITimeoutError() | TimeoutError():
            connecting = type(error.__cause__).__name__ == "ConnectTimeout"
            return f"{whose} did not {'take the connection' if connecting else 'answer'} in time."
        case APIConnectionError():
            return f"{whose} {connection_words(error)}."
        case APIStatusError() if words := redirect_words(error.status_code, error.response.headers):
            return f"{whose} {words}."
        case APIStatusError():
            return f"{whose} answered HTTP {error.status_code}{_words_of(error)}."
        case APIError():
            return f"{whose} reported an error{_words_of(error)}."
    return provider_errors.reason(error, model=model, where=where)


def is_overload(error: Exception) -> bool:
    """Whether the server, or the pool of a speed, has no room for a request now: 429, 529, or said so in a stream."""
    if isinstance(error, ProviderError) and error.kind == OVERLOADED:
        return True
    return isinstance(error, APIStatusError | ProviderError) and error.status_code in (429, 529)


def _details(error: APIError) -> dict[str, object]:
    """The `error` object of Anthropic's body; empty for any other body, such as a proxy's page."""
    details = error.body.get("error") if isinstance(error.body, dict) else None
    return details if isinstance(details, dict) else {}


def _words_of(error: APIError) -> str:
    message = _details(error).get("message")
    return f": {quoted(message)}" if isinstance(message, str) and message.strip() else ""
