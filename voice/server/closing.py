"""How a server closes a call: a code, and a reason that fits a WebSocket's close message."""

from dataclasses import dataclass
from typing import Literal

CLOSE_REASON_BYTES = 123
"""Bytes of the reason with which a WebSocket is closed."""
CLOSE_WITHIN = 1.0
"""Seconds that a client may take to answer the closing handshake; the end of a call does not wait for it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call is closed by the server."""

    code: int
    """Of WebSocket."""
    reason: str
    """A clause."""
    kind: Literal["refused", "given up"]
    """Whether it is for what the client sent, or because the call could not go on."""


def shortened(reason: str) -> str:
    """A reason that fits `CLOSE_REASON_BYTES` of UTF-8; a longer one is cut between words and ends in "…"."""
    encoded = reason.encode()
    if len(encoded) <= CLOSE_REASON_BYTES:
        return reason
    # The byte after the room for the "…" shows whether the last word is whole.
    room = CLOSE_REASON_BYTES - len("…".encode())
    kept = encoded[: room + 1].decode(errors="ignore")
    return (kept.rpartition(" ")[0] or encoded[:room].decode(errors="ignore")).rstrip(" ,;:") + "…"
