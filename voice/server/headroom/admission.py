"""Whether a server takes another call now, and why not."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["loading", "ending", "full", "beginning", "overloaded", "address"]
"""The models are loading; the server is about to end; as many calls as it may take are under way, or about to begin;
or the calls under way need what it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRefusal:
    """Why no call is taken now."""

    kind: Kind
    reason: str
    """In at most 123 bytes, so that a WebSocket can be closed with it."""
    retry_after: int = 5
    """Seconds after which it is worth another try."""
