"""What a server tells whoever keeps books on its calls."""

from typing import Protocol

from latency.record.server_turn import ServerTurn


class Account(Protocol):
    """The books on one call."""

    def note(self, turn: ServerTurn) -> None:
        """A turn has changed; its instants are on the server's clock."""


class Books(Protocol):
    """The books on all calls."""

    def refused(self, kind: str) -> None:
        """A call was not taken; `kind` is one of a few words."""

    def began(self) -> Account:
        """A call was taken."""

    def ended(self, account: Account, why: str) -> None:
        """A call is over; `why` is a clause."""

    def exposition(self) -> tuple[bytes, str]:
        """The figures of all calls in Prometheus's format, and its content type."""
