"""When a draft is verified, how long its second sentence waits, and who answers when it is wrong: on a manual clock."""

from dataclasses import replace

import pytest

from latency.budget import Deadline
from voice.llm.answer.hold_phrases import HOLD_GUARD
from voice.llm.policy.make import make_policy
from voice.llm.policy.plan import VERDICT_PATIENCE, Plan
from voice.llm.policy.situation import Decision, NewRequest, RequestState, Situation
from voice.llm.policy.tier_statistics import TierStatistics

DRAFT = RequestState(number=0, tier="fast", request=0.0, first_token=0.1, first_clause=0.12, clauses=2, reviewed=True)
WHOLE = replace(DRAFT, drafted=0.2)
VERIFIER = RequestState(number=1, tier="large", request=0.2, verifies=0)


def plan() -> Plan:
    return make_policy("draft_verify", large="large", fast="fast").plan(TierStatistics({"large": 1.0, "fast": 0.15}))


def decide(now: float, *attempts: RequestState, dry_at: float | None = 2.0, speaking: int | None = 0) -> Decision:
    deadline = Deadline(0.45, "llm")
    return plan().decide(
        Situation(now=now, commit=0.0, deadline=deadline, requests=attempts, speaking=speaking, dry_at=dry_at)
    )


def test_the_draft_is_spoken_as_soon_as_its_first_sentence_is_there() -> None:
    assert decide(0.12, DRAFT, dry_at=None, speaking=None).speak == 0


def test_the_verifier_is_asked_once_the_draft_is_whole_and_only_once() -> None:
    assert decide(0.15, DRAFT) == Decision(wake_at=2.0 - HOLD_GUARD)
    assert decide(0.2, WHOLE).start == (NewRequest(tier="large", verifies=0),)
    assert decide(0.3, WHOLE, VERIFIER) == Decision(wake_at=2.0 + VERDICT_PATIENCE)


def test_no_verdict_is_awaited_for_longer_than_a_short_silence() -> None:
    assert decide(2.0 + VERDICT_PATIENCE, WHOLE, VERIFIER) == Decision(release=True, cancel=(1,))


def test_a_draft_that_is_not_whole_when_its_first_sentence_ends_is_spoken_on() -> None:
    assert decide(2.0 - HOLD_GUARD, DRAFT) == Decision(release=True)


def test_before_the_turn_is_committed_nothing_runs_dry() -> None:
    assert decide(5.0, WHOLE, VERIFIER, dry_at=None) == Decision()


@pytest.mark.parametrize("speaking", [None, 0])
def test_when_the_draft_is_wrong_the_large_tier_answers(speaking: int | None) -> None:
    wrong = replace(WHOLE, reviewed=False, outcome="failed", overreached=True)
    judged = replace(VERIFIER, outcome="complete", first_clause=0.5, clauses=1)
    assert decide(0.5, wrong, judged, speaking=speaking).start == (
        NewRequest(tier="large", continues=None if speaking is None else 0),
    )


def test_a_late_draft_is_rescued_and_the_rescue_is_not_verified() -> None:
    first, *_ = decide(0.0, speaking=None, dry_at=None).start
    assert (first, plan().drafts(first)) == (NewRequest(tier="fast"), True)
    late = RequestState(number=0, tier="fast", request=0.0, reviewed=True)
    (rescue,) = decide(0.4, late, speaking=None, dry_at=None).start
    assert (rescue, plan().drafts(rescue)) == (NewRequest(tier="large"), False)


def test_a_large_tier_that_is_down_verifies_nothing() -> None:
    alone = plan().without(frozenset({"large"}))
    assert alone.verifier is None
    assert not alone.drafts(NewRequest(tier="fast"))
