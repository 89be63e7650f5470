"""Service tiers, queue times and why an answer ended on OpenAI's wires, with the real SDK against the simulator."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.simulator import Simulator
from tests.voice.llm.wires.responses.rig import CAR, FAST, PROMPT, Call, calling, in_call
from voice.llm.wires.chat.service import ChatService, make_client


@asynccontextmanager
async def chatting(model: str = FAST, **options: Any) -> AsyncIterator[Call]:
    simulator = Simulator(seed=1, answer="All right. I have noted that for you.")
    settings: dict[str, Any] = {"model": model, "prompt": PROMPT, "max_tokens": 50, "where": "the simulator", **options}
    async with serving(simulator) as endpoint:
        client = make_client(base_url=endpoint.base_url, api_key="none", silence=5.0)
        async with in_call(ChatService(client, **settings), simulator) as call:
            yield call
        await client.close()


async def speeds(call: Call) -> tuple[str | None, str | None, bool, str | None]:
    """What a request asked for, what the record says was served, whether that is another, and what really was."""
    told = (await call.ask(CAR)).record(response=0)
    assert told.failed is None
    return told.speed, told.served, told.is_served_otherwise, call.requests[-1].speed


@pytest.mark.parametrize("wire", [chatting, calling])
@pytest.mark.parametrize(
    ("speed", "model", "expected"),
    [
        (None, FAST, (None, "default", False, None)),
        ("default", FAST, ("default", "default", False, None)),
        ("auto", FAST, ("auto", "default", False, None)),
        ("fast", FAST, ("fast", "priority", False, "priority")),
        ("ultrafast", FAST, ("ultrafast", "ultrafast", False, "ultrafast")),
        ("fast", f"{FAST}&serves=default", ("fast", "default", True, "default")),
    ],
)
async def test_the_service_tier_is_asked_for_and_the_served_one_is_on_record(
    wire: Any, speed: str | None, model: str, expected: tuple[Any, ...]
) -> None:
    async with wire(model, speed=speed) as call:
        if wire is calling:
            await call.ready()
        assert await speeds(call) == expected


@pytest.mark.parametrize(("model", "is_told"), [("sim:groq-fast", True), ("sim:cerebras", True), ("sim:haiku", False)])
async def test_the_time_in_the_providers_queue_is_on_record_where_it_says_so(model: str, is_told: bool) -> None:
    async with chatting(f"{model}?ttft_ms=60") as call:
        told = (await call.ask(CAR)).record(response=0)
    assert (told.queued is not None) is is_told
    assert told.queued is None or 0 <= told.queued < 1


async def test_an_answer_that_says_it_is_simulated_is_on_record_as_such() -> None:
    async with chatting() as call:
        assert (await call.ask(CAR)).record(response=0).simulated


async def test_a_tier_whose_requests_run_out_asks_to_be_left_alone_before_it_refuses() -> None:
    async with chatting(f"{FAST}&requests=3") as call:
        attempts = []
        while not attempts or attempts[-1].note.rest is None:
            attempts.append(await call.ask(CAR))
        assert [exchange.outcome for exchange in call.requests] == ["completed"] * 3
        refused = await call.ask(CAR)
    assert [attempt.state.outcome for attempt in attempts] == ["complete"] * 3
    rest = attempts[-1].note.rest
    assert rest is not None
    assert 0 < rest.seconds <= 60
    assert refused.state.outcome == "failed", "as it would have been without a warning"
    assert refused.note.rest is not None
    assert refused.note.rest.why.startswith("its provider answered HTTP 429 and asked for this wait")


async def test_effort_goes_out_with_the_request() -> None:
    async with chatting(effort="low") as call:
        params = call.tier.service.build_chat_completion_params({"messages": [], "tools": [], "tool_choice": "auto"})  # type: ignore[attr-defined]
        assert params["reasoning_effort"] == "low"
    async with calling(effort="low") as call:
        await call.ready()
        assert (await call.ask(CAR)).state.outcome == "complete"
        assert (await call.tier.service._params(call.context))["reasoning"] == {"effort": "low"}  # type: ignore[attr-defined]


@pytest.mark.parametrize("wire", [chatting, calling])
async def test_the_speed_can_be_changed_in_mid_call(wire: Any) -> None:
    async with wire() as call:
        if wire is calling:
            await call.ready()
        assert (await speeds(call))[0] is None
        call.tier.service.use_speed("fast")
        assert await speeds(call) == ("fast", "priority", False, "priority")
        call.tier.service.use_speed(None)
        assert await speeds(call) == (None, "default", False, None)


@pytest.mark.parametrize(("wire", "cut"), [(chatting, "length"), (calling, "max_output_tokens")])
async def test_why_an_answer_ended_is_on_record(wire: Any, cut: str) -> None:
    async with wire() as call:
        whole = (await call.ask(CAR)).record(response=0)
    async with wire(max_tokens=3) as call:
        short = (await call.ask(CAR)).record(response=0)
    assert (whole.finish, whole.is_shortened) == ("stop", False)
    assert (short.finish, short.is_shortened) == (cut, True)
