"""What became of the barge-ins that a benchmark planned; the counts add up to all of them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from latency.judge.barge_in import BargeInResult
from latency.judge.session_outcome import SessionOutcome
from latency.report.stats import Distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruptions:
    """Scripted barge-ins: `planned` = `stopped` + `ended` + `missed` + `unplayed`."""

    stopped: int
    """The agent was stopped; only these have a stop time."""
    ended: int
    """The agent came to its own end while the user began to speak, so how fast it would have stopped is unknown."""
    missed: int
    """The agent was silent: there was nothing to interrupt."""
    unplayed: int
    """The call ended before, or nothing was recorded."""
    stop_ms: Distribution
    """From the user's onset until the agent was silent."""

    @property
    def planned(self) -> int:
        """How many there should have been."""
        return self.stopped + self.ended + self.missed + self.unplayed


def interruptions(sessions: Iterable[SessionOutcome]) -> Interruptions:
    """Count the barge-ins of a run. Turns that were never played count if others of their session are barge-ins."""
    counts: Counter[BargeInResult | None] = Counter()
    stops = []
    for session in sessions:
        found = [outcome for outcome in session.outcomes if outcome.turn.barge_in]
        counts.update(outcome.barge_in for outcome in found)
        counts[None] += (session.session.never_sent or 0) if found else 0
        stops += [outcome.barge_in_stop for outcome in found if outcome.barge_in_stop is not None]
    return Interruptions(
        stopped=counts[BargeInResult.STOPPED],
        ended=counts[BargeInResult.ENDED],
        missed=counts[BargeInResult.SILENT],
        unplayed=counts[None],
        stop_ms=Distribution.of(stops),
    )
