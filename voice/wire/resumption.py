"""What both ends of a call keep so that it survives a broken connection. Pure.

Each end numbers the messages that it sends, from 1, and keeps the latest; on a new connection each says how many it has
received, and the other sends what followed. So every message arrives once, and in order. The server's first message on
each connection says where it is (`voice.wire.messages.ResumeMessage`), and is not numbered itself.
"""

from typing import Final

MOST_KEPT: Final = 4 << 20
"""Bytes of messages that are kept: more than a minute of speech, which a connection that breaks unnoticed may lose."""
RESUME_HEADER, RECEIVED_HEADER = "Resume-Call", "Resume-Received"
"""Headers with which a client takes its call up again: the call's token, and how many messages it has received."""
RESUME_PARAMETER, RECEIVED_PARAMETER = "resume", "received"
"""The same as query parameters, for browsers: they cannot send headers with a WebSocket."""
GONE: Final = 4410
"""With which a browser's connection is closed when there is no such call any more: it cannot read a status of HTTP."""


class Outbox:
    """The messages that one end has sent, as far as the other may still ask for them.

    Args:
        most: bytes that are kept.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self.count = 0
        """How many were sent."""
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
        """A message by its number; None if it is not sent yet, or not kept any more."""
        return self._kept.get(number)

    def reaches(self, received: int) -> bool:
        """Whether all that follow the first `received` messages are kept."""
        return received == self.count or (0 <= received < self.count and received + 1 in self._kept)
