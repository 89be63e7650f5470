"""The interface for calling a server: its paths, query parameters and audio formats. Pure."""

from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

CALL_PATH = "/ws"
HEALTH_PATH = "/healthz"
LIVE_PATH, READY_PATH = "/livez", "/readyz"
"""Paths at which a supervisor checks whether the server runs, and whether it would take a call."""
METRICS_PATH = "/metrics"
"""Path of the metrics for Prometheus."""
START_PATH = "/start"
"""Path at which pipecat's clients request the address of a call."""

IN_RATE = 16000
"""Hertz of the user's audio, which is mono."""

DEFAULT_OUT_RATE = 24000
"""Hertz of the bot's audio unless the client asks for another rate: pipecat's JavaScript client plays every frame at
this one."""

OUT_RATES = range(8000, 48001)
"""Sample rates that a client may request, in hertz."""

RATE_PARAMETER = "sample_rate"
"""Query parameter that sets the rate of the bot's audio, in hertz or `NATIVE`."""

DUCKS_PARAMETER = "ducks"
"""Query parameter (`ducks=1`) by which a client offers to lower its own volume on request. This takes effect at once,
even for audio already sent."""

RESUMES_PARAMETER = "resumes"
"""Query parameter (`resumes=1`) by which a client announces that it resumes its call after a broken connection."""

NATIVE = "native"
"""Stands for the voice's own rate."""

TOKEN_VARIABLE = "VOICE_TOKEN"
"""The environment variable that holds a server's token."""
TOKEN_PARAMETER = "token"
"""Query parameter with a token, for browsers, which cannot send headers with a WebSocket."""


def call_url(host: str, port: int, *, secure: bool = False) -> str:
    """The address that clients call; `secure` with TLS."""
    name = f"[{host}]" if ":" in host else host
    return f"{'wss' if secure else 'ws'}://{name}:{port}{CALL_PATH}"


def health_url(url: str) -> str:
    """The address of the health check of the server that takes calls at `url`."""
    parts = urlsplit(url)
    path = parts.path.rsplit("/", 1)[0] + HEALTH_PATH
    return urlunsplit(("https" if parts.scheme == "wss" else "http", parts.netloc, path, "", ""))


def page_url(url: str) -> str:
    """The address of the page of the server that takes calls at `url`, for a browser on the server's machine."""
    parts = urlsplit(url)
    # Browsers cannot open a page at the wildcard address.
    here = parts.netloc.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]")
    return urlunsplit(("https" if parts.scheme == "wss" else "http", here, "/", "", ""))


def with_rate(url: str, rate: int | str) -> str:
    """`url` with the requested rate of the bot's audio, unless it names one itself.

    Args:
        url: where the server takes calls.
        rate: hertz, or `NATIVE`.
    """
    return _with_parameter(url, RATE_PARAMETER, rate)


def with_ducking(url: str) -> str:
    """`url` with the client's offer to lower its own volume."""
    return _with_parameter(url, DUCKS_PARAMETER, 1)


def with_resuming(url: str) -> str:
    """`url` with the announcement that the client resumes its call after a broken connection."""
    return _with_parameter(url, RESUMES_PARAMETER, 1)


def _with_parameter(url: str, parameter: str, value: int | str) -> str:
    parts = urlsplit(url)
    if parameter in parse_qs(parts.query):
        return url
    query = "&".join(filter(None, (parts.query, urlencode({parameter: value}))))
    return urlunsplit(parts._replace(query=query))


def out_rate(text: str, *, native: int) -> int | None:
    """The rate requested by a client, in hertz; None if it is not one of `OUT_RATES`.

    Args:
        text: the value of `RATE_PARAMETER`.
        native: the voice's own rate, hertz.
    """
    if text == NATIVE:
        return native
    rate = int(text) if text.isdecimal() and len(text) < 10 else None
    return rate if rate in OUT_RATES else None
