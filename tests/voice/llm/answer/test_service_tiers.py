"""Settings, policies and requests reach the right tiers of the budgeted service."""

import pytest
from pipecat.frames.frames import (
    Frame,
    LLMContextFrame,
    LLMUpdateSettingsFrame,
)
from pipecat.services.settings import LLMSettings
from pipecat.tests.utils import SleepFrame

from tests.voice.llm.answer import budgeted_rig as rig
from voice.errors import ConfigurationError
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.policy.make import make_policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.tier import Tier


async def test_settings_reach_every_tier_or_the_one_they_are_for() -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("race", slow, quick)
        await call.run(
            [
                LLMUpdateSettingsFrame(delta=LLMSettings(temperature=0.5)),
                LLMUpdateSettingsFrame(delta=LLMSettings(max_tokens=7), service=call.tiers[1].service),
                rig.ask(), lambda: slow.asked and quick.asked,
            ]
        )  # fmt: skip
    assert (slow.asked[0]["temperature"], quick.asked[0]["temperature"]) == (0.5, 0.5)
    assert "max_tokens" not in slow.asked[0]
    assert quick.asked[0]["max_tokens"] == 7


async def test_another_policy_holds_from_the_next_turn_on() -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("single", slow, quick)

        @call.service.event_handler("on_after_process_frame")  # type: ignore[untyped-decorator]
        async def swap(service: BudgetedLLMService, frame: Frame) -> None:
            if isinstance(frame, LLMContextFrame):
                service.planner.use(make_policy("single", large=None, fast="fast"))

        down = await call.run([rig.ask(), rig.ask()])
    assert rig.said(down) == slow.text + quick.text
    assert [record.attempts[0].tier for record in call.records] == ["large", "fast"]


async def test_a_policy_over_missing_tiers_is_refused() -> None:
    async with rig.serving(rig.large()) as slow:
        call = rig.make_call("single", slow)
        with pytest.raises(ConfigurationError, match="asks the tier fast, but there is only large"):
            call.service.planner.use(make_policy("race", large="large", fast="fast"))
        with pytest.raises(ConfigurationError, match="does not know other"):
            rig.budgeted([Tier("other", rig.chat(slow))], call.service.planner.policy, book=call.book)


async def test_two_requests_to_one_service_are_kept_apart() -> None:
    async with rig.serving(rig.large(fault="dribble once")) as slow:
        call = rig.make_call("hedged", slow, budget=1.0)
        call.book.observe("large", 0.2, reached=True)
        down = await call.run([rig.ask(), lambda: slow.left])
    assert rig.said(down) == slow.text
    late, hedge = call.records[0].attempts
    assert (late.tier, late.outcome, hedge.tier, hedge.outcome) == ("large", "cancelled", "large", "spoken")
    assert hedge.request - late.request > 0.15


async def test_a_spare_service_takes_the_second_request() -> None:
    async with rig.serving(rig.large(fault="silent")) as slow, rig.serving(rig.large()) as other:
        book = TierStatistics({"large": 0.2})
        policy = make_policy("hedged", large="large", fast=None)
        tiers = [Tier("large", rig.chat(slow), spare=rig.chat(other))]
        down = await rig.Call(rig.budgeted(tiers, policy, book=book), book, tiers).run([rig.ask()])
    assert rig.said(down) == other.text


async def test_a_tier_that_rejects_its_key_is_left_out_of_the_next_turn() -> None:
    async with rig.serving(rig.large(fault="401")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        down = await call.run([rig.ask(), SleepFrame(sleep=0.05), rig.ask()])
    assert rig.said(down) == quick.text * 2
    assert len(slow.asked) == 1
    first, second = call.records
    assert first.attempts[0].outcome == "failed"
    assert [attempt.tier for attempt in second.attempts] == ["fast"]
    assert "large is not asked for now" in second.answer.reason


async def test_a_retired_model_gives_way_to_the_next_tier_and_that_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with rig.serving(rig.large(fault="404")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        down = await call.run([rig.ask(), SleepFrame(sleep=0.05), rig.ask(), SleepFrame(sleep=0.05), rig.ask()])
        assert rig.said(down) == quick.text * 3
        assert len(slow.asked) == 1
    assert call.records[0].attempts[0].outcome == "failed"
    assert [attempt.tier for record in call.records[1:] for attempt in record.attempts] == ["fast", "fast"]
    told = [line for line in caplog.messages if line.startswith("tier large is not asked for")]
    assert told == ["tier large is not asked for 60 min: its provider does not have the model (any more)"]
