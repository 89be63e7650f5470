"""Candidates on a manual clock: picked by agreement, never later than the deadline, and at last escalated."""

from dataclasses import replace

import pytest

from latency.budget import Deadline
from tests.voice.llm.policy.policy_play import Script, play
from voice.errors import ConfigurationError
from voice.llm.policy.make import make_policy
from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import BestOf, within_rate_limits
from voice.llm.policy.situation import Decision, RequestState, Situation
from voice.llm.policy.tier_statistics import TierStatistics

QUICK = Script(clauses=(0.2,), end=0.24)
HANGS = Script()
LARGE = Script(clauses=(0.3,), end=0.5)


def plan(name: str = "best_of", best_of: int | None = 3) -> Plan:
    return make_policy(name, large="large", fast="fast", best_of=best_of).plan(
        TierStatistics({"large": 1.0, "fast": 0.3})
    )


def candidate(number: int, *, clause: float | None = 0.2, end: float | None = 0.3, support: int = 1) -> RequestState:
    whole = end is not None
    return RequestState(
        number=number, tier="fast", request=0.0, first_clause=clause, clauses=clause is not None, candidate=number,
        outcome="complete" if whole else None, support=support if whole else 0,
    )  # fmt: skip


def decided(*attempts: RequestState, now: float = 0.3) -> Decision:
    deadline = Deadline(0.45, "llm")
    return plan().decide(Situation(now=now, commit=0.0, deadline=deadline, requests=attempts))


def test_three_are_asked_at_once_and_each_is_numbered() -> None:
    starts = plan().decide(Situation(now=0.0, commit=0.0, deadline=None)).start
    assert [(start.tier, start.candidate) for start in starts] == [("fast", 0), ("fast", 1), ("fast", 2)]


def test_the_pick_waits_for_all_candidates_unless_most_agree() -> None:
    running = candidate(2, clause=None, end=None)
    assert decided(candidate(0), candidate(1), running).speak is None
    agreed = decided(candidate(0, support=2), candidate(1, support=2), running)
    assert (agreed.speak, agreed.cancel) == (0, (2,))
    all_there = decided(candidate(0), candidate(1, support=2), candidate(2, support=2))
    assert all_there.speak == 1


@pytest.mark.parametrize("whole", [0, 1, 2])
def test_whoever_is_there_by_the_deadline_is_spoken(whole: int) -> None:
    attempts = [candidate(n, end=0.3 if n < whole else None) for n in range(3)]
    waiting = decided(*attempts, now=0.4)
    assert waiting.speak is None
    assert waiting.wake_at == pytest.approx(0.43)
    picked = decided(*attempts, now=0.43)
    assert picked.speak == 0
    assert picked.cancel == tuple(range(max(whole, 1), 3))


@pytest.mark.parametrize("late", [HANGS, Script(clauses=(0.2,)), Script(clauses=(0.1,), end=3.0), Script(fail=0.1)])
def test_a_candidate_that_hangs_makes_nothing_late(late: Script) -> None:
    for scripts in ([QUICK, late, late], [late, QUICK, late], [late, late, QUICK]):
        played = play(plan(), {"fast": scripts, "large": LARGE})
        ((tier, at),) = played.spoken
        assert tier == "fast"
        assert at <= played.deadline
        assert not played.said


def test_when_all_candidates_are_dead_the_large_tier_is_asked_at_once() -> None:
    played = play(plan(), {"fast": Script(fail=0.1), "large": LARGE})
    assert played.starts == [("fast", 0.0)] * 3 + [("large", 0.1)]
    assert played.spoken == [("large", 0.4)]
    hung = play(plan(), {"fast": HANGS, "large": LARGE})
    assert [tier for tier, _ in hung.spoken] == ["large"]
    assert sorted(hung.cancelled) == [("fast", hung.spoken[0][1])] * 3


def test_what_must_not_be_spoken_is_spoken_only_when_nothing_else_comes() -> None:
    unfit = [replace(candidate(n, support=0), dismissed="it refuses") for n in range(3)]
    assert [start.tier for start in decided(*unfit).start] == ["large"]
    large = RequestState(number=3, tier="large", request=0.3)
    assert decided(*unfit, large).speak is None
    dead = [replace(large, outcome="failed"), replace(large, number=4, outcome="failed")]
    assert decided(*unfit, *dead).speak == 0
    answered = replace(large, first_clause=0.4, clauses=1)
    assert decided(*unfit, answered, now=0.42).speak == 3


def test_a_malformed_call_of_one_candidate_does_not_escalate() -> None:
    wrong = replace(candidate(0, clause=None), outcome="failed", overreached=True)
    going = [candidate(n, clause=None, end=None) for n in (1, 2)]
    assert not decided(wrong, *going, now=0.1).start
    both = [replace(wrong, number=n, candidate=n) for n in range(3)]
    assert [start.tier for start in decided(*both, now=0.1).start] == ["large"]


def test_rate_limits_leave_fewer_candidates_and_the_reason_says_so() -> None:
    whole = plan()
    assert within_rate_limits(whole, {}) is whole
    assert within_rate_limits(whole, {"fast": 3}) is whole
    fewer = within_rate_limits(whole, {"fast": 2})
    assert fewer.first == ("fast", "fast")
    assert "the rate limit of fast is nearly used up (2 left)" in fewer.reason
    assert within_rate_limits(whole, {"fast": 0}).first == ("fast",)
    race = make_policy("race", large="large", fast="fast").plan(TierStatistics({"large": 1.0, "fast": 0.3}))
    assert within_rate_limits(race, {"large": 0}) is race


def test_a_modifier_drafts_what_the_fast_tier_answers_and_leaves_the_rest() -> None:
    policy = make_policy("adaptive", large="large", fast="fast", best_of=4)
    assert isinstance(policy, BestOf)
    assert policy.name == "adaptive"
    assert policy.plan(TierStatistics({"large": 1.0, "fast": 0.3})).first == ("large",)
    assert make_policy("single", large=None, fast="fast", best_of=2).plan(TierStatistics({"fast": 0.3})).first == (
        "fast",
        "fast",
    )
    with pytest.raises(ConfigurationError, match="llm.best_of has no use with the policy race"):
        make_policy("race", large="large", fast="fast", best_of=2)
