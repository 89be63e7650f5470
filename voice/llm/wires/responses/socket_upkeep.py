"""Decides when to open and close persistent sockets, so that one is always ready. Pure: time is passed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

State = Literal["free", "busy", "draining"]

WANTED = 2
"""Sockets held: one with the conversation, and a spare for when that one is lost, cancelled or too old."""

SHORTEST_RETRY_PAUSE = 0.25
LONGEST_RETRY_PAUSE = 5.0
"""Seconds between two attempts to open a socket while the server is unreachable."""


@dataclass(frozen=True, slots=True)
class OpenSocket:
    """An open socket.

    Parameters:
        opened: when, seconds.
        used: when it last completed a request, seconds; None if it never has.
        state: "busy" with a request, "draining" after a cancelled one, or "free".
    """

    opened: float
    used: float | None
    state: State


@dataclass(frozen=True, slots=True)
class Upkeep:
    """The upkeep due now.

    Parameters:
        open: how many more sockets to open.
        retire: positions of the free sockets to close.
        wake_at: when to decide again if nothing changes, seconds; None for never.
    """

    open: int
    retire: tuple[int, ...]
    wake_at: float | None


def upkeep(held: Sequence[OpenSocket], *, opening: int, now: float, rotate_after: float) -> Upkeep:
    """Decide what the sockets need now.

    An old socket is closed once its own request is over and a fresh one can replace it, never earlier: while the server
    is unreachable, an old socket is better than none.

    Args:
        held: the open sockets.
        opening: how many more are being opened.
        now: seconds.
        rotate_after: age at which a socket is to be replaced, seconds; well below the server's limit.
    """
    fresh = [index for index, socket in enumerate(held) if now < socket.opened + rotate_after]
    ready = [index for index in fresh if held[index].state == "free"]
    missing = max(WANTED - len(fresh), 1 - len(ready)) - opening
    retire: list[int] = []
    if ready:
        retire += [index for index, socket in enumerate(held) if index not in fresh and socket.state == "free"]
        # A draining socket may turn out to be unusable.
        sound = sum(held[index].state != "draining" for index in fresh)
        spare = min(sound - WANTED, len(ready) - 1)
        retire += sorted(ready, key=lambda index: held[index].used or 0.0)[: max(0, spare)]
    wears = [held[index].opened + rotate_after for index in fresh]
    return Upkeep(max(0, missing), tuple(retire), min(wears, default=None))


def pause(failures: int) -> float:
    """Seconds to wait before the next attempt, after `failures` failures in a row."""
    return min(SHORTEST_RETRY_PAUSE * 2.0 ** min(failures - 1, 16), LONGEST_RETRY_PAUSE)
