"""What the requests of an answer cost, those that nobody heard included."""

import pytest

from latency.record.requests import Price
from tests.voice.llm.answer import budgeted_rig as rig

DEAR, CHEAP = Price(input=5, output=25), Price(input=0.5, output=1)


async def test_winner_and_loser_are_both_billed_and_estimates_say_so() -> None:
    async with rig.serving(rig.large(fault="silent")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("race", slow, quick)
        for tier, price in zip(call.tiers, (DEAR, CHEAP), strict=True):
            tier.price = price
        await call.run([rig.ask()])
    (answer,) = call.records
    lost, won = answer.attempts
    assert (lost.outcome, won.outcome) == ("cancelled", "spoken")
    assert lost.tokens
    assert won.tokens
    assert lost.tokens.prompt
    assert lost.usd == pytest.approx(lost.tokens.prompt * 5 / 1e6), "asked, and cancelled before its first token"
    assert won.usd == pytest.approx(((won.tokens.prompt or 0) * 0.5 + (won.tokens.completion or 0)) / 1e6)
    assert lost.is_usd_estimated


async def test_a_request_that_was_refused_costs_nothing_and_one_without_a_price_is_unknown() -> None:
    async with rig.serving(rig.large(fault="500")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        call.tiers[0].price = DEAR
        await call.run([rig.ask()])
    refused, won = call.records[0].attempts
    assert (refused.outcome, refused.usd) == ("failed", 0.0)
    assert (won.outcome, won.usd) == ("spoken", None)


async def test_a_request_that_its_provider_took_and_never_answered_is_billed_as_an_estimate() -> None:
    async with rig.serving(rig.large(fault="silent")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick, budget=rig.PATIENT)
        call.tiers[0].price = DEAR
        client = call.tiers[0].service._client  # type: ignore[attr-defined]
        client.timeout = 0.3
        await call.run([rig.ask(), lambda: call.records])
    lost, _ = call.records[0].attempts
    assert (lost.outcome, lost.is_usd_estimated) == ("failed", True)
    assert lost.tokens
    assert lost.tokens.prompt
    assert lost.usd == pytest.approx(lost.tokens.prompt * 5 / 1e6)
