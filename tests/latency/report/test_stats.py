import numpy as np
import pytest

from latency.report.stats import (
    Distribution,
    Spread,
    SpreadWithMax,
    interval,
    p99,
    percentile,
    ratio_interval,
    ratio_of_medians,
)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 101])
def test_percentiles_are_numpys_linear_ones(count: int) -> None:
    values = np.random.default_rng(count).exponential(600, count)
    for percent in (0, 50, 90, 95, 99, 100):
        expected = np.percentile(values, percent, method="linear")
        assert percentile(list(values), percent) == pytest.approx(expected)


def test_no_samples_give_none_and_never_zero() -> None:
    nothing = Distribution.of([])
    assert (nothing.n, nothing.within_800) == (0, 0)
    assert [nothing.p50, nothing.p90, nothing.p95, nothing.p99, nothing.max] == [None] * 5
    assert Spread.of([]) == Spread(n=0, p50=None, p95=None)


def test_the_99th_percentile_needs_a_hundred_samples() -> None:
    assert p99([1.0] * 99) is None
    assert p99([1.0] * 100) == 1.0
    assert Distribution.of([0.5] * 99).p99 is None
    assert Distribution.of([0.5] * 100).p99 == 500.0


def test_latencies_are_counted_against_400_and_800_ms_inclusively() -> None:
    found = Distribution.of([0.4, 0.4001, 0.8, 0.80001, 2.0])
    assert (found.within_400, found.within_800) == (1, 3)
    assert (found.p50, found.max) == (800.0, 2000.0)


def test_an_extent_adds_the_longest_to_a_spread() -> None:
    found = SpreadWithMax.of(seconds / 10 for seconds in range(1, 12))
    assert (found.n, found.p50, found.p95, found.max) == (11, 600.0, 1050.0, 1100.0)
    assert SpreadWithMax.of([]) == SpreadWithMax(n=0, p50=None, p95=None, max=None)


@pytest.mark.parametrize(("count", "percent"), [(8, 50), (31, 50), (40, 95), (250, 95), (250, 50)])
def test_an_interval_is_that_of_a_bootstrap_drawn_sample_by_sample(count: int, percent: float) -> None:
    random = np.random.default_rng(count)
    values = random.normal(600, 100, count)
    drawn = np.percentile(random.choice(values, (20_000, count)), percent, axis=1)
    expected = np.percentile(drawn, [2.5, 97.5])
    found = interval(list(values), percent)
    assert found is not None
    # 1000 resamples place an end to about a twentieth of the interval's length.
    assert found == pytest.approx(expected, abs=0.15 * (expected[1] - expected[0]))


def test_intervals_hold_the_truth_in_about_95_of_100_samples() -> None:
    random = np.random.default_rng(5)
    found = [interval(list(random.normal(600, 100, 60)), 50) for _ in range(400)]
    assert 0.91 <= np.mean([one is not None and one[0] <= 600 <= one[1] for one in found]) <= 0.98


def test_an_interval_needs_8_samples_and_is_the_same_each_time() -> None:
    values = [500.0, 610, 540, 700, 655, 590, 620, 615]
    assert interval(values[:7], 50) is None
    assert interval(values, 50) == interval(values[::-1], 50) == interval(values, 50)
    assert interval([600.0] * 9, 95) == (600.0, 600.0)


def test_a_distribution_says_how_far_its_median_and_tail_can_be_trusted() -> None:
    found = Distribution.of(seconds / 100 for seconds in range(40, 80))
    assert found.p50 is not None
    assert found.p50_ci is not None
    assert found.p95_ci is not None
    assert found.p50_ci[0] < found.p50 < found.p50_ci[1]
    assert found.p95_ci[1] <= (found.max or 0)
    assert (Distribution.of([0.5] * 7).p50_ci, Distribution.of([0.5] * 7).p95_ci) == (None, None)


def test_a_ratio_is_that_of_the_medians_and_not_the_median_of_ratios() -> None:
    assert ratio_of_medians([(1.0, 4.0), (2.0, 2.0), (9.0, 8.0)]) == 0.5
    assert ratio_of_medians([]) is None


def test_the_interval_of_a_ratio_holds_it_and_shrinks_with_more_groups() -> None:
    random = np.random.default_rng(3)
    groups = [[(float(a), 2.0 * float(a))] for a in random.lognormal(0, 0.3, 80)]
    assert ratio_interval(groups) == (0.5, 0.5), "pairs that always differ by a factor leave nothing to chance"
    unpaired = [[(float(a), float(b))] for a, b in random.lognormal(0, 0.3, (80, 2))]
    few, many = ratio_interval(unpaired[:10]), ratio_interval(unpaired)
    assert few is not None
    assert many is not None
    assert many[0] < 1.05
    assert many[1] > 0.95
    assert many[1] - many[0] < few[1] - few[0]
    assert ratio_interval(groups[:7]) is None
