"""The budget of a run's language models: the answers in time, and the waste for that.

Each turn is judged by `latency.judge.llm_budget`; here the verdicts are counted.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from latency.judge.llm_budget import LlmVerdict, Verdict, judge
from latency.record.requests import RequestRecord
from latency.record.turn import TurnRecord
from latency.report.llm import requests
from latency.report.llm.requests import server_turns
from latency.report.stats import SpreadWithMax, p99


@dataclass(frozen=True, slots=True, kw_only=True)
class TierFigures:
    """One language model of a run."""

    attempts: int
    spoken: int
    """Attempts whose text was spoken."""
    first_clause_ms: SpreadWithMax
    """From a request to its first speakable clause, if one came; the other requests would have taken longer."""
    model: str | None
    called: int
    """Attempts whose tools were run, but whose words were not spoken."""
    cancelled: int
    failed: int
    withdrawn: int
    """Attempts for speculative answers that were discarded."""
    opened: int
    """Attempts whose words were said as an opening."""
    rejected: int
    """Attempts whose words are not allowed in an opening, and were not said."""
    verdicts: int
    """Attempts that gave a verdict on another one's draft."""
    failures: dict[str, int]
    """Failed attempts by the observed reason."""
    cut_short: dict[str, requests.CutShort]
    """Cancelled attempts by their progress."""
    served_otherwise: dict[str, int]
    """Attempts served at another speed than requested, by "fast, served standard"."""
    shortened: dict[str, int]
    """Attempts that the provider ended before the model did, by its reason, such as "length"."""
    sooner_ms: SpreadWithMax
    """The time from a spoken introduction ("Sure,") to the end of its clause."""
    dry: int
    """Introductions that had been spoken before the rest was known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmTurn:
    """A turn in which a language model was asked."""

    session: str
    turn: int
    judged: LlmVerdict
    counted: bool
    """Whether the report counts its verdict: the turn wants an answer and has a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """The figures of the LLM budget; the four verdicts are counts of turns."""

    budget_ms: float
    within: int
    rescued: int
    bridged: int
    missed: int
    overshoot_p99_ms: float | None
    """The lateness of the answer's text, over all judged turns with text; text in time counts as 0."""
    policy: str | None
    """The pipeline's policy; `policies` lists those that ran."""
    tiers: dict[str, TierFigures]
    judged: int
    """Turns with a verdict."""
    share_within: float | None
    """The share of the judged turns that are within or rescued."""
    overshoot_ms: SpreadWithMax
    textless: int
    """Judged turns that got no answer text at all; no percentile includes them."""
    bridged_answer_ms: SpreadWithMax
    """The time from the deadline to the answer's text in bridged turns."""
    deadlines: dict[str, int]
    """Judged turns by the limit of the deadline: the LLM's share ("llm"), turn total ("turn") or tier ("floor")."""
    charged: dict[str, int]
    """Judged turns whose deadline is a floor, by the stage that overspent."""
    phrases: dict[str, int]
    """Phrases said while no answer was ready, by kind; see `PhraseKind`."""
    rejected: int
    """Openings with words that are not allowed; a known phrase was said instead."""
    repairs: int
    """Answers that openly took back their opening, or the first sentence of their draft."""
    votes: dict[str, int]
    """Answers that were picked from several candidates, by the reason for the pick."""
    verifications: dict[str, int]
    """Answers that were drafted and verified, by outcome; see `VerificationOutcome`."""
    forgetful: int
    """Answers whose requests no longer contained the whole call."""
    policies: dict[str, int]
    """Turns by policy; several if it was changed during a call. Empty for a language model without a budget."""
    reasons: dict[str, int]
    """Turns by the policy's reason for the order of its requests."""
    waste: requests.Waste
    turns: tuple[LlmTurn, ...]


def llm_figures(turns: Sequence[TurnRecord], *, budget: float, policy: str | None) -> Llm:
    """Count the verdicts of the turns that want an answer, and the outcomes of each tier; `budget` in seconds."""
    asked = tuple(
        LlmTurn(
            session=turn.session,
            turn=turn.turn,
            judged=judged,
            counted=turn.wants_answer and judged.verdict is not None,
        )
        for turn in turns
        if (judged := judge(turn, budget=budget))
    )
    counted = [turn.judged for turn in asked if turn.counted]
    count = Counter(one.verdict for one in counted)
    late = [one.late_ms / 1000 for one in counted if one.late_ms is not None]
    overshoot = [max(0.0, seconds) for seconds in late]
    in_time = count["within"] + count["rescued"]
    all_answers = [answer for one in server_turns(turns) for answer in one.responses]
    phrases = [phrase for answer in all_answers for phrase in answer.said]
    answers = [answer for answer in all_answers if answer.is_committed]
    budgeted = [turn.judged for turn in asked if turn.judged.policy]
    return Llm(
        budget_ms=round(budget * 1000, 1),
        **{verdict: count[verdict] for verdict in get_args(Verdict)},
        overshoot_p99_ms=p99([seconds * 1000 for seconds in overshoot]),
        policy=policy,
        tiers=_tiers(turns),
        judged=len(counted),
        share_within=round(in_time / len(counted), 4) if counted else None,
        overshoot_ms=SpreadWithMax.of(overshoot),
        textless=len(counted) - len(late),
        bridged_answer_ms=SpreadWithMax.of(
            one.late_ms / 1000 for one in counted if one.verdict == "bridged" and one.late_ms is not None
        ),
        deadlines=dict(Counter(one.limit for one in counted if one.limit)),
        charged=dict(Counter(one.charged for one in counted if one.charged)),
        phrases=dict(Counter(phrase.kind for phrase in phrases)),
        rejected=sum(phrase.rejected is not None for phrase in phrases),
        repairs=sum(answer.repaired is not None for answer in answers),
        votes=dict(Counter(answer.vote.why for answer in answers if answer.vote)),
        verifications=dict(Counter(answer.verification.outcome for answer in answers if answer.verification)),
        forgetful=sum(answer.forgotten is not None for answer in answers),
        policies=dict(Counter(one.policy for one in budgeted if one.policy)),
        reasons=dict(Counter(one.reason for one in budgeted if one.reason)),
        waste=requests.waste_of(turns),
        turns=asked,
    )


def _tiers(turns: Iterable[TurnRecord]) -> dict[str, TierFigures]:
    by_tier: dict[str, list[RequestRecord]] = {}
    for answer in requests.answers_of(turns):
        for attempt in answer:
            by_tier.setdefault(attempt.tier or "unnamed", []).append(attempt)
    return {name: _tier(attempts) for name, attempts in sorted(by_tier.items())}


def _tier(attempts: Sequence[RequestRecord]) -> TierFigures:
    outcomes = Counter(attempt.outcome for attempt in attempts)
    spoken = [attempt for attempt in attempts if attempt.outcome == "spoken"]
    return TierFigures(
        attempts=len(attempts),
        spoken=outcomes["spoken"],
        first_clause_ms=SpreadWithMax.of(
            attempt.first_clause - attempt.request
            for attempt in attempts
            # Openings, verdicts and continued answers have no first clause to measure: they come in whole sentences.
            if attempt.continues is None
            and attempt.is_answer
            and attempt.request is not None
            and attempt.first_clause is not None
        ),
        sooner_ms=SpreadWithMax.of(sooner for attempt in spoken if (sooner := attempt.sooner) is not None),
        dry=sum(attempt.ran_dry for attempt in spoken),
        model=", ".join(dict.fromkeys(a.model for a in attempts if a.model)) or None,
        verdicts=outcomes["verdict"],
        **{end: outcomes[end] for end in ("called", "cancelled", "failed", "withdrawn", "opened", "rejected")},
        failures=requests.failures(attempts),
        cut_short=requests.cut_short(attempts),
        served_otherwise=dict(
            Counter(requests.speed_of(attempt) for attempt in attempts if attempt.is_served_otherwise)
        ),
        shortened=dict(Counter(str(attempt.finish) for attempt in attempts if attempt.is_shortened)),
    )
