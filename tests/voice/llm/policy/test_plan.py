"""Every policy on a manual clock: tiers are scripted, and a turn is played by asking its plan whenever it wants."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import process_time

import pytest

from latency.budget import Budget, Commit, Deadline
from tests.voice.llm.policy.policy_play import CLAUSE_LASTS, COMMIT, Script, play
from voice.errors import ConfigurationError
from voice.llm.answer.hold_phrases import LONGEST_SILENCE
from voice.llm.policy.make import POLICIES, make_policy
from voice.llm.policy.policies import Adaptive, Fallback, Hedged, Policy, Race, Single
from voice.llm.policy.situation import Decision, RequestState, Situation
from voice.llm.policy.tier_statistics import PROBE_EVERY, TierStatistics

SILENT = Script()
LARGE_OK = Script((0.2, 0.6), end=0.7)
LARGE_LATE = Script((0.9, 1.2), end=1.3)
FAST_OK = Script((0.1, 0.3), end=0.35)
REFUSES = Script(fail=0.01)


def book(**p95: float) -> TierStatistics:
    return TierStatistics({"large": 1.5, "fast": 0.2, **p95})


SINGLE = Single(tier="large")
FALLBACK = Fallback(large="large", fast="fast")
HEDGED = Hedged(tier="large")
RACE = Race(large="large", fast="fast")
ADAPTIVE = Adaptive(large="large", fast="fast")
HOLD_AT = 0.43
RESCUE_AT = SECOND_AT = 0.22


@pytest.mark.parametrize(
    ("policy", "scripts", "starts", "spoken"),
    [
        (SINGLE, {"large": LARGE_OK}, [("large", 0.0)], ("large", 0.2)),
        (SINGLE, {"large": LARGE_LATE}, [("large", 0.0)], ("large", 0.9)),
        (SINGLE, {"large": [REFUSES, LARGE_OK]}, [("large", 0.0), ("large", 0.01)], ("large", 0.21)),
        (FALLBACK, {"large": LARGE_OK, "fast": FAST_OK}, [("large", 0.0)], ("large", 0.2)),
        (FALLBACK, {"large": LARGE_LATE, "fast": FAST_OK}, [("large", 0.0), ("fast", RESCUE_AT)], ("fast", HOLD_AT)),
        (FALLBACK, {"large": SILENT, "fast": FAST_OK}, [("large", 0.0), ("fast", RESCUE_AT)], ("fast", HOLD_AT)),
        (
            FALLBACK, {"large": Script((0.4,), end=0.5), "fast": FAST_OK},
            [("large", 0.0), ("fast", RESCUE_AT)], ("large", 0.4),
        ),
        (FALLBACK, {"large": REFUSES, "fast": FAST_OK}, [("large", 0.0), ("fast", 0.01)], ("fast", 0.11)),
        (
            FALLBACK, {"large": SILENT, "fast": Script((0.5,), end=0.6)},
            [("large", 0.0), ("fast", RESCUE_AT), ("fast", RESCUE_AT + 0.2)], ("fast", RESCUE_AT + 0.5),
        ),
        (
            FALLBACK, {"large": SILENT, "fast": [REFUSES, FAST_OK]},
            [("large", 0.0), ("fast", RESCUE_AT), ("fast", RESCUE_AT + 0.01)], ("fast", HOLD_AT),
        ),
        (
            FALLBACK, {"large": REFUSES, "fast": [REFUSES, FAST_OK]},
            [("large", 0.0), ("fast", 0.01), ("fast", 0.02)], ("fast", 0.12),
        ),
        (RACE, {"large": LARGE_OK, "fast": FAST_OK}, [("large", 0.0), ("fast", 0.0)], ("large", 0.2)),
        (RACE, {"large": LARGE_LATE, "fast": FAST_OK}, [("large", 0.0), ("fast", 0.0)], ("fast", HOLD_AT)),
        (RACE, {"large": REFUSES, "fast": FAST_OK}, [("large", 0.0), ("fast", 0.0)], ("fast", 0.1)),
        (
            RACE, {"large": LARGE_LATE, "fast": Script((0.6,), end=0.7)},
            [("large", 0.0), ("fast", 0.0), ("fast", SECOND_AT)], ("fast", 0.6),
        ),
        (
            RACE, {"large": SILENT, "fast": [SILENT, FAST_OK]},
            [("large", 0.0), ("fast", 0.0), ("fast", SECOND_AT)], ("fast", HOLD_AT),
        ),
        (HEDGED, {"large": LARGE_OK}, [("large", 0.0)], ("large", 0.2)),
        (HEDGED, {"large": [SILENT, LARGE_OK]}, [("large", 0.0), ("large", 1.5)], ("large", 1.7)),
        (ADAPTIVE, {"large": LARGE_OK, "fast": FAST_OK}, [("large", 0.0)], ("large", 0.2)),
        (ADAPTIVE, {"large": SILENT, "fast": FAST_OK}, [("large", 0.0), ("fast", RESCUE_AT)], ("fast", HOLD_AT)),
    ],
)  # fmt: skip
def test_who_is_asked_and_who_speaks(
    policy: Policy,
    scripts: Mapping[str, Script | Sequence[Script]],
    starts: list[tuple[str, float]],
    spoken: tuple[str, float],
) -> None:
    played = play(policy.plan(book()), scripts)
    assert played.starts == [(tier, pytest.approx(at)) for tier, at in starts]
    assert played.spoken == [(spoken[0], pytest.approx(spoken[1]))]
    assert played.gave_up is None


def test_every_request_that_is_not_spoken_is_cancelled_when_another_speaks() -> None:
    played = play(RACE.plan(book()), {"large": SILENT, "fast": FAST_OK})
    assert played.cancelled == [("large", pytest.approx(HOLD_AT))]
    played = play(FALLBACK.plan(book()), {"large": Script((0.4,), end=0.5), "fast": Script((0.3,), end=0.4)})
    assert played.cancelled == [("fast", pytest.approx(0.4))]


def test_the_rescue_speaks_by_the_deadline_whatever_the_large_tier_does() -> None:
    for large in (SILENT, REFUSES, LARGE_LATE, Script(fail=0.3), Script(fail=0.44), Script((0.44,), end=2.0)):
        for policy in (FALLBACK, RACE, ADAPTIVE):
            played = play(policy.plan(book()), {"large": large, "fast": FAST_OK})
            assert played.spoken[0][1] <= played.deadline
            assert played.said == []


def test_a_late_end_of_turn_moves_the_rescue_forward_and_the_floor_keeps_its_time() -> None:
    played = play(FALLBACK.plan(book()), {"large": SILENT, "fast": FAST_OK}, speech_end=COMMIT - 0.3)
    assert played.deadline == pytest.approx(0.37)
    assert played.starts[1] == ("fast", pytest.approx(0.14))
    played = play(FALLBACK.plan(book()), {"large": SILENT, "fast": FAST_OK}, speech_end=COMMIT - 2.0)
    assert played.deadline == pytest.approx(0.23)
    assert played.starts[1] == ("fast", 0.0)


def test_a_request_before_the_commit_only_gains_a_head_start() -> None:
    played = play(FALLBACK.plan(book()), {"large": Script((0.6,), end=0.9), "fast": FAST_OK}, speculated=0.3)
    assert played.starts == [("large", -0.3), ("fast", pytest.approx(RESCUE_AT))]
    assert played.spoken == [("large", pytest.approx(0.3))]
    played = play(RACE.plan(book()), {"large": SILENT, "fast": FAST_OK}, speculated=0.3)
    assert played.spoken == [("fast", pytest.approx(HOLD_AT))]


def test_before_a_late_commit_the_fast_tier_is_asked_by_what_the_turn_leaves() -> None:
    plan = FALLBACK.plan(book())
    due = Deadline(1.0, "turn")
    large = RequestState(number=0, tier="large", request=0.0)

    def decided(now: float, *attempts: RequestState) -> Decision:
        return plan.decide(Situation(now=now, commit=None, deadline=due, requests=attempts))

    waiting = decided(0.1, large)
    assert waiting.start == ()
    assert waiting.wake_at is not None
    assert 0.1 < waiting.wake_at < 1.0 - 0.2
    assert [start.tier for start in decided(waiting.wake_at, large).start] == ["fast"]
    fast = RequestState(number=1, tier="fast", request=waiting.wake_at, first_clause=0.9, clauses=1)
    assert decided(0.9, large, fast).speak is None
    assert decided(0.99, large, fast).speak == 1
    # Nothing is said into a turn that goes on, and nothing is given up.
    late = decided(9.0, large)
    assert (late.say, late.give_up) == (None, False)


def test_a_floored_turn_takes_whoever_is_ready() -> None:
    plan = FALLBACK.plan(book())
    attempts = [
        RequestState(number=0, tier="large", request=0.0),
        RequestState(number=1, tier="fast", request=0.5, first_clause=0.6, clauses=1),
    ]

    def spoken(deadline: Deadline) -> int | None:
        return plan.decide(Situation(now=0.7, commit=0.5, deadline=deadline, requests=attempts)).speak

    assert spoken(Deadline(0.9, "floor", "endpointing", due=0.65)) == 1
    assert spoken(Deadline(0.9, "llm")) is None


def test_a_speculative_request_that_fails_is_repaired_after_the_commit() -> None:
    played = play(SINGLE.plan(book()), {"large": [REFUSES, LARGE_OK]}, speculated=0.3)
    assert played.starts == [("large", -0.3), ("large", 0.0)]
    assert played.gave_up is None


def test_a_spent_budget_is_bridged_once_before_the_delay_is_admitted() -> None:
    played = play(SINGLE.plan(book()), {"large": Script((4.0,), end=5.0)})
    assert [kind for kind, _ in played.said] == ["hold", "delay"]
    assert played.said[0][1] == pytest.approx(HOLD_AT)
    assert 2.4 < played.said[1][1] <= 2.5
    assert played.spoken == [("large", 4.0)]


def having_taken(*waits: float, reached: bool = True) -> TierStatistics:
    """The statistics of a large tier whose recent requests took so long."""
    found = book()
    for wait in waits:
        found.observe("large", wait, reached=reached)
    return found


def test_no_phrase_is_said_that_would_delay_an_answer_which_is_expected_soon() -> None:
    played = play(SINGLE.plan(having_taken(0.5, 0.6, 0.9, 1.0, 1.1)), {"large": LARGE_LATE})
    assert played.said == []
    assert played.spoken == [("large", pytest.approx(0.9))]


def test_a_phrase_is_said_at_the_deadline_if_the_answer_is_expected_late() -> None:
    played = play(SINGLE.plan(having_taken(0.2, 0.3, 1.6, 1.8, 2.0)), {"large": LARGE_LATE})
    assert played.said == [("hold", pytest.approx(HOLD_AT))]


def test_a_phrase_is_said_once_an_expected_answer_is_later_than_nearly_all_before() -> None:
    played = play(SINGLE.plan(having_taken(0.5, 0.6, 0.6, 0.7, 0.8)), {"large": Script((2.0,), end=2.2)})
    assert [kind for kind, _ in played.said] == ["hold"]
    assert played.said[0][1] == pytest.approx(0.7)


def test_silence_after_the_deadline_is_bounded_however_soon_an_answer_is_expected() -> None:
    played = play(SINGLE.plan(having_taken(*(0.1 * step for step in range(1, 40)))), {"large": SILENT})
    kind, at = played.said[0]
    assert kind == "hold"
    assert at <= HOLD_AT + LONGEST_SILENCE + 1e-6


@pytest.mark.parametrize("statistics", [book(), having_taken(0.5, 0.5, 0.5), having_taken(*[0.8] * 9, reached=False)])
def test_without_enough_requests_that_reached_a_clause_a_phrase_is_said_at_the_deadline(
    statistics: TierStatistics,
) -> None:
    played = play(SINGLE.plan(statistics), {"large": LARGE_LATE})
    assert played.said == [("hold", pytest.approx(HOLD_AT))]


def test_bridging_can_be_switched_off() -> None:
    played = play(Single(tier="large", bridge=False).plan(book()), {"large": Script((4.0,), end=5.0)})
    assert played.said == []


@pytest.mark.parametrize("policy", [SINGLE, FALLBACK, RACE, ADAPTIVE, HEDGED])
def test_when_every_tier_refuses_the_turn_is_given_up_at_once(policy: Policy) -> None:
    played = play(policy.plan(book()), {"large": REFUSES, "fast": REFUSES})
    assert played.spoken == []
    assert played.gave_up is not None
    assert played.gave_up <= 2.5
    assert len(played.starts) <= 3


@pytest.mark.parametrize("policy", [SINGLE, FALLBACK, RACE, ADAPTIVE, HEDGED])
def test_when_every_tier_is_silent_something_true_is_said_by_2500_ms_and_the_wait_ends(policy: Policy) -> None:
    played = play(policy.plan(book()), {"large": SILENT, "fast": SILENT})
    assert [kind for kind, _ in played.said] == ["hold", "delay"]
    assert played.said[1][1] <= 2.5
    assert played.gave_up == pytest.approx(8.0)


def test_a_tool_call_is_something_to_speak_for() -> None:
    played = play(FALLBACK.plan(book()), {"large": Script(call=0.3), "fast": FAST_OK})
    assert played.spoken == [("large", pytest.approx(0.3))]


def test_a_stream_that_keeps_up_is_left_alone() -> None:
    steady = Script((0.2, 0.9, 1.8, 2.7), end=3.0)
    played = play(FALLBACK.plan(book()), {"large": steady, "fast": FAST_OK})
    assert played.continued == []
    assert played.tiers() == ["large"]


def test_a_stream_that_stalls_is_continued_by_the_other_tier_before_playout_runs_dry() -> None:
    played = play(FALLBACK.plan(book()), {"large": Script((0.2,)), "fast": FAST_OK})
    runs_dry = 0.2 + CLAUSE_LASTS
    assert played.continued == [("fast", pytest.approx(runs_dry - 0.2 - 0.03))]
    assert played.spoken == [("large", 0.2), ("fast", pytest.approx(runs_dry - 0.02))]
    assert played.cancelled == [("large", pytest.approx(runs_dry - 0.02))]


def test_a_stream_that_breaks_is_continued_at_once() -> None:
    played = play(FALLBACK.plan(book()), {"large": Script((0.2,), fail=0.3), "fast": FAST_OK})
    assert played.continued == [("fast", pytest.approx(0.3))]
    assert played.spoken == [("large", 0.2), ("fast", pytest.approx(0.4))]


def test_a_continuation_is_dropped_when_the_stream_itself_goes_on() -> None:
    played = play(FALLBACK.plan(book(fast=0.5)), {"large": Script((0.2, 0.9), end=1.0), "fast": Script((0.8,), end=1)})
    assert played.continued == [("fast", pytest.approx(0.7))]
    assert ("fast", 0.9) in played.cancelled
    assert played.spoken == [("large", 0.2)]


def test_a_quick_tier_that_speaks_is_not_doubled_by_a_slow_one() -> None:
    steady = Script((0.1, 0.5, 1.5), end=1.6)
    played = play(RACE.plan(book(large=4.0)), {"large": SILENT, "fast": steady})
    assert played.continued == []


def test_a_lone_tier_continues_its_own_broken_answer() -> None:
    played = play(SINGLE.plan(book()), {"large": [Script((0.2,), fail=0.3), LARGE_OK]})
    assert played.spoken == [("large", 0.2), ("large", pytest.approx(0.5))]


def test_an_answer_that_nobody_can_finish_is_given_up() -> None:
    played = play(FALLBACK.plan(book()), {"large": Script((0.2,), fail=0.3), "fast": REFUSES})
    assert len(played.continued) == 2
    assert played.gave_up is not None
    played = play(FALLBACK.plan(book()), {"large": Script((0.2,)), "fast": SILENT})
    assert played.gave_up == pytest.approx(0.2 + CLAUSE_LASTS + 3.0)


def test_an_outage_does_not_double_the_load_of_a_hedged_tier() -> None:
    known, requests = book(), 0
    for _ in range(100):
        plan = HEDGED.plan(known)
        played = play(plan, {"large": SILENT})
        requests += len(played.starts)
        known.turn("large", judged=None)
        if len(played.starts) > 1:
            known.hedges.take()
    assert requests <= 115


@pytest.mark.parametrize("policy", [FALLBACK, RACE, ADAPTIVE])
@pytest.mark.parametrize("outage", [SILENT, REFUSES])
def test_an_outage_of_the_fast_tier_does_not_double_its_load(policy: Policy, outage: Script) -> None:
    known, requests = book(), 0
    for _ in range(100):
        played = play(policy.plan(known), {"large": LARGE_LATE, "fast": outage})
        requests += played.tiers().count("fast")
        known.turn("large", judged=None)
        for _ in range(played.hedges):
            known.hedges.take()
    assert 100 < requests <= 115


@pytest.mark.parametrize("policy", [FALLBACK, RACE, HEDGED])
def test_plans_of_turns_that_were_withdrawn_add_nothing_to_the_hedging_allowance(policy: Policy) -> None:
    known, hedges = book(), 0
    for _ in range(100):
        for _ in range(4):
            policy.plan(known)
        played = play(policy.plan(known), {"large": SILENT, "fast": SILENT})
        hedges += played.hedges
        known.turn("large", judged=policy.judged)
        for _ in range(played.hedges):
            known.hedges.take()
    assert 10 <= hedges <= 3 + 100 * 0.1


def test_a_trial_that_was_withdrawn_is_made_up_for_in_the_next_turn() -> None:
    known, firsts = book(), []
    for _ in range(6):
        known.standing["large"].observe(False)
    for _ in range(2 * PROBE_EVERY):
        withdrawn, plan = ADAPTIVE.plan(known), ADAPTIVE.plan(known)
        assert withdrawn == plan
        known.turn(plan.first[0], judged=ADAPTIVE.judged)
        firsts.append(plan.first[0])
    assert firsts == ([*["fast"] * (PROBE_EVERY - 1), "large"]) * 2


def test_the_fast_tier_is_not_asked_again_while_the_deadline_is_far_or_before_the_commit() -> None:
    plan = RACE.plan(book())
    asked = [RequestState(number=n, tier=tier, request=COMMIT) for n, tier in enumerate(("large", "fast"))]
    late = Situation(now=COMMIT + 0.5, commit=COMMIT, deadline=Deadline(COMMIT + 2.0), requests=asked)
    assert plan.decide(late).start == ()
    assert plan.decide(late).wake_at == pytest.approx(COMMIT + 2.0 - 0.23)
    assert plan.decide(replace(late, commit=None, deadline=None)).start == ()


def test_the_hedging_delay_is_the_live_quantile() -> None:
    known = book()
    for index in range(1, 101):
        known.observe("large", index / 1000, reached=True)
    played = play(HEDGED.plan(known), {"large": [SILENT, LARGE_OK]})
    assert played.starts == [("large", 0.0), ("large", pytest.approx(0.095))]


def test_a_demoted_large_tier_is_not_waited_for_and_is_tried_now_and_then() -> None:
    known, spoken = book(), []
    for _ in range(40):
        plan = ADAPTIVE.plan(known)
        played = play(plan, {"large": LARGE_LATE, "fast": FAST_OK})
        known.turn(plan.first[0], judged=ADAPTIVE.judged)
        if plan.first[0] == "large":
            known.standing["large"].observe(False)
        spoken.append(played.spoken[0])
    assert spoken[:6] == [("fast", pytest.approx(HOLD_AT))] * 6
    assert spoken[6] == ("fast", pytest.approx(0.1))
    assert 3 <= [at for _, at in spoken[6:]].count(pytest.approx(HOLD_AT)) <= 5


def test_when_the_large_tier_is_demoted_it_still_comes_to_the_rescue() -> None:
    known = book()
    for _ in range(6):
        known.standing["large"].observe(False)
    played = play(ADAPTIVE.plan(known), {"large": LARGE_OK, "fast": REFUSES})
    assert played.spoken == [("large", pytest.approx(0.21))]
    played = play(ADAPTIVE.plan(known), {"large": LARGE_OK, "fast": SILENT})
    assert played.starts == [("fast", 0.0), ("fast", pytest.approx(SECOND_AT)), ("large", pytest.approx(0.23))]


def test_tiers_that_refuse_to_serve_are_left_out_unless_none_is_left() -> None:
    plan = FALLBACK.plan(book())
    assert plan.without(frozenset()) is plan
    assert plan.without(frozenset({"large"})).first == ("fast",)
    assert plan.without(frozenset({"fast"})).rescue is None
    assert plan.without(frozenset({"fast"})).floor_tier == "large"
    assert plan.without(frozenset({"large", "fast"})) is plan
    assert "large" in plan.without(frozenset({"large"})).reason


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_can_be_made_by_its_name(name: str) -> None:
    policy = make_policy(name, large="large", fast="fast")
    assert policy.name == name
    assert set(policy.plan(book()).first) <= set(policy.tiers)


def test_a_policy_that_cannot_be_made_says_what_it_needs() -> None:
    with pytest.raises(ConfigurationError, match='no policy "fastest"; use one of single'):
        make_policy("fastest", large="large", fast="fast")
    with pytest.raises(ConfigurationError, match=r"needs two tiers: give \[llm.fast\]"):
        make_policy("race", large="large", fast=None)
    with pytest.raises(ConfigurationError, match="needs a tier"):
        make_policy("single", large=None, fast=None)
    assert make_policy("single", large=None, fast="fast").tiers == ("fast",)


@pytest.mark.parametrize("policy", [SINGLE, FALLBACK, RACE, ADAPTIVE, HEDGED])
def test_a_turn_costs_a_policy_less_than_a_millisecond(policy: Policy) -> None:
    known = book()
    for _ in range(200):
        known.observe("large", 0.3, reached=True)
        known.observe("fast", 0.1, reached=True)
    committed = Commit(at=COMMIT, fast_p95=0.2).deadline(Budget())
    situations = [
        Situation(now=COMMIT, commit=COMMIT, deadline=committed),
        Situation(
            now=COMMIT + 0.43, commit=COMMIT, deadline=committed,
            requests=[
                RequestState(number=0, tier="large", request=COMMIT),
                RequestState(number=1, tier="fast", request=COMMIT, first_clause=COMMIT + 0.1, clauses=1),
            ],
        ),
    ]  # fmt: skip
    rounds, start = 100, process_time()
    for _ in range(rounds):
        plan = policy.plan(known)
        for _ in range(6):
            for situation in situations:
                plan.decide(situation)
    assert (process_time() - start) / rounds < 0.001


@pytest.mark.parametrize("policy", ["fallback", "race", "adaptive"])
def test_a_poor_tier_answers_only_when_the_other_one_failed(policy: str) -> None:
    book = TierStatistics({"large": 1.0, "fast": 0.2})
    plan = make_policy(policy, large="large", fast="fast").plan(book).failing_over("fast")
    assert (plan.first, plan.rescue, plan.rescued) == (("large",), "fast", "failed")
    assert plan.preferred is None
    late = Situation(
        now=2.0, commit=0.5, deadline=Deadline(0.95), requests=(RequestState(number=0, tier="large", request=0.4),)
    )
    assert plan.decide(late).start == ()
    failed = replace(late, requests=(replace(late.requests[0], outcome="failed"),))
    assert [start.tier for start in plan.decide(failed).start] == ["fast"]


def test_a_plan_that_never_asks_the_poor_tier_stays_as_it_is() -> None:
    plan = make_policy("single", large="large", fast="fast").plan(TierStatistics({"large": 1.0, "fast": 0.2}))
    assert plan.failing_over("fast") is plan
