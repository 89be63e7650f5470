import random

import pytest

from voice.llm.policy.tier_statistics import (
    PROBE_EVERY,
    TierPreference,
    TierStatistics,
    TokenBucket,
    Wait,
    quantile,
    wilson,
)


def reached(*seconds: float) -> list[Wait]:
    return [Wait(value, True) for value in seconds]


def test_without_cancellations_the_quantile_is_the_ordinary_one() -> None:
    waits = reached(*(index / 100 for index in range(1, 101)))
    assert quantile(waits, 0.95) == pytest.approx(0.95)
    assert quantile(waits, 0.5) == pytest.approx(0.5)
    assert quantile(reached(0.2), 0.95) == 0.2
    assert quantile([], 0.95) is None


def test_a_cancelled_request_counts_as_slower_than_its_cancellation() -> None:
    fast = reached(*[0.1] * 90)
    assert quantile(fast, 0.95) == 0.1
    assert quantile([*fast, *[Wait(0.4, False)] * 10], 0.95) == 0.4
    assert quantile([Wait(0.4, False)] * 5, 0.5) == 0.4


def test_requests_cancelled_early_say_little_about_the_tail() -> None:
    early = [Wait(0.01, False)] * 50
    assert quantile([*reached(*[0.1] * 99, 0.5), *early], 0.95) == 0.1


def test_the_censored_quantile_is_near_the_true_one() -> None:
    rng = random.Random(3)
    true = [rng.lognormvariate(-1.5, 0.5) for _ in range(4000)]
    seen = [Wait(min(value, limit), value <= limit) for value in true if (limit := rng.uniform(0.1, 2.0))]
    assert quantile(seen, 0.9) == pytest.approx(sorted(true)[3600], rel=0.08)


def test_an_assumed_percentile_holds_until_enough_is_measured_and_is_raised_at_once() -> None:
    book = TierStatistics({"fast": 0.3})
    assert book.p95("fast") == 0.3
    for _ in range(5):
        book.observe("fast", 0.1, reached=True)
    assert book.p95("fast") == 0.3
    book.observe("fast", 0.5, reached=True)
    assert book.p95("fast") == 0.5
    for _ in range(100):
        book.observe("fast", 0.1, reached=True)
    assert book.p95("fast") == 0.1


def test_a_tier_is_asked_early_enough_for_its_slowest_recent_answer() -> None:
    book = TierStatistics({"fast": 0.3})
    assert book.lead("fast") == pytest.approx(0.33)
    for seconds in [*[0.1] * 97, 0.38, 0.4, 0.4]:
        book.observe("fast", seconds, reached=True)
    assert book.p95("fast") == 0.1
    assert book.lead("fast") == pytest.approx(0.4 * 1.15 + 0.03)


def test_requests_that_lost_before_they_could_answer_do_not_lower_the_percentile() -> None:
    book = TierStatistics({"fast": 0.3})
    for _ in range(20):
        book.observe("fast", 0.05, reached=False)
    assert book.p95("fast") == 0.3


def test_an_allowance_gives_a_burst_and_then_its_share() -> None:
    bucket = TokenBucket(per_turn=0.1, most=3)
    used = 0
    for _ in range(100):
        bucket.turn()
        if bucket.allows:
            bucket.take()
            used += 1
    assert used == 12


def test_what_was_used_beyond_an_allowance_is_paid_back() -> None:
    bucket = TokenBucket(per_turn=0.5, most=1)
    bucket.take()
    bucket.take()
    for _ in range(3):
        bucket.turn()
    assert not bucket.allows
    bucket.turn()
    assert bucket.allows


def feed(standing: TierPreference, hits: list[bool]) -> list[bool]:
    """What became of a tier over turns in which it would (not) have been in time, if asked."""
    demoted = []
    for hit in hits:
        tried = not standing.demoted or standing.probe_due
        standing.turn(tried=tried)
        if tried:
            standing.observe(hit)
        demoted.append(standing.demoted)
    return demoted


def test_a_step_demotes_once_and_its_end_promotes_once() -> None:
    standing = TierPreference()
    states = feed(standing, [True] * 30 + [False] * 40 + [True] * 40)
    changes = [turn for turn in range(1, 110) if states[turn] != states[turn - 1]]
    assert len(changes) == 2
    demoted, promoted = changes
    assert 30 < demoted < 50
    assert 70 <= promoted <= 70 + PROBE_EVERY + 3
    assert not states[-1]


def test_a_tier_that_was_never_in_time_is_demoted_after_six_turns() -> None:
    assert feed(TierPreference(), [False] * 8).index(True) == 5


@pytest.mark.parametrize(("share", "most_changes"), [(0.95, 0), (0.7, 0), (0.5, 4), (0.05, 2)])
def test_noise_does_not_make_it_flap(share: float, most_changes: int) -> None:
    rng = random.Random(11)
    states = feed(TierPreference(), [rng.random() < share for _ in range(1000)])
    changes = sum(earlier != later for earlier, later in zip(states, states[1:], strict=False))
    assert changes <= most_changes


def test_a_demoted_tier_is_tried_every_few_turns_and_at_once_after_a_hit() -> None:
    standing = TierPreference()
    feed(standing, [False] * 6)
    due = []
    for _ in range(PROBE_EVERY):
        due.append(standing.probe_due)
        standing.turn(tried=standing.probe_due)
    assert due == [False] * (PROBE_EVERY - 1) + [True]
    standing.observe(True)
    assert standing.probe_due


def test_a_tier_that_refuses_is_not_asked_for_a_while() -> None:
    book = TierStatistics({"large": 1.0, "fast": 0.3})
    book.refused("large", 10.0)
    assert book.down(10.1) == {"large"}
    assert book.down(41.0) == frozenset()


def test_a_longer_rest_is_not_cut_short_by_a_shorter_one() -> None:
    book = TierStatistics({"large": 1.0, "fast": 0.3})
    book.rest("large", 3600.0)
    book.refused("large", 10.0)
    assert book.down(3599.0) == {"large"}
    assert book.down(3600.0) == frozenset()


def test_a_fast_tier_that_is_the_slower_one_is_warned_about_with_the_figures() -> None:
    book = TierStatistics({"large": 0.5, "fast": 0.3})
    assert book.warning(large="large", fast="fast") is None
    for _ in range(20):
        book.observe("fast", 0.7, reached=True)
    warning = book.warning(large="large", fast="fast")
    assert warning is not None
    assert "700 ms" in warning
    assert "500 ms" in warning


def test_the_interval_of_a_share_holds_it_and_narrows() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    few, many = wilson(5, 10), wilson(500, 1000)
    assert few[0] < many[0] < 0.5 < many[1] < few[1]
    assert wilson(0, 6)[1] == pytest.approx(0.311, abs=0.001)


def test_an_allowance_can_be_withheld_without_being_used_up() -> None:
    bucket, scarce = TokenBucket(), True
    bucket.withheld = lambda: scarce
    assert not bucket.allows
    scarce = False
    assert bucket.allows
