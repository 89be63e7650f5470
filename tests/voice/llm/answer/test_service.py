"""The budgeted service: who is asked, who is heard, and what is left when providers fail."""

import asyncio
import gc
from typing import Any

import psutil
import pytest
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    Frame,
    FunctionCallFromLLM,
    FunctionCallResultFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    LLMUpdateSettingsFrame,
    MetricsFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.metrics.metrics import TTFBMetricsData
from pipecat.pipeline.worker import PipelineParams
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.services.settings import LLMSettings
from pipecat.tests.utils import SleepFrame

from voice.errors import ConfigurationError
from voice.llm.answer.answer import Answer
from voice.llm.answer.answer_frames import AnswerTextFrame, AttemptsFrame, HoldPhraseFrame, LLMFailureFrame
from voice.llm.answer.attempt import LiveAttempt
from voice.llm.answer.bridging import DELAY, HOLD, NOT_ANSWERING
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.answer.tier import Tier
from voice.llm.policy import Race, make_policy
from voice.llm.policy.tier_stats import TierBook
from voice.llm.tools import describe
from voice.turns.turn_frames import TurnEndFrame

LATE = 1.0
"""Seconds of slack: the tests' machine is shared. The benchmarks tell what was measured."""
PATIENT = 5.0
"""Seconds of budget where the clock is to decide nothing."""


@pytest.mark.parametrize("policy", ["single", "fallback", "race", "adaptive", "hedged"])
async def test_a_healthy_large_tier_is_spoken_whole_between_one_start_and_one_end(rig: Any, policy: str) -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast(wait=0.2)) as quick:
        call = rig.make_call(policy, slow, quick, p95=0.3, budget=PATIENT)
        down = await call.run([rig.ask()])
    kinds = [type(frame) for frame in down]
    assert rig.said(down) == slow.text
    assert kinds.count(LLMFullResponseStartFrame) == kinds.count(LLMFullResponseEndFrame) == 1
    assert kinds.index(LLMFullResponseStartFrame) < kinds.index(AnswerTextFrame)
    assert kinds.index(LLMFullResponseEndFrame) > max(i for i, kind in enumerate(kinds) if kind is AnswerTextFrame)
    (record,) = call.records
    spoken = record.attempts[0]
    assert (spoken["tier"], spoken["outcome"], record.policy) == ("large", "spoken", policy)
    assert spoken["request"] <= spoken["first_token"] <= spoken["first_clause"] <= spoken["end"]
    assert rig.holds(down) == []


async def test_text_is_passed_on_clause_by_clause(rig: Any) -> None:
    async with rig.serving(rig.large(gap=0.01)) as slow:
        down = await rig.make_call("single", slow, budget=PATIENT).run([rig.ask()])
    assert [frame.text.strip() for frame in down if isinstance(frame, LLMTextFrame)] == [
        "From the large model,", "the sky scatters blue light.", "It scatters red light less.",
    ]  # fmt: skip


async def test_the_server_of_the_loser_sees_it_leave_when_the_other_one_speaks(rig: Any) -> None:
    async with rig.serving(rig.large(fault="keepalive")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("race", slow, quick)
        await call.run([rig.ask(), lambda: slow.left])
    loser, winner = call.records[0].attempts
    assert (loser["outcome"], winner["outcome"]) == ("cancelled", "spoken")
    assert winner["first_clause"] < slow.left[0]


async def test_an_answer_that_breaks_off_is_continued_by_the_other_tier_from_what_was_heard(rig: Any) -> None:
    async with rig.serving(rig.large(fault="midfail")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick, budget=1.0)
        down = await call.run([rig.ask()])
    assert rig.said(down) == f"From the large model,  {quick.text}"
    continuation = quick.asked[0]["messages"]
    assert continuation[-2] == {"role": "assistant", "content": "From the large model,"}
    assert "Go on from exactly there" in continuation[-1]["content"]
    assert [attempt["continues"] for attempt in call.records[0].attempts] == [None, 0]
    kinds = [type(frame) for frame in down]
    assert kinds.count(LLMFullResponseStartFrame) == 1


async def test_an_answer_that_stalls_is_continued_before_playout_runs_dry(rig: Any) -> None:
    async with rig.serving(rig.large(fault="stall")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick, budget=1.0)
        down = await call.run([rig.ask(), lambda: slow.left])
    assert rig.said(down) == f"From the large model,  {quick.text}"
    stalled, going_on = call.records[0].attempts
    assert (stalled["outcome"], going_on["outcome"]) == ("spoken", "spoken")
    assert going_on["continues"] == 0
    # 21 characters take more than a second to be spoken.
    assert 0.5 < going_on["request"] - stalled["first_clause"] < 1.5 + LATE


async def test_when_both_tiers_are_down_the_caller_is_told_and_the_call_goes_on(
    rig: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig.serving(rig.large(fault="refuse")) as slow, rig.serving(rig.fast(fault="500")) as quick:
        call = rig.make_call("fallback", slow, quick)
        down = await call.run([rig.ask(), SleepFrame(sleep=0.05), rig.ask()])
    apologies = [frame for frame in down if isinstance(frame, LLMFailureFrame)]
    assert [frame.text for frame in apologies] == [NOT_ANSWERING] * 2
    assert "overloaded" in apologies[0].reason
    assert ".;" not in apologies[0].reason
    told = [record.message for record in caplog.records if record.name == "voice.llm.answer.answer"]
    assert [message.partition(":")[0] for message in told] == ["no answer"] * 2, "once a turn"
    for first, record in zip(call.first_words(), call.records, strict=True):
        assert record.commit is not None
        assert first - record.commit < 2.5
        assert record.gave_up
        assert {attempt["outcome"] for attempt in record.attempts} == {"failed"}


async def test_when_both_tiers_are_silent_the_wait_is_bridged_and_admitted_by_2500_ms(rig: Any) -> None:
    async with rig.serving(rig.large(fault="silent")) as slow, rig.serving(rig.fast(fault="keepalive")) as quick:
        call = rig.make_call("fallback", slow, quick)
        down = await call.run(
            [rig.ask(), lambda: call.pushed_of(HoldPhraseFrame) == 2, InterruptionFrame(), lambda: call.records]
        )
    assert rig.holds(down) == [HOLD[0], DELAY[0]]
    (record,) = call.records
    assert record.commit is not None
    assert record.deadline is not None
    ats = [phrase["at"] for phrase in record.said]
    assert ats[0] <= record.deadline + LATE
    assert ats[1] - record.commit < 2.5 + LATE
    assert LLMFullResponseStartFrame not in [type(frame) for frame in down]


async def test_a_phrase_is_said_before_a_late_answer_and_is_no_part_of_it(rig: Any) -> None:
    async with rig.serving(rig.large(wait=0.6)) as slow:
        down = await rig.make_call("single", slow, budget=0.2).run([rig.ask()])
    kinds = [type(frame) for frame in down]
    assert kinds.index(HoldPhraseFrame) < kinds.index(LLMFullResponseStartFrame)
    assert rig.said(down) == slow.text
    phrase = next(frame for frame in down if isinstance(frame, HoldPhraseFrame))
    assert not phrase.append_to_context


async def test_an_interruption_cancels_every_request_and_the_next_turn_is_clean(rig: Any) -> None:
    async with rig.serving(rig.large(fault="keepalive")) as slow, rig.serving(rig.fast(wait=5.0)) as quick:
        call = rig.make_call("race", slow, quick, budget=PATIENT)

        def recovered() -> bool:
            slow.fault, quick.wait = None, 0.01
            return True

        down = await call.run(
            [
                rig.ask(), lambda: slow.asked and quick.asked,
                InterruptionFrame(), lambda: slow.left and quick.left, recovered, rig.ask(),
            ]
        )  # fmt: skip
    assert rig.said(down) == slow.text
    first, second = call.records
    assert [attempt["outcome"] for attempt in first.attempts] == ["cancelled", "cancelled"]
    assert second.attempts[0]["outcome"] == "spoken"


async def test_an_interruption_in_the_middle_of_an_answer_ends_its_response(rig: Any) -> None:
    async with rig.serving(rig.large(gap=0.15)) as slow:
        call = rig.make_call("single", slow, budget=PATIENT)
        down = await call.run([rig.ask(), call.first_words, InterruptionFrame(), lambda: slow.left])
    kinds = [type(frame) for frame in down]
    assert kinds.count(LLMFullResponseStartFrame) == kinds.count(LLMFullResponseEndFrame) == 1
    assert call.records[0].attempts[0]["outcome"] == "spoken"


async def test_speculation_is_silent_and_unbudgeted_until_the_commit(rig: Any) -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick, budget=0.3)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: slow.answered, SleepFrame(sleep=0.6),
                VADUserStoppedSpeakingFrame(stop_secs=0.2), UserStoppedSpeakingFrame(), lambda: call.records,
            ]
        )  # fmt: skip
    kinds = [type(frame) for frame in down]
    assert kinds.index(LLMFullResponseStartFrame) > kinds.index(UserStoppedSpeakingFrame)
    assert rig.said(down) == slow.text
    assert quick.asked == []
    assert rig.holds(down) == []


async def test_the_budget_of_a_slow_speculation_runs_from_the_commit(rig: Any) -> None:
    async with rig.serving(rig.large(fault="silent")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: slow.asked, SleepFrame(sleep=0.3),
                UserStoppedSpeakingFrame(), lambda: call.records,
            ]
        )  # fmt: skip
    assert rig.said(down) == quick.text
    (record,) = call.records
    assert record.commit is not None
    assert record.commit - record.attempts[0]["request"] > 0.2
    assert record.attempts[1]["request"] > record.commit
    assert record.deadline == pytest.approx(record.commit + 0.45)


async def test_a_withdrawn_speculation_is_cancelled_and_never_heard(rig: Any) -> None:
    async with rig.serving(rig.large(fault="keepalive")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("race", slow, quick)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: slow.asked,
                EagerEndOfTurnCancelFrame(), lambda: slow.left, UserStoppedSpeakingFrame(), SleepFrame(sleep=0.1),
            ]
        )  # fmt: skip
    assert rig.said(down) == ""
    assert call.records[0].commit is None


async def test_a_late_commit_leaves_less_time_and_charges_nobody_until_the_floor(rig: Any) -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        await call.run([VADUserStoppedSpeakingFrame(stop_secs=0.2), SleepFrame(sleep=0.1), rig.ask(), rig.ask()])
    first, second = call.records
    assert first.commit is not None
    assert first.deadline is not None
    assert second.commit is not None
    assert first.limit == "turn"
    assert first.deadline - first.commit < 0.4
    assert second.limit == "llm"
    assert second.deadline == pytest.approx(second.commit + 0.45)


@pytest.mark.parametrize(("needed", "charged"), [(0.8, "endpointing"), (0.2, "transcription"), (None, "transcription")])
async def test_the_wait_for_silence_is_charged_to_endpointing_and_not_to_the_recogniser(
    rig: Any, needed: float | None, charged: str
) -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        stop = VADUserStoppedSpeakingFrame(stop_secs=0.2)
        await call.run([stop, SleepFrame(sleep=0.65), TurnEndFrame(silence=needed), rig.ask()])
    (record,) = call.records
    assert (record.limit, record.charged) == ("floor", charged)


async def test_tools_of_the_winner_run_once_and_those_of_the_loser_never(rig: Any) -> None:
    ran: list[str] = []

    async def order_status() -> str:
        """Look up the caller's order."""
        ran.append("ran")
        return "on its way"

    tools = ToolsSchema(standard_tools=[describe(order_status)])
    async with (
        rig.serving(rig.large(tool="order_status", wait=0.3)) as slow,
        rig.serving(rig.fast(tool="order_status")) as quick,
    ):
        call = rig.make_call("race", slow, quick, budget=PATIENT)
        down = await call.run([rig.ask(tools=tools), lambda: call.pushed_of(FunctionCallResultFrame)])
    assert ran == ["ran"]
    results = [frame for frame in down if isinstance(frame, FunctionCallResultFrame)]
    assert [frame.result for frame in results] == ["on its way"]
    (record,) = call.records
    assert {attempt["tier"]: attempt["outcome"] for attempt in record.attempts} == {
        "large": "called", "fast": "cancelled",
    }  # fmt: skip
    assert record.attempts[0]["calls"] == ["order_status"]


@pytest.mark.parametrize(("verdict", "runs"), [(EagerEndOfTurnCancelFrame, []), (UserStoppedSpeakingFrame, ["ran"])])
async def test_a_tool_of_an_answer_begun_ahead_waits_for_the_end_of_the_turn(
    rig: Any, verdict: type[Frame], runs: list[str]
) -> None:
    ran: list[str] = []

    async def order_status() -> str:
        """Look up the caller's order."""
        ran.append("ran")
        return "on its way"

    tools = ToolsSchema(standard_tools=[describe(order_status)])
    async with rig.serving(rig.large(tool="order_status")) as slow:
        call = rig.make_call("single", slow)
        asked = rig.ask(speculation=True, tools=tools)

        def called() -> bool:
            frames = [frame for _, frame in call.pushed if isinstance(frame, AttemptsFrame)]
            return any(frame.attempts and frame.attempts[0]["calls"] for frame in frames)

        await call.run([UserStartedSpeakingFrame(), asked, called, lambda: ran == [], verdict(), SleepFrame(0.2)])
    assert ran == runs
    assert slow.answered == 1


class Raising(LLMService[Any]):
    """Asks for a tool, and breaks."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            call = FunctionCallFromLLM(function_name="nothing", tool_call_id="1", arguments={}, context=frame.context)
            await self.run_function_calls([call])
            raise ValueError("broken")


async def test_a_service_that_breaks_behind_its_tool_call_does_not_hold_the_turn_up(rig: Any) -> None:
    book, tiers = TierBook({"large": 0.2}), [Tier("large", Raising())]
    service = BudgetedLLMService(tiers, make_policy("single", large="large", fast=None), book=book)
    down = await rig.Call(service, book, tiers).run([rig.ask(), SleepFrame(0.5), InterruptionFrame()])
    assert [type(frame) for frame in down].count(FunctionCallResultFrame) == 1


async def test_settings_reach_every_tier_or_the_one_they_are_for(rig: Any) -> None:
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


async def test_another_policy_holds_from_the_next_turn_on(rig: Any) -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("single", slow, quick)

        @call.service.event_handler("on_after_process_frame")  # type: ignore[untyped-decorator]
        async def swap(service: BudgetedLLMService, frame: Frame) -> None:
            if isinstance(frame, LLMContextFrame):
                service.use(make_policy("single", large=None, fast="fast"))

        down = await call.run([rig.ask(), rig.ask()])
    assert rig.said(down) == slow.text + quick.text
    assert [record.attempts[0]["tier"] for record in call.records] == ["large", "fast"]


async def test_the_words_after_a_tool_are_still_of_the_policy_that_called_it(rig: Any) -> None:
    messages: Any = [{"role": "user", "content": "where is my order"}]
    called = {"id": "1", "type": "function", "function": {"name": "order_status", "arguments": "{}"}}
    told = [
        {"role": "assistant", "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "1", "content": "on its way"},
    ]
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("single", slow, quick)

        def swap() -> bool:
            call.service.use(make_policy("single", large=None, fast="fast"))
            return True

        first, second = (LLMContextFrame(LLMContext(said)) for said in (messages, messages + told))
        await call.run([first, lambda: call.records, swap, second, rig.ask()])
    assert [record.attempts[0]["tier"] for record in call.records] == ["large", "large", "fast"]


async def test_a_policy_over_tiers_that_are_not_there_is_refused(rig: Any) -> None:
    async with rig.serving(rig.large()) as slow:
        call = rig.make_call("single", slow)
        with pytest.raises(ConfigurationError, match="asks the tier fast, but there is only large"):
            call.service.use(make_policy("race", large="large", fast="fast"))
        with pytest.raises(ConfigurationError, match="does not know other"):
            BudgetedLLMService([Tier("other", rig.chat(slow))], call.service.policy, book=call.book)


async def test_two_requests_to_one_service_are_kept_apart(rig: Any) -> None:
    async with rig.serving(rig.large(fault="dribble once")) as slow:
        call = rig.make_call("hedged", slow, budget=1.0)
        call.book.observe("large", 0.2, reached=True)
        down = await call.run([rig.ask(), lambda: slow.left])
    assert rig.said(down) == slow.text
    late, hedge = call.records[0].attempts
    assert (late["tier"], late["outcome"], hedge["tier"], hedge["outcome"]) == ("large", "cancelled", "large", "spoken")
    assert hedge["request"] - late["request"] > 0.15


async def test_a_spare_service_takes_the_second_request(rig: Any) -> None:
    async with rig.serving(rig.large(fault="silent")) as slow, rig.serving(rig.large()) as other:
        book = TierBook({"large": 0.2})
        policy = make_policy("hedged", large="large", fast=None)
        tiers = [Tier("large", rig.chat(slow), spare=rig.chat(other))]
        down = await rig.Call(BudgetedLLMService(tiers, policy, book=book), book, tiers).run([rig.ask()])
    assert rig.said(down) == other.text


async def test_a_tier_that_rejects_its_key_is_left_out_of_the_next_turn(rig: Any) -> None:
    async with rig.serving(rig.large(fault="401")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        down = await call.run([rig.ask(), SleepFrame(sleep=0.05), rig.ask()])
    assert rig.said(down) == quick.text * 2
    assert len(slow.asked) == 1
    first, second = call.records
    assert first.attempts[0]["outcome"] == "failed"
    assert [attempt["tier"] for attempt in second.attempts] == ["fast"]
    assert "large refuses to serve" in second.reason


async def test_a_hold_phrase_is_not_said_again_right_away_unless_the_user_has_spoken(rig: Any) -> None:
    async with rig.serving(rig.large(wait=0.35)) as slow:
        call = rig.make_call("single", slow, budget=0.1)
        down = await call.run(
            [rig.ask(), rig.ask(), lambda: len(call.records) == 2, VADUserStartedSpeakingFrame(), rig.ask()]
        )
    assert rig.said(down) == slow.text * 3
    assert rig.holds(down) == [HOLD[0], HOLD[1]]


async def test_losers_are_recorded_with_estimated_tokens_and_the_book_learns(rig: Any) -> None:
    async with rig.serving(rig.large(fault="dribble")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("race", slow, quick)
        await call.run([rig.ask(), SleepFrame(sleep=0.05)])
    tokens = call.records[0].attempts[0]["tokens"]
    assert tokens["estimated"] is True
    assert tokens["in"] > 0
    assert tokens["out"] > 0
    assert call.book.quantile("fast", 0.5) is not None
    waited = call.book.quantile("large", 0.95)
    assert waited is not None
    assert waited > 0.2


async def test_one_time_to_first_byte_is_reported_for_a_turn(rig: Any) -> None:
    async with rig.serving(rig.large(fault="keepalive")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("race", slow, quick)
        down = await call.run([rig.ask()], params=PipelineParams(enable_metrics=True))
    metrics = [data for frame in down if isinstance(frame, MetricsFrame) for data in frame.data]
    times = [data.value for data in metrics if isinstance(data, TTFBMetricsData) and data.value > 0]
    assert len(times) == 1
    assert times[0] > 0.3


@pytest.mark.parametrize("turns", [200, pytest.param(1000, marks=pytest.mark.slow)])
async def test_many_turns_leave_no_task_no_socket_and_no_memory_behind(
    rig: Any, turns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    async with rig.serving(rig.large(fault="keepalive")) as slow, rig.serving(rig.fast(wait=0.03)) as quick:
        # The fast tier is preferred, so that no turn waits for the silent one.
        call = rig.make_call(Race(large="fast", fast="large"), slow, quick)
        process = psutil.Process()
        counts: list[tuple[int, int, int]] = []
        requests: list[int] = []

        @call.service.event_handler("on_after_process_frame")  # type: ignore[untyped-decorator]
        async def count(_: BudgetedLLMService, frame: Frame) -> None:
            if isinstance(frame, LLMContextFrame):
                counts.append((len(asyncio.all_tasks()), process.num_fds(), process.memory_info().rss))
                if len(counts) == turns:
                    gc.collect()
                    requests.append(sum(is_request(kept) for kept in gc.get_objects()))

        asks = [rig.ask() for _ in range(turns)]
        down = await call.run([*asks, lambda: len(slow.left) == len(slow.asked) > 0.75 * turns])
        assert rig.said(down) == quick.text * turns
        assert slow.open == 0
    tasks, descriptors, resident = zip(*counts, strict=True)
    with capsys.disabled():
        for turn in (100, turns // 5, turns - 1) if turns == 1000 else ():
            print(f"\nturn {turn + 1}: resident {resident[turn] / 2**20:.1f} MB, ", end="")
            print(f"tasks {tasks[turn]}, descriptors {descriptors[turn]}", end="")
    assert max(tasks[100:]) <= max(tasks[10:50]) + 3
    assert max(descriptors[100:]) <= max(descriptors[10:50]) + 3
    assert requests[0] <= 10
    gc.collect()
    assert sum(isinstance(kept, Answer | LiveAttempt) for kept in gc.get_objects()) <= turns // 10
    assert not [task for task in asyncio.all_tasks() if is_request(task)]


def is_request(thing: object) -> bool:
    """Whether it is the task of a request, ended or not."""
    return isinstance(thing, asyncio.Task) and any(name in thing.get_name() for name in ("large#", "fast#"))
