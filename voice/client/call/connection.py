"""The WebSocket connection of a call: valid addresses, connecting, and why the server closed it."""

import json
import os
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.frames import CLOSE_CODE_EXPLANATIONS, CloseCode

from voice.environment import proxy_for, read_key
from voice.errors import CallRefused, CallUnknown, ComponentError, ConfigurationError
from voice.redirects import DirectConnection, Redirected
from voice.wire.endpoint import CALL_PATH, TOKEN_VARIABLE, with_ducking, with_rate, with_resuming
from voice.wire.resumption import RECEIVED_HEADER, RESUME_HEADER

HANG_UP_WITHIN = 0.5
"""Seconds that a server may take to answer the closing handshake; hanging up does not wait for a stuck server."""

TRY_LATER = (429, 503)
"""HTTP statuses of a server that takes no more calls now."""
UNKNOWN = (401, 403, 404, 410)
"""HTTP statuses of a server that does not go on with a call."""
LOST = "the connection to the server was lost"


def check_url(url: str) -> None:
    """Check that a call can be made to the address.

    Raises:
        ConfigurationError: it is not a WebSocket address.
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0 and not parts.fragment
    except ValueError:  # a port that is not a number, or an unmatched bracket
        is_address = False
    if not is_address:
        raise ConfigurationError(f'"{url}" is not a WebSocket address; use ws://host:port{CALL_PATH}.')


async def connect_call(url: str, *, sample_rate: int | str, resume: tuple[str, int] | None = None) -> ClientConnection:
    """Open the call's connection.

    Args:
        url: see `check_url`.
        sample_rate: the rate that the bot's audio should have, in hertz or `native`, unless the URL names one.
        resume: the token of a call whose connection broke, and how many messages of the server have been received.

    Raises:
        CallRefused: the server takes no more calls now.
        CallUnknown: the server has no such call to take up again.
        ComponentError: the server cannot be reached or refuses the call for another reason.
    """
    dialled = with_resuming(with_ducking(with_rate(url, sample_rate)))
    where = {} if resume is None else {RESUME_HEADER: resume[0], RECEIVED_HEADER: str(resume[1])}
    # asyncio sets TCP_NODELAY by itself, so frames are not held back to be sent together.
    try:
        return await connect(
            dialled,
            create_connection=DirectConnection,
            compression=None,
            max_size=None,
            ping_interval=None,
            close_timeout=HANG_UP_WITHIN,
            proxy=proxy_for(dialled),
            additional_headers=credentials() | where,
        )
    except Redirected as error:
        raise ComponentError(f"{url} {error}.") from error
    except InvalidStatus as error:
        body = (error.response.body or b"").decode(errors="replace").strip()
        status = error.response.status_code
        if status in TRY_LATER:
            raise CallRefused(url, body[:200] or f"HTTP {status}") from error
        if resume is not None and status in UNKNOWN:
            raise CallUnknown(url, _said(body) or f"HTTP {status}") from error
        reason = f": {body[:200]}" if body else ""
        raise ComponentError(f"{url} refused the call with HTTP {status}{reason}.") from error
    except TimeoutError as error:
        raise ComponentError(f"{url} did not answer within 10 s; is the server running?") from error
    except (OSError, UnicodeError, WebSocketException) as error:  # UnicodeError: an impossible host name
        raise ComponentError(f"{url} cannot be reached ({error}); is the server running there?") from error


def _said(body: str) -> str:
    """The sentence in a server's refusal."""
    try:
        return str(json.loads(body)["error"]).rstrip(".")
    except (ValueError, KeyError, TypeError):
        return body[:200]


AGENT_ENDED = "the agent ended the call"
"""Why a call is over that the agent has ended, as after a goodbye."""


def credentials() -> dict[str, str]:
    """The headers that let a client in: the token in `VOICE_TOKEN`, if there is one.

    Raises:
        ConfigurationError: it is none that a header can carry.
    """
    token = read_key(TOKEN_VARIABLE, spaces=True) if os.environ.get(TOKEN_VARIABLE) else None
    return {"Authorization": f"Bearer {token}"} if token else {}


def close_reason(socket: ClientConnection) -> str:
    """Why the server closed the connection, as a clause."""
    if socket.close_code is None or socket.close_code == 1006:
        return LOST
    if socket.close_code == CloseCode.NORMAL_CLOSURE and not socket.close_reason:
        return AGENT_ENDED
    reason = socket.close_reason or CLOSE_CODE_EXPLANATIONS.get(socket.close_code)
    return f"the server closed the call ({socket.close_code}{f': {reason}' if reason else ''})"
