"""Two runs compared: the differences between the same turns, a verdict, and everything else that differs.

A is the run before a change, or the baseline; differences are B minus A, so that a positive one of latency is slower.
The verdict rests on one figure, the change of a turn's latency (see `latency.compare.difference`): judging several
would raise more false alarms than the 5 in 100 that one interval allows.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    turn = _durations(timed, lambda one: one.latency)
    verdict, more = _verdict(turn)
    of_tier = _grouped(timed, lambda one: _tiers(one, a, b))
    of_conversation = _grouped(timed, lambda one: one.place.conversation)
    return Comparison(
        a=a,
        b=b,
        pairing=pairing,
        apart=Counter(one.apart for one in pairing.pairs if one.apart is not None),
        verdict=verdict,
        more=more,
        turn=turn,
        answer=_durations(timed, lambda one: one.answer),
        stages=dict(_stages(timed)),
        tiers={name: found for name, some in of_tier.items() if (found := _durations(some, lambda one: one.latency))},
        conversations={
            name: found
            for name, some in of_conversation.items()
            if (found := _durations(some, lambda one: one.latency))
        },
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


def _durations(pairs: Sequence[Pair], pick: Callable[[Outcome], float | None]) -> Durations | None:
    """The difference of a duration over the pairs of turns that both have it; that of an unanswered one is infinite."""
    known = [
        (one, (a, b))
        for one in pairs
        if (a := _seconds(one.a, pick)) is not None and (b := _seconds(one.b, pick)) is not None
    ]
    return durations([one for one, _ in known], [seconds for _, seconds in known])


def _seconds(outcome: Outcome, pick: Callable[[Outcome], float | None]) -> float | None:
    return float("inf") if outcome.is_unanswered else pick(outcome)


def _stages(pairs: Sequence[Pair]) -> Iterator[tuple[str, Durations]]:
    answered = [one for one in pairs if not (one.a.is_unanswered or one.b.is_unanswered)]
    parts = [(one, one.a.turn.contributions(), one.b.turn.contributions()) for one in answered]
    for key in CONTRIBUTIONS:
        known = [(one, x, y) for one, a, b in parts if (x := a[key]) is not None and (y := b[key]) is not None]
        found = durations([one for one, _, _ in known], ((x, y) for _, x, y in known))
        if found is not None:
            yield key, found


def _tiers(one: Pair, a: Report, b: Report) -> str | None:
    sides = ((one.a, a), (one.b, b))
    judged = [judge(outcome.turn, budget=report.llm.budget_ms / 1000) for outcome, report in sides]
    before, after = (found.tier if found else None for found in judged)
    if before is None or after is None:
        return None
    return before if before == after else f"{before} to {after}"


def _grouped(pairs: Sequence[Pair], key: Callable[[Pair], str | None]) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for one in pairs:
        if (name := key(one)) is not None:
            found.setdefault(name, []).append(one)
    return found


def _shares(pairs: Sequence[Pair], *, has_words: bool) -> Iterator[tuple[str, Share]]:
    asked = [one for one in pairs if one.a.turn.wants_answer]
    figures: dict[str, Callable[[Outcome], float | None]] = {
        "answers_ok": lambda outcome: outcome.right,
        "cut_offs": lambda outcome: outcome.cut_off if outcome.answered or outcome.is_unanswered else None,
        "unanswered": lambda outcome: outcome.is_unanswered if outcome.answered or outcome.is_unanswered else None,
        "eva": score_of,
    }
    for name, pick in figures.items():
        known = [(one, x, y) for one in asked if (x := pick(one.a)) is not None and (y := pick(one.b)) is not None]
        if found := share([one for one, _, _ in known], ((x, y, 1.0) for _, x, y in known)):
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
