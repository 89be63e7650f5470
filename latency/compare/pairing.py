"""Finds the same turns in two runs: the same recording, in the same place of the same conversation and repetition.

A conversation is known by its scenario and the folder of its recordings, not by its session's name, which depends on
how often a run repeats it. The first call with a conversation in one run is paired with the first in the other, and so
on. A turn whose recording has another checksum in the other run is not the same turn, nor is one without a checksum
whose words are other ones or unknown, such as one that was spoken live.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from latency.judge.session import SessionOutcome
from latency.judge.turn import Outcome


class Place(NamedTuple):
    """The place of a turn in the run's plan."""

    conversation: str
    repetition: int
    """Of the conversation in the run, from 1."""
    turn: int

    @property
    def call(self) -> tuple[str, int]:
        """The call that the turn belongs to."""
        return self.conversation, self.repetition


@dataclass(frozen=True, slots=True)
class Pair:
    """A turn in both runs."""

    place: Place
    a: Outcome
    b: Outcome

    @property
    def apart(self) -> str | None:
        """Why the turn has no place among the latencies, in a few words; None if it has one."""
        sides = {"A": self.a, "B": self.b}
        if not self.a.turn.wants_answer:
            return "wants no answer"
        if any(one.turn.cold for one in sides.values()):
            return "cold"
        if any(one.turn.barge_in for one in sides.values()):
            return "barge-in"
        if cut := [side for side, one in sides.items() if one.cut_off]:
            return f"cut off in {' and '.join(cut)}"
        if unknown := [side for side, one in sides.items() if one.latency is None and not one.is_unanswered]:
            return f"recording lost in {' and '.join(unknown)}"
        return "unanswered in A and B" if self.a.is_unanswered and self.b.is_unanswered else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """The turns of two runs."""

    pairs: tuple[Pair, ...]
    only_a: Mapping[str, int]
    """Turns of A without a counterpart, by conversation."""
    only_b: Mapping[str, int]
    changed: Mapping[str, int]
    """Turns whose recordings differ between the runs, by conversation."""


def pair(a: Sequence[SessionOutcome], b: Sequence[SessionOutcome]) -> Pairing:
    """Pair the turns of two runs."""
    ours, theirs = dict(_placed(a)), dict(_placed(b))
    both = [place for place in ours if place in theirs]
    changed = {place for place in both if ours[place].spoken != theirs[place].spoken or not ours[place].spoken}
    return Pairing(
        pairs=tuple(Pair(place, ours[place].outcome, theirs[place].outcome) for place in both if place not in changed),
        only_a=Counter(place.conversation for place in ours if place not in theirs),
        only_b=Counter(place.conversation for place in theirs if place not in ours),
        changed=Counter(place.conversation for place in both if place in changed),
    )


class _Placed(NamedTuple):
    outcome: Outcome
    spoken: str | None
    """The checksum of its recording, or else its words."""


def _placed(sessions: Sequence[SessionOutcome]) -> Iterator[tuple[Place, _Placed]]:
    calls = Counter[str]()
    for judged in sessions:
        if not judged.outcomes:
            continue
        conversation = _conversation(judged)
        calls[conversation] += 1
        for outcome in judged.outcomes:
            turn = outcome.turn
            checksum = judged.session.fixtures.get((turn.fixture or "").rpartition("/")[2])
            yield Place(conversation, calls[conversation], turn.turn), _Placed(outcome, checksum or turn.text)


def _conversation(judged: SessionOutcome) -> str:
    turn = judged.outcomes[0].turn
    folder = (turn.fixture or "").rpartition("/")[0]
    scenario = turn.scenario or judged.session.scenario or judged.session.name
    return scenario if scenario.startswith(folder) else f"{folder}/{scenario}"
