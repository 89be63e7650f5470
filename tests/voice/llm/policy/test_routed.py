"""Policies that look at the words: who is asked, and that the tier does not flap."""

import pytest

from tests.voice.llm.policy.policy_play import Script, play
from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import Adaptive, Policy, Relay, Routed
from voice.llm.policy.situation import SETTLED_AFTER, Route, TurnInfo
from voice.llm.policy.tier_statistics import TierStatistics

ROUTED = Routed(large="large", fast="fast")
RELAY = Relay(large="large", fast="fast")
ADAPTIVE = Adaptive(large="large", fast="fast")
FAST_OK = Script((0.1, 0.3), end=0.35)
LARGE_OK = Script((0.2, 0.6), end=0.7)
LARGE_LATE = Script((0.9, 1.2), end=1.3)
SILENT, REFUSES = Script(), Script(fail=0.01)


def book() -> TierStatistics:
    return TierStatistics({"large": 1.5, "fast": 0.2})


def plan(policy: Policy, text: str | None, route: Route = Route(), **about: object) -> Plan:  # noqa: B008
    return policy.plan(book(), TurnInfo(text=text, route=route, **about))  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", [ROUTED, ADAPTIVE])
@pytest.mark.parametrize(
    ("text", "first", "reason"),
    [
        ("hello there", "fast", "small talk goes to fast"),
        ("cancel the timer", "fast", "a small command goes to fast"),
        ("transfer fifty euros to Anna", "large", "a question of money goes to large"),
        ("can I take two of these pills", "large", "a question of health goes to large"),
        ("why is the sky blue", "large", "an open question goes to large"),
    ],
)
def test_a_turn_goes_where_its_words_need_it(policy: Policy, text: str, first: str, reason: str) -> None:
    made = plan(policy, text)
    assert (made.first, made.reason, made.route) == ((first,), reason, first)


@pytest.mark.parametrize("policy", [ROUTED, ADAPTIVE])
def test_the_tier_changes_seldom_unless_care_forces_it(policy: Policy) -> None:
    stays = plan(policy, "hello there", Route("large", 1))
    assert (stays.route, stays.reason) == ("large", "small talk stays with large, which answered before")
    assert plan(policy, "hello there", Route("large", SETTLED_AFTER)).route == "fast"
    assert plan(policy, "why is the sky blue", Route("fast", 1)).route == "fast"
    assert plan(policy, "why is the sky blue", Route("fast", SETTLED_AFTER)).route == "large"
    assert plan(policy, "my chest hurts", Route("fast", 1)).route == "large"


def test_german_words_are_not_taken_for_english_ones() -> None:
    # "Die" is a word of health in English, and an article in German.
    assert "health" in plan(ADAPTIVE, "I want to die").reason
    found = plan(ADAPTIVE, "die Rechnung bitte", language="de")
    assert (found.first, found.reason) == (("large",), "large first")
    assert plan(ROUTED, "die Rechnung bitte", language="de").first == ("large",)


def test_without_words_the_policies_do_as_ever() -> None:
    assert plan(ADAPTIVE, None).reason == "large first"
    assert plan(ADAPTIVE, None).route is None
    assert plan(ROUTED, None).first == ("large",)


def test_a_turn_that_the_large_tier_took_over_stays_with_it() -> None:
    for policy in (ROUTED, ADAPTIVE):
        made = plan(policy, "hello there", escalated=True)
        assert (made.first, made.reason) == (("large",), "large took the turn over")


def test_a_careful_turn_waits_for_the_large_tier_however_late() -> None:
    for policy in (ROUTED, ADAPTIVE):
        played = play(plan(policy, "my chest hurts"), {"large": LARGE_LATE, "fast": FAST_OK})
        assert [tier for tier, _ in played.spoken] == ["large"]


def test_only_when_it_fails_twice_does_the_fast_one_answer_a_careful_turn() -> None:
    played = play(plan(ROUTED, "my chest hurts"), {"large": [REFUSES, LARGE_OK], "fast": FAST_OK})
    assert [tier for tier, _ in played.spoken] == ["large"]
    played = play(plan(ROUTED, "my chest hurts"), {"large": REFUSES, "fast": FAST_OK})
    assert played.tiers() == ["large", "large", "fast"]
    assert [tier for tier, _ in played.spoken] == ["fast"]


def test_an_open_turn_of_the_adaptive_policy_is_rescued_and_one_of_the_router_is_not() -> None:
    scripts = {"large": LARGE_LATE, "fast": FAST_OK}
    assert play(plan(ADAPTIVE, "why is the sky blue"), scripts).spoken[0][0] == "fast"
    assert play(plan(ROUTED, "why is the sky blue"), scripts).spoken[0][0] == "large"


def test_an_easy_turn_is_rescued_by_the_large_tier() -> None:
    played = play(plan(ROUTED, "hello there"), {"large": LARGE_OK, "fast": REFUSES})
    assert played.spoken == [("large", pytest.approx(0.21))]
    played = play(plan(ADAPTIVE, "hello there"), {"large": LARGE_OK, "fast": SILENT})
    assert played.spoken[0][0] == "large"


def known(usual: float) -> TierStatistics:
    found = book()
    for _ in range(20):
        found.observe("large", usual, reached=True)
    return found


@pytest.mark.parametrize("policy", [RELAY, ADAPTIVE])
def test_an_opening_is_said_as_soon_as_it_is_there_and_the_answer_follows_it(policy: Policy) -> None:
    made = policy.plan(known(0.9), TurnInfo(text="my chest hurts"))
    played = play(made, {"large": LARGE_LATE, "fast": Script((0.1,), end=0.12)})
    assert played.starts == [("fast", 0.0), ("large", pytest.approx(0.1))]
    assert played.said == [("opening", pytest.approx(0.1))]
    assert played.followed == [1]
    assert played.spoken == [("large", pytest.approx(1.0))]


def test_an_answer_that_is_usually_in_time_needs_no_opening() -> None:
    played = play(RELAY.plan(known(0.2)), {"large": LARGE_OK, "fast": FAST_OK})
    assert played.starts == [("large", 0.0)]
    assert played.said == []


def test_a_late_opening_is_not_waited_for() -> None:
    played = play(RELAY.plan(known(0.9)), {"large": LARGE_LATE, "fast": SILENT})
    assert played.starts == [("fast", 0.0), ("large", pytest.approx(0.23))]
    # The answer is expected sooner than a phrase would be over.
    assert played.said == []
    assert played.followed == []
    assert ("fast", pytest.approx(0.23)) in played.cancelled


def test_a_failed_opening_costs_no_time() -> None:
    played = play(RELAY.plan(known(0.9)), {"large": LARGE_LATE, "fast": REFUSES})
    assert played.starts == [("fast", 0.0), ("large", pytest.approx(0.01))]


def test_openings_can_be_switched_off_with_the_other_phrases() -> None:
    silent = Relay(large="large", fast="fast", bridge=False)
    assert play(silent.plan(known(0.9)), {"large": LARGE_LATE, "fast": FAST_OK}).starts == [("large", 0.0)]


def test_a_speculative_opening_is_said_at_the_commit_and_before_its_answer() -> None:
    scripts = {"large": Script((0.9,), end=1.0), "fast": Script((0.1,), end=0.12)}
    played = play(RELAY.plan(known(0.9)), scripts, speculated=0.5)
    assert played.starts == [("fast", -0.5), ("large", pytest.approx(-0.4))]
    assert played.said == [("opening", 0.0)]
    assert played.spoken == [("large", pytest.approx(0.5))]


def test_an_answer_that_is_there_at_the_commit_needs_no_opening() -> None:
    scripts = {"large": Script((0.15,), end=0.2), "fast": Script((0.1,), end=0.12)}
    played = play(RELAY.plan(known(0.9)), scripts, speculated=0.5)
    assert played.said == []
    assert played.spoken == [("large", 0.0)]


def test_what_is_asked_after_a_failure_follows_the_opening_too() -> None:
    scripts = {"large": [REFUSES, LARGE_LATE], "fast": Script((0.1,), end=0.12)}
    played = play(RELAY.plan(known(0.9)), scripts)
    assert played.followed == [1, 2]
    assert len([kind for kind, _ in played.said if kind == "opening"]) == 1


def test_a_tier_that_refuses_to_serve_words_no_opening() -> None:
    made = RELAY.plan(known(0.9)).without(frozenset({"fast"}))
    assert (made.opener, made.first) == (None, ("large",))
    made = RELAY.plan(known(0.9)).without(frozenset({"large"}))
    assert (made.opener, made.first) == (None, ("fast",))


def test_the_large_tier_takes_over_a_turn_in_which_the_fast_one_overreached() -> None:
    for policy, text in ((ROUTED, "hello"), (ADAPTIVE, "hello")):
        played = play(plan(policy, text), {"large": LARGE_OK, "fast": Script(overreach=0.1)})
        assert [tier for tier, _ in played.spoken] == ["large"]
        assert played.starts == [("fast", 0.0), ("large", pytest.approx(0.1))]


def test_words_of_a_tier_that_overreached_are_not_spoken_even_if_the_other_fails() -> None:
    scripts = {"large": REFUSES, "fast": Script((0.1,), overreach=0.1)}
    played = play(plan(ROUTED, "hello"), scripts)
    assert played.spoken == []
    assert played.gave_up is not None


def test_a_tier_that_overreached_in_mid_answer_is_continued_by_the_large_one() -> None:
    played = play(plan(ADAPTIVE, "hello"), {"large": LARGE_OK, "fast": Script((0.1,), overreach=0.2)})
    assert played.spoken[0] == ("fast", pytest.approx(0.1))
    assert played.continued == [("large", pytest.approx(0.2))]
