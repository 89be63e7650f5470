"""How an agent of a benchmark behaved, by the same rules for every agent and without its own marks.

* Cut-offs: an agent cuts a turn off when it takes the turn for finished, or starts to speak, before the labelled end of
  the user's speech. A pause counts as the cause if this happens during the pause or up to `REACH` after it, when the
  agent cannot know yet that the user continues.
* Barge-ins, and other sounds over answers, that the benchmark planned: the counts of each add up to all of them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from latency.judge.barge_in import BargeInResult, SoundResult
from latency.judge.session import SessionOutcome
from latency.judge.turn import REACH, Outcome
from latency.report.stats import Distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class CutOffs:
    """Turns that were taken for finished too early."""

    pauses: int
    in_pauses: int
    """Labelled pauses that were taken for the end."""
    elsewhere: int
    """Turns that were cut off outside any labelled pause."""
    heard: int
    """Turns of which an answer was heard that was begun too early."""

    @property
    def rate(self) -> float | None:
        """The share of labelled pauses that were taken for the end; None without any."""
        return round(self.in_pauses / self.pauses, 4) if self.pauses else None


def cut_offs(outcomes: Iterable[Outcome], ends: Mapping[str, Sequence[float]]) -> CutOffs:
    """Count the turns that were cut off, and the pauses that were taken for the end.

    Args:
        ends: By session, when the agent took a turn for finished, seconds on the recording's clock.
    """
    pauses = in_pauses = elsewhere = heard = 0
    for one in outcomes:
        turn = one.turn
        if turn.start is None or turn.end is None or turn.backchannel:
            continue
        early = [at for at in ends.get(turn.session, ()) if turn.start <= at < turn.end]
        spans = [(start, min(end + REACH, turn.end)) for start, end in turn.pauses]
        cut = max(sum(any(a <= at < b for at in early) for a, b in spans), one.pauses_cut)
        pauses += len(spans)
        in_pauses += cut
        heard += one.cut_off
        elsewhere += any(not any(a <= at < b for a, b in spans) for at in early) or (one.cut_off and not cut)
    return CutOffs(pauses=pauses, in_pauses=in_pauses, elsewhere=elsewhere, heard=heard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruptions:
    """Scripted barge-ins: `planned` = `stopped` + `ended` + `ignored` + `missed` + `unplayed`."""

    stopped: int
    """The agent was stopped; only these have a stop time."""
    ended: int
    """The agent came to its own end while the user began to speak, so how fast it would have stopped is unknown."""
    ignored: int
    """The agent talked on."""
    missed: int
    """The agent was silent: there was nothing to interrupt."""
    unplayed: int
    """The call ended before, or nothing was recorded."""
    stop_ms: Distribution
    """From the user's onset until the agent was silent."""

    @property
    def planned(self) -> int:
        """How many there should have been."""
        return self.stopped + self.ended + self.ignored + self.missed + self.unplayed

    @property
    def obeyed(self) -> float | None:
        """Share of stops among those that the agent met; None when it met none."""
        met = self.stopped + self.ignored
        return self.stopped / met if met else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sounds:
    """Sounds that are no turn, spoken into answers: `planned` = `went_on` + `resumed` + `stopped` + `silent`."""

    went_on: int
    """The agent went on."""
    resumed: int
    """It was silent for a moment, and went on where it was."""
    stopped: int
    """It was stopped without cause."""
    silent: int
    """It was silent: there was nothing to stop."""

    @property
    def planned(self) -> int:
        """How many were played."""
        return self.went_on + self.resumed + self.stopped + self.silent


def sounds(sessions: Iterable[SessionOutcome]) -> Sounds:
    """Count the sounds of a run that are no turn."""
    found = Counter(one.sound.result for session in sessions for one in session.outcomes if one.sound)
    return Sounds(**{result.name.lower(): found[result] for result in SoundResult})


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
        ignored=counts[BargeInResult.IGNORED],
        missed=counts[BargeInResult.SILENT],
        unplayed=counts[None],
        stop_ms=Distribution.of(stops),
    )
