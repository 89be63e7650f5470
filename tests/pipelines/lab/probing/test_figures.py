"""What samples say about a tier, and what they may cost."""

from datetime import date

import pytest

from latency.record.requests import Price
from pipelines.lab.probing.figures import Sample, for_catalog, measured, most


def test_failed_requests_do_not_count_and_few_have_no_95th_percentile() -> None:
    samples = [Sample(first=0.2, tokens_per_second=50), Sample(failed="it broke"), Sample(first=0.4), Sample(first=0.3)]
    found = measured(samples)
    assert found
    assert (found.n, found.p50, found.p95, found.longest, found.tokens_per_second) == (3, 0.3, 0.4, 0.4, 50)
    table = for_catalog(found, on=date(2026, 11, 23))
    assert table["field"]["source"] == "measured on 2026-11-23, n=3; p95: the longest"
    assert table["rate"] == {"tokens_per_second": 50, "source": "measured on 2026-11-23, n=3"}
    assert measured([Sample(failed="it broke")]) is None


def test_many_requests_have_a_95th_percentile() -> None:
    found = measured([Sample(first=index / 100) for index in range(101)])
    assert found
    assert (found.p50, found.p95, found.longest) == (0.5, pytest.approx(0.95), 1.0)
    table = for_catalog(found, on=date(2026, 11, 23))
    assert table["field"]["source"] == "measured on 2026-11-23, n=101"
    assert "rate" not in table, "a rate that is unknown leaves the published one"


def test_the_most_that_it_may_cost_is_at_the_speed_that_is_asked_for() -> None:
    price = Price(input=5, output=25, speeds={"fast": 6})
    standard = most(price, speed=None, requests=4, prompt="x" * 400, max_tokens=100)
    assert standard == pytest.approx(4 * (100 * 5 + 100 * 25) / 1e6)
    assert most(price, speed="fast", requests=4, prompt="x" * 400, max_tokens=100) == pytest.approx(6 * standard)
    assert most(price, speed="ultrafast", requests=4, prompt="x", max_tokens=1) is None
    assert most(None, speed=None, requests=4, prompt="x", max_tokens=1) is None
