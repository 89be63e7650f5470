"""What requests to Claude cost: the speed that was served counts, with the real SDK against the simulator."""

from dataclasses import replace
from typing import Any

import pytest

from latency.record.requests import Price, RequestRecord, bill
from tests.voice.llm.wires.anthropic.test_service import calling
from tests.voice.llm.wires.responses.rig import CAR, FAST

OPUS = Price(input=5, output=25, cached_input=0.5, cache_write=6.25, speeds={"fast": 6})


async def asked(model: str = FAST, **options: Any) -> RequestRecord:
    async with calling(model, **options) as (call,):
        record = (await call.ask(CAR)).record(response=0)
    return replace(record, usd=bill(record, OPUS))


async def test_the_same_answer_costs_as_much_more_as_the_fast_speed_is_dearer() -> None:
    usual, fast = await asked(), await asked(speed="fast")
    assert usual.tokens == fast.tokens
    assert usual.usd
    assert fast.usd == pytest.approx(6 * usual.usd)
    assert not fast.is_usd_estimated


@pytest.mark.parametrize("model", [f"{FAST}&serves=standard", f"{FAST}&fault=429&fault_speed=fast"])
async def test_a_fast_request_that_is_served_at_the_usual_speed_is_billed_so(model: str) -> None:
    usual, slowed = await asked(), await asked(model, speed="fast")
    assert (slowed.speed, slowed.served) == ("fast", "standard")
    assert slowed.usd == pytest.approx(usual.usd)
    assert not slowed.is_usd_estimated
