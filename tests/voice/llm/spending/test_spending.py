"""A call whose cap is reached goes on with the cheapest tier, and says so once."""

import logging
from datetime import date
from pathlib import Path

import pytest

from latency.record.requests import Price
from tests.voice.llm.answer import budgeted_rig as rig
from voice.llm.spending.day_spending import DaySpending, add_to_day
from voice.llm.spending.ledger import Caps
from voice.llm.spending.spending import Spending
from voice.llm.tiers.swap import TierSwap, swap_tool
from voice.wire.requests import SwapRequest

OPUS = Price(input=5, output=25)


async def answered(
    caps: Caps, *, is_cheaper: bool = True, large_price: Price | None = OPUS, day: DaySpending | None = None
) -> rig.Call:
    """Three turns of a call that begins with the large tier."""
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        spending = Spending(caps, cheapest="fast", is_cheaper=is_cheaper, day=day)
        call = rig.make_call("fallback", slow, quick, budget=rig.PATIENT, spending=spending)
        call.tiers[0].price, call.tiers[1].price = large_price, Price(input=0.1, output=0.1)
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


async def test_who_swaps_after_a_cap_was_reached_learns_that_it_decides() -> None:
    call = await answered(Caps(per_call=0.0001))
    swap = TierSwap(call.service, tiers=("large", "fast"), large="large", fast="fast")
    state = swap.carry_out(SwapRequest(tier="large"))
    assert (state.tier, state.overridden) == (
        "large",
        "the call's cap of $0.0001 is reached, so fast alone answers",
    )
    assert "It has no effect for now" in await swap_tool(swap)("think_harder")  # type: ignore[operator]
    assert (await answered(Caps(per_call=10))).service.planner.overridden is None


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


async def test_what_was_spent_today_before_a_restart_counts_and_tomorrow_begins_anew(tmp_path: Path) -> None:
    file, days = tmp_path / "spending.json", [date(2026, 11, 23)]
    add_to_day(file, days[0], 20.0)
    day = DaySpending(file, today=lambda: days[-1])
    await day.start()
    call = await answered(Caps(per_day=20), day=day)
    assert [(record.answer.cap, record.attempts[0].tier) for record in call.records] == [("day", "fast")] * 3
    assert call.records[0].answer.reason == "the day's cap of $20 is reached"
    await day.close()
    spent = sum(attempt.usd or 0.0 for record in call.records for attempt in record.attempts)
    assert add_to_day(file, days[0], 0.0) == pytest.approx(20.0 + spent)
    days.append(date(2026, 11, 24))
    assert (await answered(Caps(per_day=20), day=day)).records[0].answer.cap is None
    await day.close()
