"""The state that both ends of a call keep to survive a broken connection. Pure.

Each end numbers its messages from 1 and keeps the latest; on a new connection each reports how many it has received,
and the other sends the rest. So every message arrives once, and in order. The server's first message on each connection
reports its count (`voice.wire.messages.ResumeMessage`), and has no number.
"""

from typing import Final

MOST_KEPT: Final = 4 << 20
"""Bytes of messages kept: more than a minute of speech, which a connection may lose before the break is noticed."""
RESUME_HEADER, RECEIVED_HEADER = "Resume-Call", "Resume-Received"
"""Headers by which a client resumes its call: the call's token, and the number of messages received."""
RESUME_PARAMETER, RECEIVED_PARAMETER = "resume", "received"
"""The same as query parameters, for browsers, which cannot send headers with a WebSocket."""
GONE: Final = 4410
"""The close code for a browser whose call no longer exists: it cannot read an HTTP status."""


class Outbox:
    """The sent messages that the other end may still ask for.

    Args:
        most: bytes kept.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self.count = 0
        """The number of messages sent."""
        self._most = most
        self._size = 0
        self._kept: dict[int, bytes] = {}

    def add(self, message: bytes) -> int:
        """Keep a message; returns its number."""
        self.count += 1
        self._kept[self.count] = message
        self._size += len(message)
        while self._size > self._most and len(self._kept) > 1:
            self._size -= len(self._kept.pop(next(iter(self._kept))))
        return self.count

    def get(self, number: int) -> bytes | None:
        """A message by its number; None if not yet sent, or no longer kept."""
        return self._kept.get(number)

    def reaches(self, received: int) -> bool:
        """Whether all messages after the first `received` are kept."""
        return received == self.count or (0 <= received < self.count and received + 1 in self._kept)
