"""The turns of a live call: their latencies so far, and the turns marked as bad. Pure."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from latency.budget import P95_NEEDS, TURN_LIMIT
from latency.record.marks import Mark
from latency.record.turn import ServerTurn
from latency.report.stats import percentile
from pipelines.talking.lines import speech_end

Heard = Callable[[ServerTurn], float | None]
"""Seconds from the end of the user's speech to the first sound after the turn; None while that is unknown."""


def latency_of(turn: ServerTurn, heard_after: Callable[[float, float], float | None]) -> float | None:
    """A turn's latency; None while it is unknown.

    Args:
        turn: as the server reports it.
        heard_after: see `CallSession.heard_after`.
    """
    since, commit = speech_end(turn), turn.marks.get(Mark.TURN_COMMIT)
    if since is None or commit is None or Mark.TTS_FIRST_SAMPLE not in turn.marks:
        return None
    return heard_after(since, commit)


class Latencies:
    """Collects latencies.

    Args:
        heard: gives a turn's latency.
    """

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._waiting: dict[int, ServerTurn] = {}
        self._known: dict[int, float] = {}
        self._usd: dict[int, float] = {}

    def reported(self, turn: ServerTurn) -> None:
        """Add the server's report of a turn, or replace an earlier one."""
        self._usd[turn.turn] = sum(attempt.usd or 0.0 for attempt in turn.attempts)
        if turn.turn not in self._known:
            self._waiting[turn.turn] = turn

    def news(self) -> list[tuple[ServerTurn, float]]:
        """The turns whose latency has become known since the last call."""
        found = []
        for number, turn in list(self._waiting.items()):
            if (latency := self._heard(turn)) is not None:
                del self._waiting[number]
                self._known[number] = latency
                found.append((turn, latency))
        return found

    @property
    def usd(self) -> float:
        """The cost of the requests with known prices, in US dollars."""
        return sum(self._usd.values())

    def summary(self) -> str:
        """The figures so far, in one line; empty if there are none."""
        values = [seconds * 1000 for seconds in self._known.values()]
        if not values:
            return ""
        tail = ("p95", percentile(values, 95)) if len(values) >= P95_NEEDS else ("slowest", max(values))
        late = sum(value > TURN_LIMIT * 1000 for value in values)
        cost = f" · ${self.usd:.4f}" if self.usd else ""
        return (
            f"{len(values)} turns · median {percentile(values, 50) or 0:.0f} ms · {tail[0]} {tail[1] or 0:.0f} ms · "
            f"{late} above {TURN_LIMIT * 1000:.0f} ms{cost}"
        )


class BadTurns:
    """Marks turns as bad, by the server's number: the turn that was answered last, or should have been."""

    def __init__(self) -> None:
        self._latest: ServerTurn | None = None
        self._marked: dict[int, float] = {}

    @property
    def marked(self) -> Mapping[int, float]:
        """When each was marked, seconds on the recording's clock, by the server's number of the turn."""
        return MappingProxyType(self._marked)

    def reported(self, turn: ServerTurn) -> None:
        """Add the server's report of a turn, or replace an earlier one."""
        # A turn without words is not in the recording either.
        if turn.heard and (self._latest is None or turn.turn >= self._latest.turn):
            self._latest = turn

    def press(self, at: float) -> str:
        """Mark the latest turn, or remove its mark.

        Args:
            at: now, seconds on the recording's clock.

        Returns:
            What happened, as a line for the screen.
        """
        if self._latest is None:
            return "there is no turn to mark yet"
        number, heard = self._latest.turn, self._latest.heard
        if self._marked.pop(number, None) is not None:
            return f"no longer marked as bad: “{heard}”"
        self._marked[number] = at
        return f"marked as bad: “{heard}”"
