"""What one Responses socket keeps: the latest response of each lane, and whose turn it is in it."""

import asyncio
import re

from voice.errors import ConfigurationError
from voice.simulator.conversation import Message

MOST_LANES = 32
MOST_IN_FLIGHT = 16
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,256}")


class LaneLimitError(ConfigurationError):
    """A connection names more lanes than it may; `code` is OpenAI's."""

    code = "websocket_stream_limit_reached"


class LaneNameError(ConfigurationError):
    """A lane's name is not allowed; `code` is OpenAI's."""

    code = "invalid_stream_id"


class Lanes:
    """The lanes of one connection; the unnamed one is None.

    Responses of a lane run one after the other, those of different lanes together, at most 16 of them. What is kept
    is lost with the connection.
    """

    def __init__(self) -> None:
        self.in_flight = asyncio.Semaphore(MOST_IN_FLIGHT)
        self._turns: dict[str | None, asyncio.Lock] = {}
        self._latest: dict[str | None, tuple[str, tuple[Message, ...]]] = {}

    def turn(self, lane: str | None) -> asyncio.Lock:
        """The lock that makes a lane's responses wait for each other, first come, first served.

        Raises:
            LaneNameError: the name is not allowed.
            LaneLimitError: there are too many names already.
        """
        if lane not in self._turns:
            if lane is not None and not _NAME.fullmatch(str(lane)):
                raise LaneNameError("stream_id must be 1 to 256 of the characters A-Z a-z 0-9 _ . -")
            if lane is not None and len(self._turns.keys() - {None}) >= MOST_LANES:
                raise LaneLimitError(f"A connection has at most {MOST_LANES} streams.")
            self._turns[lane] = asyncio.Lock()
        return self._turns[lane]

    def find(self, response_id: str) -> tuple[Message, ...] | None:
        """The conversation up to and with a response, if a lane still keeps it."""
        return next((kept for known, kept in self._latest.values() if known == response_id), None)

    def keep(self, lane: str | None, response_id: str, conversation: tuple[Message, ...]) -> None:
        """A response is complete; the lane's earlier one is forgotten."""
        self._latest[lane] = (response_id, conversation)

    def evict(self, lane: str | None) -> None:
        """A response failed; the lane keeps nothing."""
        self._latest.pop(lane, None)
