import numpy as np
import pytest

from latency.stats import Distribution, Extent, Spread, p99, percentile


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
    found = Extent.of(seconds / 10 for seconds in range(1, 12))
    assert (found.n, found.p50, found.p95, found.max) == (11, 600.0, 1050.0, 1100.0)
    assert Extent.of([]) == Extent(n=0, p50=None, p95=None, max=None)
