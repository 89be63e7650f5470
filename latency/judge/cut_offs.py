"""Counts cut-offs from outside an agent, by the same rule for every agent and without its own marks.

An agent cuts a turn off when it takes the turn for finished, or starts to speak, before the labelled end of the user's
speech. A pause counts as the cause if this happens during the pause or up to `REACH` after it, when the agent cannot
know yet that the user continues.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from latency.judge.outcome import REACH, Outcome


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
