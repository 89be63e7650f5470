"""A published table of what policies reach, drawn from the same figures: log-normal times to the first answer token,
a first clause of 8 tokens, calls independent of each other, 450 ms from the end of the turn."""

from dataclasses import dataclass

import pytest

from latency.budget import Budget
from latency.record.marks import Mark
from pipelines.lab.simulator.conversation import token_count
from pipelines.lab.simulator.profiles import load_profiles
from pipelines.lab.whatif.caller_turns import CallerTurn
from pipelines.lab.whatif.contestants import Cell, Contestant
from pipelines.lab.whatif.draws import Randomness
from pipelines.lab.whatif.virtual_answer import wording
from pipelines.lab.whatif.virtual_calls import VirtualCalls
from voice.llm.policy.plan import Plan
from voice.llm.policy.situation import ANY_TURN, TurnInfo
from voice.llm.policy.tier_statistics import TierStatistics

DRAWS = 3000
EIGHT = "One two three four five six seven. Eight."
PROFILES = load_profiles("field")


@dataclass(frozen=True)
class At:
    """A second request after a fixed delay: rows of the table whose delay none of our policies has."""

    seconds: float
    rescue: str
    tiers: tuple[str, ...] = ("large",)
    name: str = "fixed delay"
    judged: str | None = None

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        return Plan(
            policy=self.name, reason="", first=("large",), rescue=self.rescue, rescue_delay=self.seconds,
            leads=book.leads(),
            waits=book.waits(),
        )  # fmt: skip


def share_in_time(
    policy: str, large: str, fast: str | None = None, *, lead: float = 0.0, fixed: At | None = None
) -> tuple[float, float]:
    """The share of turns with a clause by 450 ms after the commit, and that of answers by the large tier."""
    turn = CallerTurn(commit=0.0, asked=-lead, speech=1.0, answer=EIGHT)
    second = None if fast is None else Contestant(name=fast, profile=PROFILES[fast])
    cell = Cell(policy=policy, large=Contestant(name=large, profile=PROFILES[large]), fast=second)
    calls = VirtualCalls(cell, chance=Randomness(seed=1, stalls=False, correlated=False), budget=Budget(), policy=fixed)
    records = list(calls.hold([turn] * DRAWS))
    waits = [
        record.marks[Mark.LLM_FIRST_CLAUSE] - record.marks[Mark.TURN_COMMIT]
        for record in records
        if Mark.LLM_FIRST_CLAUSE in record.marks
    ]
    by_large = sum(record.responses[-1].tier == "large" for record in records)
    return sum(wait <= 0.45 + 1e-6 for wait in waits) / DRAWS, by_large / DRAWS


def test_the_first_clause_has_eight_tokens() -> None:
    # It is known to be whole when the ninth has come.
    said = wording(EIGHT)
    assert (token_count(said.clauses[0].text), said.first_clause) == (8, 9)


@pytest.mark.parametrize(
    ("model", "published"),
    [
        ("gpt-4.1", 0.30),
        ("haiku", 0.20),
        ("sonnet", 0.18),
        ("gpt-5.6-sol", 0.02),
        ("gpt-5.4-mini", 0.32),
        ("cerebras", 0.92),
        ("groq-fast", 0.999),
    ],
)
def test_a_model_alone(model: str, published: float) -> None:
    assert share_in_time("single", model)[0] == pytest.approx(published, abs=0.02)


@pytest.mark.parametrize(
    ("model", "published"),
    [("gpt-5.4-mini", 0.94), ("nemotron", 0.92), ("gpt-4.1", 0.62), ("haiku", 0.56), ("sonnet", 0.39)],
)
def test_a_model_that_is_asked_300_ms_ahead(model: str, published: float) -> None:
    assert share_in_time("single", model, lead=0.3)[0] == pytest.approx(published, abs=0.02)


def test_a_hedge_at_the_models_own_95th_percentile() -> None:
    assert share_in_time("hedged", "groq-fast")[0] == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(("model", "at", "published"), [("gpt-5.4-mini", 0.25, 0.32), ("cerebras", 0.3, 0.93)])
def test_a_hedge_at_a_fixed_time(model: str, at: float, published: float) -> None:
    assert share_in_time("hedged", model, fixed=At(at, "large"))[0] == pytest.approx(published, abs=0.02)


def test_two_of_the_same_raced() -> None:
    assert share_in_time("race", "gpt-4.1", "gpt-4.1")[0] == pytest.approx(0.50, abs=0.02)


def test_a_race_that_prefers_the_large_model() -> None:
    # It holds the fast answer until 430 ms, the table's race until 425, so the large model answers a little more often.
    in_time, by_large = share_in_time("race", "sonnet", "groq-fast")
    assert (in_time, by_large) == (pytest.approx(0.999, abs=0.02), pytest.approx(0.16, abs=0.03))


@pytest.mark.parametrize(("fast", "published"), [("groq-fast", 0.97), ("cerebras", 0.54)])
def test_a_fast_model_that_is_started_at_200_ms(fast: str, published: float) -> None:
    fixed = At(0.2, "fast", ("large", "fast"))
    assert share_in_time("fallback", "sonnet", fast, fixed=fixed)[0] == pytest.approx(published, abs=0.02)
