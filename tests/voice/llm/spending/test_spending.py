"""A call whose cap is reached goes on with the cheapest tier, and says so once."""

import logging

import pytest

from latency.record.llm.price import Price
from tests.voice.llm.answer import budgeted_rig as rig
from voice.llm.spending.ledger import Caps
from voice.llm.spending.spending import Spending

OPUS = Price(input=5, output=25)


async def answered(caps: Caps, *, is_cheaper: bool = True, large_price: Price | None = OPUS) -> rig.Call:
    """Three turns of a call that begins with the large tier."""
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick, budget=rig.PATIENT)
        call.tiers[0].price, call.tiers[1].price = large_price, Price(input=0.1, output=0.1)
        call.service._spending = Spending(caps, cheapest="fast", is_cheaper=is_cheaper, day=None)
        await call.run([rig.ask(), rig.ask(), rig.ask()])
    return call


async def test_from_the_next_turn_on_the_cheapest_tier_answers(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        call = await answered(Caps(per_call=0.0001))
    tiers = [[attempt.tier for attempt in record.attempts] for record in call.records]
    assert tiers == [["large"], ["fast"], ["fast"]]
    told = [(record.answer.policy, record.answer.reason, record.answer.cap) for record in call.records]
    capped = ("capped", "the call's cap of $0.0001 is reached", "call")
    assert told == [("fallback", "large first", None), capped, capped]
    assert caplog.text.count("the call's cap of $0.0001 is reached: from this turn on fast alone answers") == 1


async def test_a_call_below_its_cap_is_left_alone() -> None:
    call = await answered(Caps(per_call=10))
    assert [record.answer.policy for record in call.records] == ["fallback"] * 3


async def test_without_a_cheaper_tier_the_call_goes_on_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        call = await answered(Caps(per_call=0.0001), is_cheaper=False)
    assert call.records[1].answer.reason == "the call's cap of $0.0001 is reached, and no tier is cheaper"
    assert "fast alone answers, and no tier is cheaper" in caplog.text


async def test_a_cost_that_is_not_known_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        await answered(Caps(per_call=0.0001), large_price=None)
    assert caplog.text.count("the cost of a request to large is not known, so no cap counts it") == 1
