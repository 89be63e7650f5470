"""Candidates over real sockets: picked by agreement and by the deadline; losers are cancelled, billed and recorded."""

import json
import time
from typing import Any

import pytest
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import FunctionCallResultFrame, InterruptionFrame
from pipecat.tests.utils import SleepFrame

from latency.budget import Budget
from latency.record.requests import Price, Vote
from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.simulator import Simulator
from tests.voice.llm.answer import budgeted_rig as rig
from voice.frames import RequestsFrame
from voice.llm.answer.provider_note import ProviderNote, RemainingRequests
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.policy.make import make_policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.spending.ledger import Caps
from voice.llm.spending.spending import Spending
from voice.llm.tiers.tier import Tier
from voice.llm.tools import describe
from voice.llm.wires.chat.service import ChatService, make_client

RIGHT, WRONG = "It is 12 dollars. That is all.", "It is 13 dollars. That is all."


class Drafts(rig.Server):
    """Answers each request differently: a text, or a fault; `waits` before the first token of each."""

    def __init__(self, *texts: str, waits: tuple[float, ...] = (), arguments: tuple[str, ...] = ()) -> None:
        super().__init__("")
        self.texts, self.waits, self.arguments = texts, waits, arguments
        self.begun = 0

    async def answer(self, writer: Any) -> bool:
        number = self.begun
        self.begun += 1
        text = self.texts[number % len(self.texts)]
        own = rig.Server(text, asked=self.asked, wait=self.waits[number] if number < len(self.waits) else 0.02)
        own.fault = text if text in ("silent", "500") else None
        if text == "call":
            own.tool, own.send = "book", self._sender(own, self.arguments[number % len(self.arguments)])  # type: ignore[method-assign]
        done = await own.answer(writer)
        self.answered += own.answered
        return done

    def _sender(self, own: rig.Server, arguments: str) -> Any:
        send = own.send

        async def sending(writer: Any, delta: dict[str, Any], finish: str | None = None) -> None:
            for call in delta.get("tool_calls", ()):
                call["function"]["arguments"] = arguments
            await send(writer, delta, finish)

        return sending


async def held(
    drafts: Drafts, *steps: Any, budget: float = 0.45, tools: Any = None
) -> tuple[rig.Call, str, rig.Server]:
    async with rig.serving(rig.large()) as slow, rig.serving(drafts) as quick:
        call = rig.make_call("best_of", slow, quick, budget=budget, p95=2.0 if budget == rig.PATIENT else 0.15)
        down = await call.run([rig.ask(), *(steps or [lambda: call.records])])
    return call, rig.said(down), slow


async def test_the_answer_that_most_agree_with_is_spoken_and_the_record_says_so() -> None:
    call, said, large = await held(Drafts(WRONG, RIGHT, RIGHT, waits=(0.02, 0.05, 0.08)), budget=rig.PATIENT)
    assert said == RIGHT
    (record,) = call.records
    assert record.answer.vote == Vote(candidates=3, there=3, agreeing=2, why="most candidates agree with it")
    assert sorted(attempt.outcome or "" for attempt in record.attempts) == ["cancelled", "cancelled", "spoken"]
    assert all(attempt.tokens and attempt.tokens.completion for attempt in record.attempts)
    assert not large.asked


async def test_candidates_that_hang_make_nothing_late_and_are_cancelled() -> None:
    drafts = Drafts(RIGHT, "silent", "silent")
    call, said, _ = await held(drafts, lambda: len(drafts.left) == 2)
    assert said == RIGHT
    (record,) = call.records
    assert record.answer.deadline is not None
    assert call.first_words()[0] <= record.answer.deadline
    assert record.answer.vote is not None
    assert (record.answer.vote.there, record.answer.vote.why) == (1, "it was the only one that was whole")
    assert len(drafts.left) == 2


async def test_when_all_candidates_fail_the_large_tier_answers() -> None:
    call, said, large = await held(Drafts("500"), budget=rig.PATIENT)
    assert said == large.text
    (record,) = call.records
    assert record.answer.vote is not None
    assert (record.answer.vote.agreeing, record.answer.vote.why) == (0, "no candidate could be used")
    assert len(record.answer.vote.dismissed) == 3


async def test_what_refuses_or_breaks_off_is_not_spoken() -> None:
    call, said, large = await held(
        Drafts("I'm sorry, but I can't help with that.", "It costs about", "**12** dollars."), budget=rig.PATIENT
    )
    assert said == large.text
    (record,) = call.records
    assert record.answer.vote is not None
    assert sorted(record.answer.vote.dismissed) == ["it breaks off", "it has markup", "it refuses"]


@pytest.mark.parametrize(
    ("arguments", "ran", "asked_large"),
    [(('{"seats": "many"}', '{"seats": 2}', '{"seats": 2}'), [2], 0), (('{"seats": "many"}',), [], 1)],
)
async def test_a_malformed_call_never_runs(arguments: tuple[str, ...], ran: list[int], asked_large: int) -> None:
    booked: list[int] = []

    async def book(seats: int) -> str:
        """Book seats."""
        booked.append(seats)
        return "booked"

    tools = ToolsSchema(standard_tools=[describe(book)])
    drafts = Drafts("call", arguments=arguments)
    async with rig.serving(rig.large()) as slow, rig.serving(drafts) as quick:
        call = rig.make_call("best_of", slow, quick, budget=rig.PATIENT, p95=2.0)
        done = (lambda: call.pushed_of(FunctionCallResultFrame)) if ran else (lambda: call.records)
        await call.run([rig.ask(tools=tools), done])
    assert booked == ran
    assert len(slow.asked) == asked_large
    assert json.loads(json.dumps(drafts.asked[0]))["tools"]


async def test_a_barge_in_cancels_every_candidate() -> None:
    drafts = Drafts("silent")
    call, said, _ = await held(
        drafts, lambda: len(drafts.asked) == 3, InterruptionFrame(), SleepFrame(0.2), budget=rig.PATIENT
    )
    assert said == ""
    assert len(drafts.left) == 3
    assert [attempt.outcome for attempt in call.records[0].attempts] == ["cancelled"] * 3


async def test_a_tier_near_its_limit_gets_fewer_candidates() -> None:
    drafts = Drafts(RIGHT)
    async with rig.serving(rig.large()) as slow, rig.serving(drafts) as quick:
        call = rig.make_call("best_of", slow, quick, budget=rig.PATIENT, p95=2.0)
        call.book.leave_room("fast", 1, time.monotonic() + 60)
        await call.run([rig.ask(), lambda: call.records])
    assert len(drafts.asked) == 1
    (record,) = call.records
    assert "the rate limit of fast is nearly used up (1 left)" in (record.answer.reason or "")
    assert ProviderNote().updated(ProviderNote(room=RemainingRequests(requests=1, seconds=2.0))).room is not None


async def simulated(turns: int, spending: Spending | None = None) -> tuple[list[RequestsFrame], list[float], Simulator]:
    """Turns of best_of = 3 with the real openai SDK, over the simulator's model of 1,000 tokens a second."""
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        services = {
            name: ChatService(
                make_client(base_url=endpoint.base_url, api_key="none", silence=5.0), model=model, prompt="Be brief.",
                max_tokens=100, where="the simulator", connections=3,
            )
            for name, model in (("large", "sim:sonnet"), ("fast", "sim:gpt-5.3-codex-spark"))
        }  # fmt: skip
        prices = {"large": Price(input=3, output=15), "fast": Price(input=1, output=5)}
        tiers = [Tier(name, service, price=prices[name]) for name, service in services.items()]
        book = TierStatistics({"large": 1.0, "fast": 0.3})
        service = rig.budgeted(
            tiers, make_policy("best_of", large="large", fast="fast", best_of=3), book=book,
            budget=Budget.with_llm(0.45), spending=spending,
        )  # fmt: skip
        call = rig.Call(service, book, tiers)

        @service.event_handler("on_before_push_frame")  # type: ignore[untyped-decorator]
        async def stamp(_: BudgetedLLMService, frame: Any) -> None:
            call.pushed.append((time.monotonic(), frame))

        steps: list[Any] = []
        for turn in range(1, turns + 1):
            steps += [rig.ask("what is twelve times seven"), lambda turn=turn: len(call.records) == turn]
        await call.run(steps)
    return call.records, call.first_words(), simulator


async def test_best_of_three_at_a_thousand_tokens_a_second_is_never_later_than_its_deadline() -> None:
    records, spoken, simulator = await simulated(8)
    assert len(records) == len(spoken) == 8
    for record, at in zip(records, spoken, strict=True):
        candidates = record.attempts[:3]
        assert {attempt.tier for attempt in candidates} == {"fast"}
        assert record.answer.vote is not None
        assert record.answer.deadline is not None
        picked = next(attempt for attempt in record.attempts if attempt.outcome == "spoken")
        # What answered in time was spoken in time; the simulator's own tail is no fault of the pick.
        assert at <= max(record.answer.deadline, (picked.first_clause or 0.0) + 0.05)
        assert all(attempt.usd for attempt in candidates if attempt.outcome != "failed")
    assert simulator is not None


async def test_a_reached_cap_ends_the_drafting() -> None:
    spending = Spending(Caps(per_call=1e-9, per_day=None), cheapest="fast", is_cheaper=True, day=None)
    records, _, _ = await simulated(2, spending)
    assert [len(record.attempts) for record in records] == [max(3, len(records[0].attempts)), 1]
    assert records[1].answer.policy == "capped"
    assert records[1].answer.vote is None
