"""The budgeted service: which tier is asked, which is spoken, and what the caller hears when providers fail."""

import asyncio
import gc

import psutil
import pytest
from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    MetricsFrame,
    VADUserStartedSpeakingFrame,
)
from pipecat.metrics.metrics import TTFBMetricsData
from pipecat.pipeline.worker import PipelineParams
from pipecat.tests.utils import SleepFrame

from tests.voice.llm.answer import budgeted_rig as rig
from voice.frames import AnswerTextFrame, HoldPhraseFrame, LLMFailureFrame
from voice.language.english.phrases import ENGLISH
from voice.llm.answer.answer import Answer
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.policy.policies import Race

LATE = 1.0
"""Seconds of slack: the tests' machine is shared. The benchmarks print what was measured."""


@pytest.mark.parametrize("policy", ["single", "fallback", "race", "adaptive", "hedged"])
async def test_a_healthy_large_tier_is_spoken_whole_between_one_start_and_one_end(policy: str) -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast(wait=0.2)) as quick:
        call = rig.make_call(policy, slow, quick, p95=0.3, budget=rig.PATIENT)
        down = await call.run([rig.ask()])
    kinds = [type(frame) for frame in down]
    assert rig.said(down) == slow.text
    assert kinds.count(LLMFullResponseStartFrame) == kinds.count(LLMFullResponseEndFrame) == 1
    assert kinds.index(LLMFullResponseStartFrame) < kinds.index(AnswerTextFrame)
    assert kinds.index(LLMFullResponseEndFrame) > max(i for i, kind in enumerate(kinds) if kind is AnswerTextFrame)
    (record,) = call.records
    spoken = record.attempts[0]
    assert (spoken.tier, spoken.outcome, record.answer.policy) == ("large", "spoken", policy)
    assert spoken.request <= spoken.first_token <= spoken.first_clause <= spoken.end
    assert rig.holds(down) == []


async def test_text_is_passed_on_clause_by_clause() -> None:
    async with rig.serving(rig.large(gap=0.01)) as slow:
        down = await rig.make_call("single", slow, budget=rig.PATIENT).run([rig.ask()])
    assert [frame.text.strip() for frame in down if isinstance(frame, LLMTextFrame)] == [
        "From the large model,", "the sky scatters blue light.", "It scatters red light less.",
    ]  # fmt: skip


async def test_the_losing_request_is_closed_when_the_other_tier_speaks() -> None:
    async with rig.serving(rig.large(fault="keepalive")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("race", slow, quick)
        await call.run([rig.ask(), lambda: slow.left])
    loser, winner = call.records[0].attempts
    assert (loser.outcome, winner.outcome) == ("cancelled", "spoken")
    assert winner.first_clause < slow.left[0]


async def test_an_answer_that_breaks_off_is_continued_by_the_other_tier_from_what_was_heard() -> None:
    async with rig.serving(rig.large(fault="midfail")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick, budget=1.0)
        down = await call.run([rig.ask()])
    assert rig.said(down) == f"From the large model, {quick.text}"
    continuation = quick.asked[0]["messages"]
    assert continuation[-2] == {"role": "assistant", "content": "From the large model,"}
    assert "Go on from exactly there" in continuation[-1]["content"]
    assert [attempt.continues for attempt in call.records[0].attempts] == [None, 0]
    kinds = [type(frame) for frame in down]
    assert kinds.count(LLMFullResponseStartFrame) == 1


async def test_an_answer_that_stalls_is_continued_before_playout_runs_dry() -> None:
    async with rig.serving(rig.large(fault="stall")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick, budget=1.0)
        down = await call.run([rig.ask(), lambda: slow.left])
    assert rig.said(down) == f"From the large model, {quick.text}"
    stalled, going_on = call.records[0].attempts
    assert (stalled.outcome, going_on.outcome) == ("spoken", "spoken")
    assert going_on.continues == 0
    # 21 characters take more than a second to be spoken.
    assert 0.5 < going_on.request - stalled.first_clause < 1.5 + LATE


async def test_when_both_tiers_are_down_the_agent_apologises_and_the_call_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with rig.serving(rig.large(fault="refuse")) as slow, rig.serving(rig.fast(fault="500")) as quick:
        call = rig.make_call("fallback", slow, quick)
        down = await call.run([rig.ask(), SleepFrame(sleep=0.05), rig.ask()])
    apologies = [frame for frame in down if isinstance(frame, LLMFailureFrame)]
    assert [frame.text for frame in apologies] == [ENGLISH.not_answering] * 2
    assert "overloaded" in apologies[0].reason
    assert ".;" not in apologies[0].reason
    told = [record.message for record in caplog.records if record.name == "voice.llm.answer.answer"]
    assert [message.partition(":")[0] for message in told] == ["no answer"] * 2, "once a turn"
    for first, record in zip(call.first_words(), call.records, strict=True):
        assert record.answer.commit is not None
        assert first - record.answer.commit < 2.5
        assert record.answer.gave_up
        assert {attempt.outcome for attempt in record.attempts} == {"failed"}


async def test_when_both_tiers_are_silent_the_wait_is_bridged_and_admitted_by_2500_ms() -> None:
    async with rig.serving(rig.large(fault="silent")) as slow, rig.serving(rig.fast(fault="keepalive")) as quick:
        call = rig.make_call("fallback", slow, quick)
        down = await call.run(
            [rig.ask(), lambda: call.pushed_of(HoldPhraseFrame) == 2, InterruptionFrame(), lambda: call.records]
        )
    assert rig.holds(down) == [ENGLISH.hold[0], ENGLISH.delay[0]]
    (record,) = call.records
    assert record.answer.commit is not None
    assert record.answer.deadline is not None
    ats = [phrase.at for phrase in record.answer.said]
    assert ats[0] <= record.answer.deadline + LATE
    assert ats[1] - record.answer.commit < 2.5 + LATE
    assert LLMFullResponseStartFrame not in [type(frame) for frame in down]


async def test_a_hold_phrase_precedes_a_late_answer_and_is_not_part_of_it() -> None:
    async with rig.serving(rig.large(wait=0.6)) as slow:
        down = await rig.make_call("single", slow, budget=0.2).run([rig.ask()])
    kinds = [type(frame) for frame in down]
    assert kinds.index(HoldPhraseFrame) < kinds.index(LLMFullResponseStartFrame)
    assert rig.said(down) == slow.text
    phrase = next(frame for frame in down if isinstance(frame, HoldPhraseFrame))
    assert not phrase.append_to_context


async def test_an_interruption_cancels_every_request_and_the_next_turn_is_clean() -> None:
    async with rig.serving(rig.large(fault="keepalive")) as slow, rig.serving(rig.fast(wait=5.0)) as quick:
        call = rig.make_call("race", slow, quick, budget=rig.PATIENT)

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
    assert [attempt.outcome for attempt in first.attempts] == ["cancelled", "cancelled"]
    assert second.attempts[0].outcome == "spoken"


async def test_an_interruption_in_the_middle_of_an_answer_ends_its_response() -> None:
    async with rig.serving(rig.large(gap=0.15)) as slow:
        call = rig.make_call("single", slow, budget=rig.PATIENT)
        down = await call.run([rig.ask(), call.first_words, InterruptionFrame(), lambda: slow.left])
    kinds = [type(frame) for frame in down]
    assert kinds.count(LLMFullResponseStartFrame) == kinds.count(LLMFullResponseEndFrame) == 1
    assert call.records[0].attempts[0].outcome == "spoken"


async def test_a_hold_phrase_is_not_said_again_right_away_unless_the_user_has_spoken() -> None:
    async with rig.serving(rig.large(wait=0.35)) as slow:
        call = rig.make_call("single", slow, budget=0.1)
        down = await call.run(
            [rig.ask(), rig.ask(), lambda: len(call.records) == 2, VADUserStartedSpeakingFrame(), rig.ask()]
        )
    assert rig.said(down) == slow.text * 3
    assert rig.holds(down) == [ENGLISH.hold[0], ENGLISH.hold[1]]


async def test_losers_are_recorded_with_estimated_tokens_and_the_book_learns() -> None:
    async with rig.serving(rig.large(fault="dribble")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("race", slow, quick)
        await call.run([rig.ask(), SleepFrame(sleep=0.05)])
    tokens = call.records[0].attempts[0].tokens
    assert tokens.estimated is True
    assert tokens.prompt > 0
    assert tokens.completion > 0
    assert call.book.quantile("fast", 0.5) is not None
    waited = call.book.quantile("large", 0.95)
    assert waited is not None
    assert waited > 0.2


async def test_one_time_to_first_byte_is_reported_for_a_turn() -> None:
    async with rig.serving(rig.large(fault="keepalive")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("race", slow, quick)
        down = await call.run([rig.ask()], params=PipelineParams(enable_metrics=True))
    metrics = [data for frame in down if isinstance(frame, MetricsFrame) for data in frame.data]
    times = [data.value for data in metrics if isinstance(data, TTFBMetricsData) and data.value > 0]
    assert len(times) == 1
    assert times[0] > 0.3


@pytest.mark.parametrize("turns", [200, pytest.param(1000, marks=pytest.mark.slow)])
async def test_many_turns_leave_no_task_no_socket_and_no_memory_behind(
    turns: int, capsys: pytest.CaptureFixture[str]
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
    assert requests[0] <= turns // 10, "some are still ending on a busy machine"
    gc.collect()
    assert sum(isinstance(kept, Answer | LLMRequest) for kept in gc.get_objects()) <= turns // 10
    assert not [task for task in asyncio.all_tasks() if is_request(task)]


def is_request(thing: object) -> bool:
    """Whether it is the task of a request, ended or not."""
    return isinstance(thing, asyncio.Task) and any(name in thing.get_name() for name in ("large#", "fast#"))


async def test_a_model_that_thinks_without_saying_so_is_waited_for_from_then_on() -> None:
    text = "I look at it. It shows ten. </think> It is ten."
    async with rig.serving(rig.Server(text, gap=0.02)) as slow:
        call = rig.make_call("single", slow, budget=rig.PATIENT)
        first = await call.run([rig.ask()])
        assert call.book.thinking == {"large"}
        again = rig.make_call("single", slow, budget=rig.PATIENT)
        again.book.thinking = call.book.thinking
        second = await again.run([rig.ask()])
    assert rig.said(first).endswith("It is ten.")
    assert rig.said(second).strip() == "It is ten."


async def test_half_an_emoji_ends_no_conversation() -> None:
    async with rig.serving(rig.Server("Good morning \ud83d to you. <|im_end|>")) as slow:
        call = rig.make_call("single", slow, budget=rig.PATIENT)
        first = rig.said(await call.run([rig.ask()]))
        first.encode()
    assert first.split() == ["Good", "morning", "to", "you."]
