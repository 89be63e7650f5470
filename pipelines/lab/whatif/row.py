"""The figures of a policy over its tiers, from the records of real or virtual turns.

* In time: answer text was ready for synthesis by the turn's deadline, from the tier asked first (within) or from
  another one (rescued).
* Quality: the share of right answers, each tier's weighted by the number of answers it spoke; None unless all tiers
  have figures of the same measure. For answers that were picked from candidates, or verified, see
  `pipelines.lab.whatif.quality`.
* Right: p, the quality times the share of turns that are answered: how many of all turns get a right answer.
* Chain: p^n, how often n turns in a row are all right.
* Seconds to a correct answer: latency / p + (1/p - 1) * speech. A wrong answer makes the caller say it again, so the
  number of attempts is geometric with the mean 1/p; each costs the mean turn latency, and each but the first the mean
  length of the caller's speech. The time of listening to a wrong answer is not counted.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from latency.record.marks import Mark
from latency.record.requests import bill
from latency.record.turn import TurnRecord
from latency.report.llm.figures import llm_figures
from latency.report.llm.requests import server_turns
from latency.report.stats import percentile
from pipelines.lab.whatif.contestants import Cell, Contestant
from pipelines.lab.whatif.quality import majority_right, verified_right, voters

MOST_LATE = 1e9
"""The latency of a turn without an answer, which is later than any limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldTurns:
    """Turns that were held with a cell's tiers and policy."""

    turns: Sequence[TurnRecord]
    latencies: Sequence[float | None]
    """Seconds from the end of speech to the answer, of each turn that counts; None: it got none."""
    sounds: Sequence[float | None]
    """The same to the first sound, including phrases and openings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A policy over its tiers; unknown figures are None, and so is a percentile that falls on an unanswered turn."""

    large: str
    fast: str | None
    policy: str
    turns: int
    first_clause_p50_ms: float | None
    """From the commit to the first clause handed to synthesis; 0 when it was ready before."""
    first_clause_p95_ms: float | None
    within: int
    rescued: int
    bridged: int
    missed: int
    in_time: float | None
    """The share of turns that are within or rescued."""
    sound_p50_ms: float | None
    """From the end of speech to the first sound: a phrase, an opening or the answer."""
    turn_p50_ms: float | None
    """From the end of speech to the first sound of the answer itself."""
    turn_p95_ms: float | None
    requests_per_turn: float | None
    usd_per_100_turns: float | None
    by_fast: float | None
    """The share of answers that the fast tier spoke."""
    quality: float | None
    """The share of right answers."""
    right: float | None
    """p, the share of turns that get a right answer."""
    chain: float | None
    """p^n."""
    seconds_to_correct: float | None
    calm_in_time: float | None = None
    """`in_time` if no request stalled; None when that was not asked."""
    fast_p50_ms: float | None = None
    """For real turns: the median on the virtual clock, over many such turns."""
    same_luck_p50_ms: float | None = None
    """The same over these turns, with requests that take as long as the real ones."""

    @property
    def name(self) -> str:
        """Its tiers."""
        return self.large if self.fast is None else f"{self.large} + {self.fast}"


def row(cell: Cell, held: HeldTurns, *, budget: float, chain: int) -> Row:
    """The figures of a cell.

    Args:
        cell: the tiers and the policy.
        held: its turns.
        budget: the LLM budget, seconds.
        chain: how many turns in a row have to be right.
    """
    llm = llm_figures(held.turns, budget=budget, policy=cell.policy)
    in_time = (llm.within + llm.rescued) / llm.judged if llm.judged else None
    spoken = _spoken(held.turns)
    quality = _quality(cell.tiers, spoken, _voters(held.turns), _verified(held.turns))
    answered = [seconds for seconds in held.latencies if seconds is not None]
    right = None
    if quality is not None and held.latencies:
        right = quality * len(answered) / len(held.latencies)
    clauses = [
        max(0.0, turn.marks[Mark.LLM_FIRST_CLAUSE] - turn.marks[Mark.TURN_COMMIT])
        for turn in held.turns
        if Mark.LLM_FIRST_CLAUSE in turn.marks and Mark.TURN_COMMIT in turn.marks
    ]
    clauses += [MOST_LATE] * (len(held.turns) - len(clauses))
    turns = [MOST_LATE if seconds is None else seconds for seconds in held.latencies]
    requests = sum(len(one.attempts) for one in server_turns(held.turns))
    return Row(
        large=cell.large.label,
        fast=cell.fast.label if cell.fast else None,
        policy=cell.policy,
        turns=len(held.turns),
        first_clause_p50_ms=_ms(percentile(clauses, 50)),
        first_clause_p95_ms=_ms(percentile(clauses, 95)),
        within=llm.within,
        rescued=llm.rescued,
        bridged=llm.bridged,
        missed=llm.missed,
        in_time=_rounded(in_time),
        sound_p50_ms=_ms(percentile([MOST_LATE if at is None else at for at in held.sounds], 50)),
        turn_p50_ms=_ms(percentile(turns, 50)),
        turn_p95_ms=_ms(percentile(turns, 95)),
        requests_per_turn=round(requests / len(held.turns), 3) if held.turns else None,
        usd_per_100_turns=_rounded(_usd(cell.tiers, held.turns)),
        by_fast=_rounded(spoken["fast"] / spoken.total() if spoken.total() else None),
        quality=_rounded(quality),
        right=_rounded(right),
        chain=None if right is None else _rounded(right**chain),
        seconds_to_correct=_rounded(_seconds_to_correct(right, answered, _speech(held.turns))),
    )


def seconds_to_correct(latency: float, right: float, speech: float) -> float:
    """The mean time from the end of a request until a right answer begins, seconds.

    Args:
        latency: the mean turn latency, seconds.
        right: the share of answers that are right, above 0.
        speech: how long it takes the caller to say it again, seconds.
    """
    return latency / right + (1 / right - 1) * speech


def _seconds_to_correct(right: float | None, answered: Sequence[float], speech: float | None) -> float | None:
    if not right or not answered or speech is None:
        return None
    return seconds_to_correct(math.fsum(answered) / len(answered), right, speech)


def _spoken(turns: Sequence[TurnRecord]) -> Counter[str]:
    """How many answers each role spoke."""
    count: Counter[str] = Counter()
    for turn in server_turns(turns):
        first = {a.response: a.tier for a in reversed(turn.attempts) if a.outcome == "spoken"}
        count.update(tier for tier in first.values() if tier is not None)
    return count


def _voters(turns: Sequence[TurnRecord]) -> Counter[int]:
    """How many candidates decided the answers that were picked from several."""
    answers = [answer for turn in server_turns(turns) for answer in turn.responses if answer.is_committed]
    return Counter(voters(answer.vote) for answer in answers if answer.vote and answer.vote.agreeing)


def _verified(turns: Sequence[TurnRecord]) -> int:
    """The number of verified answers."""
    answers = [answer for turn in server_turns(turns) for answer in turn.responses if answer.is_committed]
    return sum(answer.verification is not None and answer.verification.outcome == "verified" for answer in answers)


def _quality(tiers: Mapping[str, Contestant], spoken: Counter[str], votes: Counter[int], verified: int) -> float | None:
    """The share of right answers; answers picked from candidates count for the tier that answers first."""
    known = {role: tiers[role].quality for role, answers in spoken.items() if answers and role in tiers}
    found = [quality for quality in known.values() if quality is not None]
    if not found or len(found) < len(known) or len({quality.measure for quality in found}) > 1:
        return None
    right = sum(spoken[role] * quality.share for role, quality in known.items() if quality)
    drafted = known.get("fast") or known.get("large")
    if drafted is not None:
        right += sum(n * (majority_right(drafted.share, of) - drafted.share) for of, n in votes.items())
    if verified:
        verifier = tiers["large"].quality
        if drafted is None or verifier is None or verifier.measure != drafted.measure:
            return None
        right += verified * (verified_right(drafted.share, verifier.share) - drafted.share)
    return right / spoken.total()


def _usd(tiers: Mapping[str, Contestant], turns: Sequence[TurnRecord]) -> float | None:
    """The cost of 100 turns, in US dollars, over all requests, heard or not; None if unknown."""
    total = 0.0
    for turn in server_turns(turns):
        for attempt in turn.attempts:
            tier = tiers.get(attempt.tier or "")
            price = tier.price if tier else None
            usd = bill(attempt, price)
            if usd is None:
                return None
            total += usd
    return total / len(turns) * 100 if turns else None


def _speech(turns: Sequence[TurnRecord]) -> float | None:
    known = [turn.end - turn.start for turn in turns if turn.start is not None and turn.end is not None]
    return math.fsum(known) / len(known) if known else None


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None or seconds >= MOST_LATE / 2 else round(seconds * 1000, 1)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
