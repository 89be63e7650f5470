"""Two runs compared: the differences between the same turns, a verdict, and everything else that differs.

A is the run before a change, or the baseline; differences are B minus A, so that a positive one of latency is slower.
The verdict rests on one figure, the change of a turn's latency (see `latency.compare.difference`): judging several
would raise more false alarms than the 5 in 100 that one interval allows.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from typing import Any, Literal

from latency.budget import INTERVAL_NEEDS
from latency.compare.difference import Durations, Share, durations, share
from latency.compare.pairing import Pair, Pairing, pair
from latency.judge.answer import word_errors
from latency.judge.llm_budget import judge
from latency.judge.turn import Outcome
from latency.record.contributions import CONTRIBUTIONS
from latency.record.run import RunError
from latency.report.report import Report
from latency.report.turn_taking import score_of

Verdict = Literal["faster", "slower", "not enough to tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The differences between two runs; durations in ms."""

    a: Report
    b: Report
    pairing: Pairing
    apart: Mapping[str, int]
    """Pairs that have no place among the latencies, by reason."""
    verdict: Verdict
    more: int | None
    """About how many more turns would be enough to tell; 0 if they would hardly help. None with a verdict, or if it
    cannot be estimated."""
    turn: Durations | None
    """Turn latency; None without a turn that counts."""
    answer: Durations | None
    """The same to the answer itself, which a phrase may precede."""
    stages: Mapping[str, Durations]
    tiers: Mapping[str, Durations]
    """Turn latency by the tier that answered; "large to fast" if it was another one in B."""
    conversations: Mapping[str, Durations]
    shares: Mapping[str, Share]
    """`answers_ok`, `wer`, `cut_offs`, `unanswered` and `eva` over the turns of both runs."""
    warnings: tuple[str, ...]
    """Why a difference may not be due to the agent, a sentence for each."""
    changes: tuple[str, ...]
    """Components, versions and settings that differ."""


def compare(a: Report, b: Report) -> Comparison:
    """Compare two runs.

    Raises:
        RunError: The latencies of one are refused, or they have no turn in common.
    """
    for report in (a, b):
        if report.refused:
            raise RunError(f"the latencies of {report.run} are no data: {report.refused}", exit_code=3)
    pairing = pair(a.sessions, b.sessions)
    if not pairing.pairs:
        raise RunError(f"{a.run} and {b.run} have no turn in common: {_played(pairing)}", exit_code=3)
    timed = [one for one in pairing.pairs if one.apart is None]
    turn = durations(*_both(timed, _latency))
    verdict, more = _verdict(turn)
    return Comparison(
        a=a,
        b=b,
        pairing=pairing,
        apart=Counter(one.apart for one in pairing.pairs if one.apart is not None),
        verdict=verdict,
        more=more,
        turn=turn,
        answer=durations(*_both(timed, lambda one: inf if one.is_unanswered else one.answer)),
        stages=dict(_stages(timed)),
        tiers=dict(_by(timed, lambda one: _tiers(one, a, b))),
        conversations=dict(_by(timed, lambda one: one.place.conversation)),
        shares=dict(_shares(pairing.pairs, has_words=None not in (a.quality.wer, b.quality.wer))),
        warnings=(*warnings(a, b), *(f"{side}: {note}" for side, one in (("A", a), ("B", b)) for note in one.notes)),
        changes=tuple(_changes(a, b)),
    )


def _verdict(turn: Durations | None) -> tuple[Verdict, int | None]:
    if turn is None or turn.turn.interval is None:
        return "not enough to tell", INTERVAL_NEEDS - (turn.n if turn else 0)
    low, high = turn.turn.interval
    if low > 0:
        return "slower", None
    if high < 0:
        return "faster", None
    return "not enough to tell", None if turn.needed is None else max(0, turn.needed - turn.n)


def _both(
    pairs: Iterable[Pair], pick: Callable[[Outcome], float | None]
) -> tuple[list[Pair], list[tuple[float, float]]]:
    """The pairs whose turns both have a figure, and their figures."""
    known = [(one, (a, b)) for one in pairs if (a := pick(one.a)) is not None and (b := pick(one.b)) is not None]
    return [one for one, _ in known], [values for _, values in known]


def _latency(outcome: Outcome) -> float | None:
    return inf if outcome.is_unanswered else outcome.latency


def _stages(pairs: Sequence[Pair]) -> Iterator[tuple[str, Durations]]:
    answered = [one for one in pairs if not (one.a.is_unanswered or one.b.is_unanswered)]
    parts = {id(side): side.turn.contributions() for one in answered for side in (one.a, one.b)}

    def of(key: str) -> Durations | None:
        return durations(*_both(answered, lambda outcome: parts[id(outcome)][key]))

    # Drawing takes most of the time for a large run, and numpy lets other threads run meanwhile.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        stages = zip(CONTRIBUTIONS, pool.map(of, CONTRIBUTIONS), strict=True)
        yield from ((key, found) for key, found in stages if found)


def _by(pairs: Sequence[Pair], key: Callable[[Pair], str | None]) -> Iterator[tuple[str, Durations]]:
    names = [key(one) for one in pairs]
    for name in dict.fromkeys(names):
        some = [one for one, its in zip(pairs, names, strict=True) if its == name]
        if name is not None and (found := durations(*_both(some, _latency))):
            yield name, found


def _tiers(one: Pair, a: Report, b: Report) -> str | None:
    sides = ((one.a, a), (one.b, b))
    judged = [judge(outcome.turn, budget=report.llm.budget_ms / 1000) for outcome, report in sides]
    before, after = (found.tier if found else None for found in judged)
    if before is None or after is None:
        return None
    return before if before == after else f"{before} to {after}"


def _shares(pairs: Sequence[Pair], *, has_words: bool) -> Iterator[tuple[str, Share]]:
    asked = [one for one in pairs if one.a.turn.wants_answer]
    known = [one for one in asked if all(side.answered or side.is_unanswered for side in (one.a, one.b))]
    for name, some, pick in (
        ("answers_ok", asked, attrgetter("right")),
        ("cut_offs", known, attrgetter("cut_off")),
        ("unanswered", known, attrgetter("is_unanswered")),
        ("eva", asked, score_of),
    ):
        judged, values = _both(some, pick)
        if found := share(judged, ((a, b, 1.0) for a, b in values)):
            yield name, found
    spoken = [one for one in pairs if one.a.turn.speech and not one.a.turn.backchannel and one.a.turn.text]
    heard = [one for one in spoken if None not in (one.a.turn.heard, one.b.turn.heard)]
    if has_words and (found := share(heard, map(_word_errors, heard))):
        yield "wer", found


def _word_errors(one: Pair) -> tuple[float, float, float]:
    text = one.a.turn.text or ""
    errors, words = word_errors(text, one.a.turn.heard or "")
    return errors, word_errors(text, one.b.turn.heard or "")[0], words


def _played(pairing: Pairing) -> str:
    if pairing.changed:
        return f"the recordings of {', '.join(pairing.changed)} are other ones, or were spoken live"
    return f"A played {', '.join(pairing.only_a)}, and B {', '.join(pairing.only_b)}"


def warnings(a: Report, b: Report) -> Iterator[str]:
    """Why a difference between two runs may not be due to the agent, a sentence for each."""
    if set(a.simulated) != set(b.simulated):
        one, other = (", ".join(report.simulated) or "nothing simulated" for report in (a, b))
        yield f"the runs rest on different simulated parts: A on {one}, B on {other}"
    for key, what in (("platform", "systems"), ("python", "versions of Python"), ("cpus", "numbers of processors")):
        one, other = a.host[key], b.host[key]
        if one != other:
            yield f"the runs were made on different {what}: A on {one}, B on {other}"
    if a.header.chaos != b.header.chaos:
        yield "faults were injected into one of the runs, or other ones into the other (--chaos)"
    if a.truth != b.truth:
        yield f"the ends of speech are {a.truth} in A and {b.truth} in B"


def _changes(a: Report, b: Report) -> Iterator[str]:
    for what in ("components", "versions", "pipeline"):
        one, other = (dict(_flat(getattr(report.header, what))) for report in (a, b))
        for key in dict.fromkeys([*one, *other]):
            if one.get(key) != other.get(key):
                yield f"{key}: {one.get(key, 'none')} → {other.get(key, 'none')}"


def _flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        elif f"{before}{key}" not in ("name", "description"):
            yield f"{before}{key}", value
