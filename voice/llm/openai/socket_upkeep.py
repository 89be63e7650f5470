"""Decides when to open and close persistent sockets, so that one is always ready. Pure: time is passed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

State = Literal["free", "busy", "draining"]

WANTED = 2
"""Sockets held: one that carries the conversation, and one for when that is lost, cancelled or worn out."""

SHORTEST_RETRY_PAUSE = 0.25
LONGEST_RETRY_PAUSE = 5.0
"""Seconds between two attempts to open one while the server is unreachable."""


@dataclass(frozen=True, slots=True)
class Held:
    """An open socket.

    Parameters:
        opened: when, seconds.
        used: when it last completed a request, seconds; None is never.
        state: "busy" with a request, "draining" after a cancelled one, or "free".
    """

    opened: float
    used: float | None
    state: State


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What to do.

    Parameters:
        open: how many sockets more.
        retire: positions of those to close; they are free.
        wake_at: when to ask again if nothing changes before, seconds; None is never.
    """

    open: int
    retire: tuple[int, ...]
    wake_at: float | None


def upkeep(held: Sequence[Held], *, opening: int, now: float, rotate_after: float) -> Upkeep:
    """What sockets need now.

    Worn ones go as soon as a fresh one is there to take over and their request is over, never before: while a server
    is away they are better than none.

    Args:
        held: the open ones.
        opening: how many are being opened.
        now: seconds.
        rotate_after: age from which a socket is worn, seconds; well below what the server allows.
    """
    fresh = [index for index, socket in enumerate(held) if now < socket.opened + rotate_after]
    ready = [index for index in fresh if held[index].state == "free"]
    missing = max(WANTED - len(fresh), 1 - len(ready)) - opening
    retire: list[int] = []
    if ready:
        retire += [index for index, socket in enumerate(held) if index not in fresh and socket.state == "free"]
        # Whether one that drains can be used again is open.
        sound = sum(held[index].state != "draining" for index in fresh)
        spare = min(sound - WANTED, len(ready) - 1)
        retire += sorted(ready, key=lambda index: held[index].used or 0.0)[: max(0, spare)]
    wears = [held[index].opened + rotate_after for index in fresh]
    return Upkeep(max(0, missing), tuple(retire), min(wears, default=None))


def pause(failures: int) -> float:
    """Seconds to wait before the next attempt after so many failures in a row."""
    return min(SHORTEST_RETRY_PAUSE * 2.0 ** min(failures - 1, 16), LONGEST_RETRY_PAUSE)
