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
