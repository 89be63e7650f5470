"""The lanes of a Responses socket (`stream_id`): keeps each lane's latest response and queues its requests."""

import asyncio
import re

from voice.errors import ConfigurationError
from voice.simulator.conversation import Message

MOST_LANES = 32
MOST_IN_FLIGHT = 16
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,256}")


class LaneLimitError(ConfigurationError):
    """A connection uses more lanes than allowed; `code` is OpenAI's."""

    code = "websocket_stream_limit_reached"


class LaneNameError(ConfigurationError):
    """A lane's name is not allowed; `code` is OpenAI's."""

    code = "invalid_stream_id"


class Lanes:
    """The lanes of one connection; None is the lane without a name.

    Responses of one lane run one after the other; at most 16 responses of different lanes run at the same time. What is
    kept is lost when the connection closes.
    """

    def __init__(self) -> None:
        self.in_flight = asyncio.Semaphore(MOST_IN_FLIGHT)
        self._turns: dict[str | None, asyncio.Lock] = {}
        self._latest: dict[str | None, tuple[str, tuple[Message, ...]]] = {}

    def turn(self, lane: str | None) -> asyncio.Lock:
        """The lock that makes the responses of a lane run in the order of their requests.

        Raises:
            LaneNameError: the name is not allowed.
            LaneLimitError: the connection has too many lanes already.
        """
        if lane not in self._turns:
            if lane is not None and not _NAME.fullmatch(str(lane)):
                raise LaneNameError("stream_id must be 1 to 256 of the characters A-Z a-z 0-9 _ . -")
            if lane is not None and len(self._turns.keys() - {None}) >= MOST_LANES:
                raise LaneLimitError(f"A connection has at most {MOST_LANES} streams.")
            self._turns[lane] = asyncio.Lock()
        return self._turns[lane]

    def find(self, response_id: str) -> tuple[Message, ...] | None:
        """The conversation up to and including a response, or None if no lane keeps it any more."""
        return next((kept for known, kept in self._latest.values() if known == response_id), None)

    def keep(self, lane: str | None, response_id: str, conversation: tuple[Message, ...]) -> None:
        """Keep a complete response; the lane's earlier one is forgotten."""
        self._latest[lane] = (response_id, conversation)

    def evict(self, lane: str | None) -> None:
        """Forget the lane's latest response, because a response failed."""
        self._latest.pop(lane, None)
