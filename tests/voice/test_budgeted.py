"""The budgeted service over real OpenAI services, against a loopback server that fails in every way providers do."""

import asyncio
import contextlib
import json
import os
import socket
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    Frame,
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
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.settings import LLMSettings
from pipecat.tests.utils import SleepFrame, run_test

from latency.budget import Budget
from voice.errors import ConfigurationError
from voice.llm.bridging import DELAY, HOLD, NOT_ANSWERING
from voice.llm.budgeted import BudgetedLLMService
from voice.llm.frames import AttemptsFrame, HoldPhraseFrame, LLMFailureFrame
from voice.llm.policy import Policy, Race, make_policy
from voice.llm.tier import Tier
from voice.llm.tier_stats import TierBook
from voice.llm.tools import describe

LATE = 0.3
"""Seconds of slack: the tests' machine is shared. The benchmark below prints what was measured."""
FAULTS = ["silent", "keepalive", "dribble", "refuse", "500", "midfail", "slow-connect"]


@dataclass
class Server:
    """A Chat Completions server on loopback. `wait` in seconds before the first token."""

    text: str
    fault: str | None = None
    wait: float = 0.02
    gap: float = 0.0
    tool: str | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    """When a client went away before its answer was whole."""
    open: int = 0
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-len"))
                self.asked.append(json.loads(await reader.readexactly(length)))
                gone = asyncio.ensure_future(reader.read(1))
                answer = asyncio.ensure_future(self.answer(writer))
                await asyncio.wait({gone, answer}, return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    self.left.append(time.monotonic())
                    answer.cancel()
                    return
                gone.cancel()
                await asyncio.wait({gone})
                if not answer.result():
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()

    async def answer(self, writer: asyncio.StreamWriter) -> bool:
        """Returns whether the connection may be used again."""
        if self.fault == "silent":
            await asyncio.sleep(60)
        if self.fault in ("500", "401"):
            body = b'{"error": {"message": "overloaded"}}'
            head = (
                f"HTTP/1.1 {self.fault} Error\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await writer.drain()
            return True
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        await self.send(writer, {"role": "assistant", "content": ""})
        if self.fault == "keepalive":
            while True:
                await self.chunk(writer, b": keep-alive\n\n")
                await asyncio.sleep(0.05)
        if self.fault == "dribble" or (self.fault == "dribble once" and len(self.asked) == 1):
            for index in range(600):
                await self.send(writer, {"content": f"so{index} "})
                await asyncio.sleep(0.1)
        await asyncio.sleep(self.wait)
        if self.tool and not any(message["role"] == "tool" for message in self.asked[-1]["messages"]):
            call = {"index": 0, "id": f"call{len(self.asked)}", "type": "function"}
            await self.send(writer, {"tool_calls": [{**call, "function": {"name": self.tool, "arguments": "{}"}}]})
        else:
            for number, word in enumerate(self.text.split(" ")):
                await self.send(writer, {"content": word if number == 0 else f" {word}"})
                if self.fault == "midfail" and number == 4:
                    return False
                if self.fault == "stall" and number == 4:
                    await asyncio.sleep(60)
                if self.gap:
                    await asyncio.sleep(self.gap)
        await self.send(writer, {}, finish="stop")
        await self.chunk(writer, b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def send(self, writer: asyncio.StreamWriter, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
        await self.chunk(writer, f"data: {json.dumps(event)}\n\n".encode())

    async def chunk(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()


@contextlib.asynccontextmanager
async def serving(server: Server) -> AsyncIterator[Server]:
    if server.fault in ("refuse", "slow-connect"):
        # A port that is bound and does not listen refuses; one whose queue is full lets the client wait.
        with contextlib.ExitStack() as stack:
            taken = stack.enter_context(socket.socket())
            taken.bind(("127.0.0.1", 0))
            if server.fault == "slow-connect":
                taken.listen(0)
                for _ in range(4):
                    filler = stack.enter_context(socket.socket())
                    filler.setblocking(False)
                    filler.connect_ex(taken.getsockname())
            server.url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
            yield server
        return
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listening.close()


def chat(server: Server) -> OpenAILLMService:
    service = OpenAILLMService(api_key="none", base_url=server.url, settings=OpenAILLMService.Settings(model="m"))
    # The SDK would ask three times, with pauses.
    service._client.max_retries = 0
    return service


@dataclass
class Call:
    """A service under test, with the instant of every frame it pushed."""

    service: BudgetedLLMService
    book: TierBook
    tiers: list[Tier]
    pushed: list[tuple[float, Frame]] = field(default_factory=list)

    async def run(self, frames: Sequence[Frame], **options: Any) -> list[Frame]:
        down, _ = await run_test(self.service, frames_to_send=frames, **options)
        return list(down)

    @property
    def records(self) -> list[AttemptsFrame]:
        return [frame for _, frame in self.pushed if isinstance(frame, AttemptsFrame) and frame.final]

    def first_words(self) -> list[float]:
        """When each answer's first text was pushed."""
        firsts: list[float] = []
        opened = False
        for at, frame in self.pushed:
            if isinstance(frame, LLMFullResponseStartFrame):
                opened = True
            elif isinstance(frame, LLMTextFrame) and opened:
                firsts.append(at)
                opened = False
        return firsts


def make_call(
    policy: str | Policy, large: Server, fast: Server | None = None, *, budget: float = 0.45, p95: float = 0.15
) -> Call:
    tiers = [Tier("large", chat(large))] + ([Tier("fast", chat(fast))] if fast else [])
    book = TierBook({"large": 1.0, "fast": p95})
    made = make_policy(policy, large="large", fast="fast" if fast else None) if isinstance(policy, str) else policy
    call = Call(BudgetedLLMService(tiers, made, book=book, budget=Budget.with_llm(budget)), book, tiers)

    @call.service.event_handler("on_before_push_frame")  # type: ignore[untyped-decorator]
    async def stamp(_: BudgetedLLMService, frame: Frame) -> None:
        call.pushed.append((time.monotonic(), frame))

    return call


def ask(*, speculation: bool = False, tools: Any = None) -> LLMContextFrame:
    messages: Any = [{"role": "user", "content": "why is the sky blue"}]
    context = LLMContext(messages, tools=tools) if tools else LLMContext(messages)
    return LLMContextFrame(context, speculation=speculation)


def said(frames: Sequence[Frame]) -> str:
    return "".join(frame.text for frame in frames if isinstance(frame, LLMTextFrame))


def holds(frames: Sequence[Frame]) -> list[str]:
    return [frame.text for frame in frames if isinstance(frame, HoldPhraseFrame)]


def large(**options: Any) -> Server:
    return Server("From the large model, the sky scatters blue light. It scatters red light less.", **options)


def fast(**options: Any) -> Server:
    return Server("Air scatters blue light, and red light less. That is all.", **options)


@pytest.mark.parametrize("policy", ["single", "fallback", "race", "adaptive", "hedged"])
async def test_a_healthy_large_tier_is_spoken_whole_between_one_start_and_one_end(policy: str) -> None:
    async with serving(large()) as slow, serving(fast(wait=0.2)) as quick:
        call = make_call(policy, slow, quick, p95=0.3, budget=1.0)
        down = await call.run([ask()])
    kinds = [type(frame) for frame in down]
    assert said(down) == slow.text
    assert kinds.count(LLMFullResponseStartFrame) == kinds.count(LLMFullResponseEndFrame) == 1
    assert kinds.index(LLMFullResponseStartFrame) < kinds.index(LLMTextFrame)
    assert kinds.index(LLMFullResponseEndFrame) > max(i for i, kind in enumerate(kinds) if kind is LLMTextFrame)
    (record,) = call.records
    spoken = record.attempts[0]
    assert (spoken["tier"], spoken["outcome"], record.policy) == ("large", "spoken", policy)
    assert spoken["request"] <= spoken["first_token"] <= spoken["first_clause"] <= spoken["end"]
    assert holds(down) == []


async def test_text_is_passed_on_clause_by_clause() -> None:
    async with serving(large(gap=0.01)) as slow:
        down = await make_call("single", slow, budget=2.0).run([ask()])
    assert [frame.text.strip() for frame in down if isinstance(frame, LLMTextFrame)] == [
        "From the large model,", "the sky scatters blue light.", "It scatters red light less.",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["fallback", "race", "adaptive"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_whatever_the_large_tier_does_a_healthy_fast_tier_answers_by_the_deadline(
    fault: str, policy: str
) -> None:
    turns = 2
    async with serving(large(fault=fault)) as slow, serving(fast()) as quick:
        call = make_call(policy, slow, quick)
        down = await call.run([frame for _ in range(turns) for frame in (ask(), SleepFrame(sleep=0.05))])
        if fault in ("silent", "keepalive", "dribble"):
            assert len(slow.left) == len(slow.asked) == turns
    firsts = call.first_words()
    assert len(firsts) == len(call.records) == turns
    for first, record in zip(firsts, call.records, strict=True):
        assert record.deadline is not None
        assert first <= record.deadline + LATE
        tiers = {attempt["tier"]: attempt for attempt in record.attempts}
        assert tiers["fast"]["outcome"] == "spoken"
        expected = {"refuse": "failed", "500": "failed", "midfail": "spoken"}.get(fault, "cancelled")
        assert record.attempts[0]["tier"] == "large"
        assert record.attempts[0]["outcome"] == expected
    if fault != "midfail":
        assert said(down) == quick.text * turns
    assert holds(down) == []


async def test_the_server_of_the_loser_sees_it_leave_when_the_other_one_speaks() -> None:
    async with serving(large(fault="keepalive")) as slow, serving(fast()) as quick:
        call = make_call("race", slow, quick)
        await call.run([ask(), SleepFrame(sleep=0.1)])
        spoke = call.first_words()[0]
        assert len(slow.left) == 1
        assert -0.01 <= slow.left[0] - spoke <= LATE


async def test_an_answer_that_breaks_off_is_continued_by_the_other_tier_from_what_was_heard() -> None:
    async with serving(large(fault="midfail")) as slow, serving(fast()) as quick:
        call = make_call("fallback", slow, quick, budget=1.0)
        down = await call.run([ask()])
    assert said(down) == f"From the large model,  {quick.text}"
    continuation = quick.asked[0]["messages"]
    assert continuation[-2] == {"role": "assistant", "content": "From the large model,"}
    assert "Go on from exactly there" in continuation[-1]["content"]
    assert [attempt["continues"] for attempt in call.records[0].attempts] == [None, 0]
    kinds = [type(frame) for frame in down]
    assert kinds.count(LLMFullResponseStartFrame) == 1


async def test_an_answer_that_stalls_is_continued_before_playout_runs_dry() -> None:
    async with serving(large(fault="stall")) as slow, serving(fast()) as quick:
        call = make_call("fallback", slow, quick, budget=1.0)
        down = await call.run([ask(), SleepFrame(sleep=0.1)])
        assert len(slow.left) == 1
    assert said(down) == f"From the large model,  {quick.text}"
    stalled, going_on = call.records[0].attempts
    assert (stalled["outcome"], going_on["outcome"]) == ("spoken", "spoken")
    assert going_on["continues"] == 0
    # 21 characters take more than a second to be spoken.
    assert 0.5 < going_on["request"] - stalled["first_clause"] < 1.5


async def test_when_both_tiers_are_down_the_caller_is_told_and_the_call_goes_on() -> None:
    async with serving(large(fault="refuse")) as slow, serving(fast(fault="500")) as quick:
        call = make_call("fallback", slow, quick)
        down = await call.run([ask(), SleepFrame(sleep=0.05), ask()])
    apologies = [frame for frame in down if isinstance(frame, LLMFailureFrame)]
    assert [frame.text for frame in apologies] == [NOT_ANSWERING] * 2
    assert "overloaded" in apologies[0].reason
    for first, record in zip(call.first_words(), call.records, strict=True):
        assert record.commit is not None
        assert first - record.commit < 2.5
        assert record.gave_up
        assert {attempt["outcome"] for attempt in record.attempts} == {"failed"}


async def test_when_both_tiers_are_silent_the_wait_is_bridged_and_admitted_by_2500_ms() -> None:
    async with serving(large(fault="silent")) as slow, serving(fast(fault="keepalive")) as quick:
        call = make_call("fallback", slow, quick)
        down = await call.run([ask(), SleepFrame(sleep=2.7), InterruptionFrame(), SleepFrame(sleep=0.1)])
    assert holds(down) == [HOLD[0], DELAY[0]]
    (record,) = call.records
    assert record.commit is not None
    assert record.deadline is not None
    ats = [phrase["at"] for phrase in record.said]
    assert ats[0] <= record.deadline + LATE
    assert ats[1] - record.commit < 2.5 + LATE
    assert LLMFullResponseStartFrame not in [type(frame) for frame in down]


async def test_a_phrase_is_said_before_a_late_answer_and_is_no_part_of_it() -> None:
    async with serving(large(wait=0.6)) as slow:
        down = await make_call("single", slow, budget=0.2).run([ask()])
    kinds = [type(frame) for frame in down]
    assert kinds.index(HoldPhraseFrame) < kinds.index(LLMFullResponseStartFrame)
    assert said(down) == slow.text
    phrase = next(frame for frame in down if isinstance(frame, HoldPhraseFrame))
    assert not phrase.append_to_context


async def test_an_interruption_cancels_every_request_and_the_next_turn_is_clean() -> None:
    async with serving(large(fault="keepalive")) as slow, serving(fast(wait=5.0)) as quick:
        call = make_call("race", slow, quick)
        frames = [ask(), SleepFrame(sleep=0.2), InterruptionFrame(), SleepFrame(sleep=0.2)]
        slow_leaves = asyncio.ensure_future(call.run([*frames, ask()]))
        await asyncio.sleep(0)
        while not (slow.left and quick.left):
            await asyncio.sleep(0.01)
        slow.fault, quick.wait = None, 0.01
        down = await slow_leaves
    assert said(down) == slow.text
    first, second = call.records
    assert [attempt["outcome"] for attempt in first.attempts] == ["cancelled", "cancelled"]
    assert second.attempts[0]["outcome"] == "spoken"


async def test_an_interruption_in_the_middle_of_an_answer_ends_its_response() -> None:
    async with serving(large(gap=0.15)) as slow:
        call = make_call("single", slow, budget=2.0)
        down = await call.run([ask(), SleepFrame(sleep=0.8), InterruptionFrame(), SleepFrame(sleep=0.2)])
        assert len(slow.left) == 1
    kinds = [type(frame) for frame in down]
    assert kinds.count(LLMFullResponseStartFrame) == kinds.count(LLMFullResponseEndFrame) == 1
    assert call.records[0].attempts[0]["outcome"] == "spoken"


async def test_speculation_is_silent_and_unbudgeted_until_the_commit() -> None:
    async with serving(large()) as slow, serving(fast()) as quick:
        call = make_call("fallback", slow, quick, budget=0.3)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), ask(speculation=True), SleepFrame(sleep=0.6),
                VADUserStoppedSpeakingFrame(stop_secs=0.2), UserStoppedSpeakingFrame(), SleepFrame(sleep=0.2),
            ]
        )  # fmt: skip
    kinds = [type(frame) for frame in down]
    assert kinds.index(LLMFullResponseStartFrame) > kinds.index(UserStoppedSpeakingFrame)
    assert said(down) == slow.text
    assert quick.asked == []
    assert holds(down) == []


async def test_the_budget_of_a_slow_speculation_runs_from_the_commit() -> None:
    async with serving(large(fault="silent")) as slow, serving(fast()) as quick:
        call = make_call("fallback", slow, quick)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), ask(speculation=True), SleepFrame(sleep=0.3), UserStoppedSpeakingFrame(),
                SleepFrame(sleep=0.7),
            ]
        )  # fmt: skip
    assert said(down) == quick.text
    (record,) = call.records
    assert record.commit is not None
    assert record.commit - record.attempts[0]["request"] > 0.2
    assert record.attempts[1]["request"] > record.commit
    assert record.deadline == pytest.approx(record.commit + 0.45)


async def test_a_withdrawn_speculation_is_cancelled_and_never_heard() -> None:
    async with serving(large(fault="keepalive")) as slow, serving(fast()) as quick:
        call = make_call("race", slow, quick)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), ask(speculation=True), SleepFrame(sleep=0.2), EagerEndOfTurnCancelFrame(),
                SleepFrame(sleep=0.2), UserStoppedSpeakingFrame(), SleepFrame(sleep=0.1),
            ]
        )  # fmt: skip
        assert len(slow.left) == 1
    assert said(down) == ""
    assert call.records[0].commit is None


async def test_a_late_commit_leaves_less_time_and_charges_nobody_until_the_floor() -> None:
    async with serving(large()) as slow, serving(fast()) as quick:
        call = make_call("fallback", slow, quick)
        await call.run([VADUserStoppedSpeakingFrame(stop_secs=0.2), SleepFrame(sleep=0.1), ask(), ask()])
    first, second = call.records
    assert first.commit is not None
    assert first.deadline is not None
    assert second.commit is not None
    assert first.limit == "turn"
    assert first.deadline - first.commit < 0.4
    assert second.limit == "llm"
    assert second.deadline == pytest.approx(second.commit + 0.45)


async def test_tools_of_the_winner_run_once_and_those_of_the_loser_never() -> None:
    ran: list[str] = []

    async def order_status() -> str:
        """Look up the caller's order."""
        ran.append("ran")
        return "on its way"

    tools = ToolsSchema(standard_tools=[describe(order_status)])
    async with serving(large(tool="order_status", wait=0.3)) as slow, serving(fast(tool="order_status")) as quick:
        call = make_call("race", slow, quick)
        down = await call.run([ask(tools=tools), SleepFrame(sleep=0.8)])
    assert ran == ["ran"]
    results = [frame for frame in down if isinstance(frame, FunctionCallResultFrame)]
    assert [frame.result for frame in results] == ["on its way"]
    (record,) = call.records
    assert {attempt["tier"]: attempt["outcome"] for attempt in record.attempts} == {
        "large": "called", "fast": "cancelled",
    }  # fmt: skip
    assert record.attempts[0]["calls"] == ["order_status"]


async def test_a_speculative_answer_that_wants_a_tool_withdraws_the_speculation() -> None:
    ran: list[str] = []

    async def order_status() -> str:
        """Look up the caller's order."""
        ran.append("ran")
        return "on its way"

    tools = ToolsSchema(standard_tools=[describe(order_status)])
    async with serving(large(tool="order_status")) as slow:
        call = make_call("single", slow)
        _, up = await run_test(
            call.service,
            frames_to_send=[UserStartedSpeakingFrame(), ask(speculation=True, tools=tools), SleepFrame(sleep=0.4)],
        )
    assert ran == []
    assert any(isinstance(frame, EagerEndOfTurnCancelFrame) for frame in up)


async def test_settings_reach_every_tier_or_the_one_they_are_for() -> None:
    async with serving(large()) as slow, serving(fast()) as quick:
        call = make_call("race", slow, quick)
        await call.run(
            [
                LLMUpdateSettingsFrame(delta=LLMSettings(temperature=0.5)),
                LLMUpdateSettingsFrame(delta=LLMSettings(max_tokens=7), service=call.tiers[1].service),
                ask(), SleepFrame(sleep=0.1),
            ]
        )  # fmt: skip
    assert (slow.asked[0]["temperature"], quick.asked[0]["temperature"]) == (0.5, 0.5)
    assert "max_tokens" not in slow.asked[0]
    assert quick.asked[0]["max_tokens"] == 7


async def test_another_policy_holds_from_the_next_turn_on() -> None:
    async with serving(large()) as slow, serving(fast()) as quick:
        call = make_call("single", slow, quick)

        @call.service.event_handler("on_after_process_frame")  # type: ignore[untyped-decorator]
        async def swap(service: BudgetedLLMService, frame: Frame) -> None:
            if isinstance(frame, LLMContextFrame):
                service.use(make_policy("single", large=None, fast="fast"))

        down = await call.run([ask(), ask()])
    assert said(down) == slow.text + quick.text
    assert [record.attempts[0]["tier"] for record in call.records] == ["large", "fast"]


async def test_a_policy_over_tiers_that_are_not_there_is_refused() -> None:
    async with serving(large()) as slow:
        call = make_call("single", slow)
        with pytest.raises(ConfigurationError, match="asks the tier fast, but there is only large"):
            call.service.use(make_policy("race", large="large", fast="fast"))
        with pytest.raises(ConfigurationError, match="does not know other"):
            BudgetedLLMService([Tier("other", chat(slow))], call.service.policy, book=call.book)


async def test_two_requests_to_one_service_are_kept_apart() -> None:
    async with serving(large(fault="dribble once")) as slow:
        call = make_call("hedged", slow, budget=1.0)
        call.book.observe("large", 0.2, reached=True)
        down = await call.run([ask(), SleepFrame(sleep=0.1)])
        assert len(slow.left) == 1
    assert said(down) == slow.text
    late, hedge = call.records[0].attempts
    assert (late["tier"], late["outcome"], hedge["tier"], hedge["outcome"]) == ("large", "cancelled", "large", "spoken")
    assert hedge["request"] - late["request"] > 0.15


async def test_a_spare_service_takes_the_second_request() -> None:
    async with serving(large(fault="silent")) as slow, serving(large()) as other:
        book = TierBook({"large": 0.2})
        policy = make_policy("hedged", large="large", fast=None)
        service = BudgetedLLMService([Tier("large", chat(slow), spare=chat(other))], policy, book=book)
        down, _ = await run_test(service, frames_to_send=[ask()])
    assert said(down) == other.text


async def test_a_tier_that_rejects_its_key_is_left_out_of_the_next_turn() -> None:
    async with serving(large(fault="401")) as slow, serving(fast()) as quick:
        call = make_call("fallback", slow, quick)
        down = await call.run([ask(), SleepFrame(sleep=0.05), ask()])
    assert said(down) == quick.text * 2
    assert len(slow.asked) == 1
    first, second = call.records
    assert first.attempts[0]["outcome"] == "failed"
    assert [attempt["tier"] for attempt in second.attempts] == ["fast"]
    assert "large refuses to serve" in second.reason


async def test_a_hold_phrase_is_not_said_again_right_away_unless_the_user_has_spoken() -> None:
    async with serving(large(wait=0.35)) as slow:
        call = make_call("single", slow, budget=0.1)
        down = await call.run([ask(), ask(), SleepFrame(sleep=1.5), VADUserStartedSpeakingFrame(), ask()])
    assert said(down) == slow.text * 3
    assert holds(down) == [HOLD[0], HOLD[1]]


async def test_losers_are_recorded_with_estimated_tokens_and_the_book_learns() -> None:
    async with serving(large(fault="dribble")) as slow, serving(fast()) as quick:
        call = make_call("race", slow, quick)
        await call.run([ask(), SleepFrame(sleep=0.05)])
    tokens = call.records[0].attempts[0]["tokens"]
    assert tokens["estimated"] is True
    assert tokens["in"] > 0
    assert tokens["out"] > 0
    assert call.book.quantile("fast", 0.5) is not None
    waited = call.book.quantile("large", 0.95)
    assert waited is not None
    assert waited > 0.2


async def test_one_time_to_first_byte_is_reported_for_a_turn() -> None:
    async with serving(large(fault="keepalive")) as slow, serving(fast()) as quick:
        call = make_call("race", slow, quick)
        down = await call.run([ask()], pipeline_params=PipelineParams(enable_metrics=True))
    metrics = [data for frame in down if isinstance(frame, MetricsFrame) for data in frame.data]
    times = [data.value for data in metrics if isinstance(data, TTFBMetricsData) and data.value > 0]
    assert len(times) == 1
    assert times[0] > 0.3


def sockets() -> int:
    folder = f"/proc/{os.getpid()}/fd"
    if not os.path.isdir(folder):
        return 0
    links = (os.path.join(folder, name) for name in os.listdir(folder))
    return sum(
        os.path.exists(link) is False and "socket:" in os.readlink(link) for link in links if os.path.islink(link)
    )


async def test_two_hundred_turns_leave_no_task_and_no_socket_behind() -> None:
    async with serving(large(fault="keepalive")) as slow, serving(fast(wait=0.03)) as quick:
        # The fast tier is preferred, so that no turn waits for the silent one.
        call = make_call(Race(large="fast", fast="large"), slow, quick)
        counts: list[tuple[int, int]] = []

        @call.service.event_handler("on_after_process_frame")  # type: ignore[untyped-decorator]
        async def count(_: BudgetedLLMService, frame: Frame) -> None:
            if isinstance(frame, LLMContextFrame):
                counts.append((len(asyncio.all_tasks()), sockets()))

        down = await call.run([*(ask() for _ in range(200)), SleepFrame(sleep=0.1)])
        assert said(down) == quick.text * 200
        assert len(slow.left) == len(slow.asked) > 150
        assert slow.open == 0
    tasks, open_sockets = zip(*counts, strict=True)
    assert max(tasks[100:]) <= max(tasks[10:50]) + 3
    assert max(open_sockets[100:]) <= max(open_sockets[10:50]) + 3
    assert not [task for task in asyncio.all_tasks() if "large#" in task.get_name() or "fast#" in task.get_name()]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
async def test_benchmark_of_a_fault(fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    """200 turns of each fault: run with `pytest -m slow -s tests/voice/test_budgeted.py`."""
    turns = 200
    async with serving(large(fault=fault)) as slow, serving(fast(wait=0.1)) as quick:
        call = make_call("fallback", slow, quick, p95=0.2)
        await call.run([frame for _ in range(turns) for frame in (ask(), SleepFrame(sleep=0.02))])
        pairs = list(zip(call.first_words(), call.records, strict=True))
        late = sorted((first - (record.deadline or 0.0)) * 1000 for first, record in pairs)
        # The server's clock is ours: the loser leaves when the other one speaks.
        gone = sorted((left - first) * 1000 for left, (first, _) in zip(slow.left, pairs, strict=False))
    with capsys.disabled():
        overshoot = f"overshoot p50 {late[100]:.1f} p99 {late[197]:.1f} max {late[-1]:.1f} ms"
        seen = f", loser gone p50 {gone[len(gone) // 2]:.1f} max {gone[-1]:.1f} ms" if gone else ""
        print(f"\n{fault}: {overshoot}{seen}")
    assert sum(value <= LATE * 1000 for value in late) == turns


@pytest.mark.slow
async def test_benchmark_of_the_overhead(capsys: pytest.CaptureFixture[str]) -> None:
    """A child by itself and under the policy, in turns: what the budget costs a turn that does not need it."""
    turns = 200
    async with serving(large(wait=0.05)) as alone, serving(large(wait=0.05)) as under:
        child = chat(alone)
        arrived: list[float] = []

        @child.event_handler("on_before_push_frame")  # type: ignore[untyped-decorator]
        async def stamp(_: OpenAILLMService, frame: Frame) -> None:
            # The last word of the first clause, and the space that ends it.
            if isinstance(frame, LLMTextFrame) and frame.text == " the":
                arrived.append(time.monotonic())
            elif isinstance(frame, LLMFullResponseStartFrame):
                started.append(time.monotonic())

        started: list[float] = []
        frames = [frame for _ in range(turns) for frame in (ask(), SleepFrame(sleep=0.01))]
        await run_test(child, frames_to_send=frames)
        direct = sorted(
            (next(at for at in arrived if at > start) - start) * 1000
            for start in started
            if any(at > start for at in arrived)
        )
        call = make_call("single", under, budget=1.0)
        await call.run(frames)
        budgeted = sorted(
            (first - (record.commit or 0.0)) * 1000
            for first, record in zip(call.first_words(), call.records, strict=True)
        )
    middle, tail = turns // 2, int(turns * 0.95)
    with capsys.disabled():
        print(f"\nto the first clause, ms: direct p50 {direct[middle]:.1f} p95 {direct[tail]:.1f}, ", end="")
        print(f"budgeted p50 {budgeted[middle]:.1f} p95 {budgeted[tail]:.1f}")
    assert budgeted[middle] - direct[middle] < LATE * 1000
