"""Prices of requests."""

import pytest

from latency.record.llm.attempt import Tokens
from latency.record.llm.price import Price


def test_cached_input_has_its_own_price() -> None:
    price = Price(input=5, output=25, cached_input=0.5)
    assert price.usd(Tokens(prompt=1000, completion=100, cached=800)) == pytest.approx(
        (200 * 5 + 800 * 0.5 + 100 * 25) / 1e6
    )


def test_cached_input_without_a_price_of_its_own_costs_as_much_as_other_input() -> None:
    tokens = Tokens(prompt=1000, completion=0, cached=800)
    assert Price(input=5, output=25).usd(tokens) == pytest.approx(0.005)


def test_what_is_unknown_has_no_price() -> None:
    assert Price(input=5, output=25).usd(Tokens(completion=100)) is None


def test_what_is_written_to_the_cache_has_its_own_price() -> None:
    price = Price(input=5, output=25, cached_input=0.5, cache_write=6.25)
    tokens = Tokens(prompt=1000, completion=0, cached=600, cache_written=300)
    assert price.usd(tokens) == pytest.approx((100 * 5 + 600 * 0.5 + 300 * 6.25) / 1e6)


def test_a_speed_multiplies_every_part_of_the_price() -> None:
    price = Price(input=5, output=25, cached_input=0.5, speeds={"fast": 6})
    fast = price.at("fast")
    assert fast is not None
    assert (fast.input, fast.output, fast.cached_input) == (30, 150, 3)


@pytest.mark.parametrize("speed", [None, "standard", "default", "auto"])
def test_the_usual_speed_has_several_names(speed: str | None) -> None:
    price = Price(input=5, output=25, speeds={"fast": 6})
    assert price.at(speed) is price


def test_priority_is_another_name_of_fast() -> None:
    for named, served in (("fast", "priority"), ("priority", "fast")):
        found = Price(input=1, output=2, speeds={named: 2}).at(served)
        assert found == Price(input=2, output=4)


def test_a_speed_without_a_price_has_none() -> None:
    assert Price(input=5, output=25, speeds={"fast": 6}).at("ultrafast") is None
