"""The turns of a live call that the caller marks as bad while it goes on. Pure."""

from collections.abc import Mapping
from types import MappingProxyType

from latency.record.turn import ServerTurn


class BadTurns:
    """Remembers them by the server's number: the caller means the turn that was answered last, or should have been."""

    def __init__(self) -> None:
        self._latest: ServerTurn | None = None
        self._marked: dict[int, float] = {}

    @property
    def marked(self) -> Mapping[int, float]:
        """When each was marked, seconds on the recording's clock, by the server's number of the turn."""
        return MappingProxyType(self._marked)

    def reported(self, turn: ServerTurn) -> None:
        """The server has reported a turn, perhaps again."""
        # Without words it is no turn of the recording's, either.
        if turn.heard and (self._latest is None or turn.turn >= self._latest.turn):
            self._latest = turn

    def press(self, at: float) -> str:
        """Mark the latest turn, or take its mark back.

        Args:
            at: now, seconds on the recording's clock.

        Returns:
            What happened, as a line for the screen.
        """
        if self._latest is None:
            return "there is no turn yet that could be marked"
        number, heard = self._latest.turn, self._latest.heard
        if self._marked.pop(number, None) is not None:
            return f"no longer marked as bad: “{heard}”"
        self._marked[number] = at
        return f"marked as bad: “{heard}”"
