"""A tier on Anthropic's Messages, with the real SDK against the simulator."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pipecat.frames.frames import LLMThoughtTextFrame

from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.simulator import Simulator
from tests.voice.llm.wires.responses.rig import CAR, FAST, PROMPT, SLOW, Call, ended, in_call, until, weather
from voice.frames import AnswerTextFrame
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.wires.anthropic.service import FAST_BETA, AnthropicService, make_client
from voice.llm.wires.anthropic.speed import FastPool

LONG_PROMPT = f"{PROMPT} " * 12


@asynccontextmanager
async def calling(
    model: str = FAST, *, sim: Simulator | None = None, silence: float = 5.0, calls: int = 1, **options: Any
) -> AsyncIterator[list[Call]]:
    """Calls with one client and one fast pool."""
    simulator = sim or Simulator(seed=1)
    settings: dict[str, Any] = {"model": model, "prompt": LONG_PROMPT, "max_tokens": 200, "silence": silence}
    async with serving(simulator) as endpoint:
        client = make_client(base_url=f"{endpoint.root_url}/with/model=steady", api_key="none", silence=silence)
        settings |= {"where": "the simulator", "pool": FastPool(), **options}
        made = []
        try:
            async with _all(client, simulator, settings, calls, made):
                yield made
        finally:
            await client.close()


@asynccontextmanager
async def _all(client: Any, simulator: Simulator, settings: Any, calls: int, made: list[Call]) -> AsyncIterator[None]:
    if len(made) == calls:
        yield
        return
    async with in_call(AnthropicService(client, **settings), simulator) as call:
        made.append(call)
        async with _all(client, simulator, settings, calls, made):
            yield


def record(attempt: LLMRequest) -> Any:
    return attempt.record(response=0)


async def test_an_answer_is_streamed_with_its_usage_and_the_served_speed() -> None:
    # Shorter prompts are not billed as cached.
    async with calling(prompt=f"{PROMPT} " * 80) as (call,):
        first = await call.ask(CAR)
        second = await call.ask("what did i ask you to remember")
    assert "level three" in call.messages[-1]["content"]
    one, two = record(first), record(second)
    assert (one.speed, one.served, one.slowed, one.is_served_otherwise) == (None, "standard", None, False)
    assert one.request <= one.alive <= one.first_token
    assert (one.finish, one.is_shortened) == ("end_turn", False)
    assert one.tokens.cached == 0
    assert 100 < two.tokens.cached < two.tokens.prompt, "the prompt and the first turn were cached"
    assert two.tokens.completion > 4
    assert not two.tokens.estimated


async def test_the_fast_speed_is_asked_for_with_its_header_served_and_recorded() -> None:
    async with calling(speed="fast") as (call,):
        told = record(await call.ask(CAR))
        assert call.requests[-1].speed == "fast"
    assert (told.speed, told.served, told.slowed) == ("fast", "fast", None)
    async with calling(speed="fast", beta_header="") as (call,):
        refused = record(await call.ask(CAR))
    assert FAST_BETA in refused.failed
    async with calling(speed="fast", beta_header="", sim=Simulator(seed=1, fast_needs_header=False)) as (call,):
        assert record(await call.ask(CAR)).served == "fast"


@pytest.mark.parametrize("fault", ["429", "529", "overload-event"])
async def test_a_fast_pool_without_room_is_left_for_the_rest_of_the_call_and_said_once(
    fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(f"{FAST}&fault={fault}&fault_speed=fast", speed="fast", calls=2) as (call, other):
        first, second = await call.ask(CAR), await call.ask("what time is it")
        elsewhere = await other.ask(CAR)
        speeds = [exchange.speed for exchange in call.requests]
        assert call.tier.usable
    assert speeds == ["fast", None, None, None], "refused once, then never asked again, by no call"
    told = record(first)
    assert first.state.outcome == "complete", "the same turn was answered"
    assert (told.speed, told.served, told.is_served_otherwise) == ("fast", "standard", True)
    assert told.slowed.startswith("the fast speed was refused: ")
    later = record(second)
    assert (later.speed, later.served, later.slowed) == ("standard", "standard", None)
    assert record(elsewhere).slowed == told.slowed, "each call says so once"
    assert len([line for line in caplog.messages if "standard speed for the rest of the call" in line]) == 2


async def test_an_overload_after_words_fails_the_attempt_and_the_call_goes_on_at_standard_speed() -> None:
    async with calling(f"{FAST}&fault=overload-event&after=3&fault_speed=fast", speed="fast") as (call,):
        broken = await call.ask("tell me a story")
        whole = await call.ask(CAR)
    assert record(broken).outcome == "failed"
    assert "reported an error in the middle of its answer: Overloaded" in record(broken).failed
    assert (record(whole).speed, record(whole).failed) == ("standard", None)


async def test_headers_that_count_down_end_the_fast_speed_before_it_refuses(caplog: pytest.LogCaptureFixture) -> None:
    answer = " ".join(["word"] * 20) + "."
    now = [0.0]
    simulator = Simulator(seed=1, answer=answer, clock=lambda: now[0])
    async with calling(f"{FAST}&fast_tokens=120", sim=simulator, speed="fast", max_tokens=20, prompt="Brief.") as (
        call,
    ):
        attempts = [await call.ask(f"turn {turn}") for turn in range(8)]
        exchanges = list(call.requests)
    assert all(exchange.outcome == "completed" for exchange in exchanges), "the last fast request was not refused"
    speeds = [record(attempt).speed for attempt in attempts]
    assert speeds == ["fast"] * speeds.count("fast") + ["standard"] * speeds.count("standard")
    assert speeds.count("fast") == 6, "and all that the limit holds was used"
    (news,) = [record(attempt).slowed for attempt in attempts if record(attempt).slowed]
    assert news.startswith("the fast speed is left before it refuses: its limit of output tokens is nearly used up (")
    assert len([line for line in caplog.messages if "standard speed for the rest of the call" in line]) == 1


async def test_a_provider_that_serves_another_speed_than_was_asked_for_is_on_record() -> None:
    async with calling(f"{FAST}&serves=standard", speed="fast") as (call,):
        told = record(await call.ask(CAR))
    assert (told.speed, told.served, told.slowed, told.is_served_otherwise) == ("fast", "standard", None, True)


async def test_pings_are_no_progress() -> None:
    async with calling(f"{FAST}&fault=keepalive", silence=0.4) as (call,):
        begun = time.monotonic()
        attempt = await call.ask(CAR)
        assert time.monotonic() - begun > 0.3
        assert record(attempt).failed == f"{FAST}&fault=keepalive at the simulator did not answer in time."
        await until(lambda: call.requests[-1].outcome == "cancelled")


@pytest.mark.parametrize(
    ("fault", "words", "usable"),
    [
        ("401", "answered HTTP 401: invalid x-api-key (simulated).", False),
        ("402", "answered HTTP 402: Your credit balance is too low", True),
        ("low-credit", "answered HTTP 400: Your credit balance is too low", False),
        ("403", "answered HTTP 403: Your API key does not have permission", False),
        ("404", "answered HTTP 404: model: it has been retired", False),
        ("429", "answered HTTP 429: This request would exceed", True),
        ("500", "answered HTTP 500: Internal server error", True),
        ("529", "answered HTTP 529: Overloaded (simulated).", True),
        ("midfail", "reported an error in the middle of its answer: Internal server error", True),
        ("overload-event", "reported an error in the middle of its answer: Overloaded", True),
        ("refuse", "broke the connection off.", True),
    ],
)
async def test_a_failure_is_one_sentence_at_once(fault: str, words: str, usable: bool) -> None:
    async with calling(f"{FAST}&fault={fault}") as (call,):
        attempt = await call.ask(CAR)
        assert f" at the simulator {words}" in record(attempt).failed
        assert call.tier.usable is usable
        assert len(call.requests) == 1, "the SDK does not try again by itself"
        rest = attempt.note.rest
    assert (rest is not None) is (fault in ("402", "404", "429"))
    assert rest is None or rest.seconds == {"402": 30.0, "404": 3600.0, "429": 3.0}[fault]


async def test_thinking_is_never_spoken_and_effort_goes_out_with_the_request() -> None:
    async with calling(effort="low") as (call,):
        call.messages = [{"role": "user", "content": CAR}]
        task, attempt = call.start()
        await task
        assert call.requests[-1].thought_tokens == 20
    frames = attempt.take()
    assert any(isinstance(frame, LLMThoughtTextFrame) for frame in frames)
    assert "".join(f.text for f in frames if isinstance(f, AnswerTextFrame)).startswith("I will remember")


async def test_a_tool_call_waits_to_be_chosen_and_its_result_is_spoken() -> None:
    async with calling() as (call,):
        call.tools = weather()
        asked = await call.ask("what is the weather in paris")
        (use,) = asked.calls
        assert (use.function_name, use.arguments) == ("get_weather", {"city": "paris"})
        call.messages += [
            {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": use.tool_call_id,
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city": "paris"}'},
                    }
                ],
            },
            {"role": "tool", "content": "Sunny, 20 degrees", "tool_call_id": use.tool_call_id},
        ]
        answer = await call.ask()
    assert "Sunny, 20 degrees" in call.messages[-1]["content"]
    assert record(answer).failed is None


async def test_a_cancelled_request_reaches_the_server_and_the_next_one_finds_a_connection_open() -> None:
    async with calling(SLOW) as (call,):
        await until(lambda: len(call.simulator.connections) >= 1)
        attempt = await call.interrupt("tell me a story")
        assert (await ended(call.requests[0])).outcome == "cancelled"
        told = record(attempt)
        assert told.outcome == "cancelled"
        await until(lambda: len(call.simulator.connections) == 1)
        await asyncio.sleep(0.05)
        call.use(FAST)
        await call.ask(CAR)
        assert not call.requests[-1].opened


async def test_a_request_outside_a_turn_is_answered_too() -> None:
    async with calling() as (call,):
        call.messages = [{"role": "user", "content": "what is seven times eight"}]
        assert await call.tier.service.run_inference(call.context) == "7 times 8 is 56."
