import pytest

from latency.record.requests import Price, RequestRecord, Tokens, bill


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


OPUS = Price(input=5, output=25, speeds={"fast": 6})
USED = Tokens(prompt=1000, completion=100)


@pytest.mark.parametrize(
    ("speed", "served", "usd"),
    [
        (None, None, 0.0075),
        ("fast", "fast", 0.045),
        ("fast", "standard", 0.0075),
        ("fast", None, 0.045),
        (None, "fast", 0.045),
        ("fast", "ultrafast", None),
    ],
)
def test_a_request_is_billed_at_the_speed_that_was_served(
    speed: str | None, served: str | None, usd: float | None
) -> None:
    attempt = RequestRecord(tokens=USED, speed=speed, served=served)
    assert bill(attempt, OPUS) == (None if usd is None else pytest.approx(usd))


def test_a_request_that_was_refused_costs_nothing_whatever_the_price() -> None:
    refused = RequestRecord(outcome="failed", tokens=Tokens(prompt=0, completion=0, estimated=True))
    assert bill(refused, None) == bill(refused, OPUS) == 0
    assert not RequestRecord(outcome="failed", tokens=refused.tokens, usd=0.0).is_usd_estimated


def test_a_request_without_tokens_or_without_a_price_has_no_known_cost() -> None:
    assert bill(RequestRecord(tokens=USED), None) is None
    assert bill(RequestRecord(), OPUS) is None
