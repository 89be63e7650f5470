"""The unmodified Anthropic SDK talks to the simulator's Messages endpoint."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic

from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.messages import FAST_BETA
from pipelines.lab.simulator.simulator import Simulator
from tests.pipelines.lab.simulator.simulated import ended

QUICK = "sim:steady?ttft_ms=20&tokens_per_s=2000"
STORY = "tell me a story"
WEATHER: Any = {
    "name": "get_weather",
    "description": "The weather somewhere.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


@asynccontextmanager
async def simulated(simulator: Simulator | None = None) -> AsyncIterator[tuple[Simulator, AsyncAnthropic]]:
    simulator = simulator or Simulator(seed=1)
    async with (
        serving(simulator) as endpoint,
        AsyncAnthropic(base_url=endpoint.root_url, api_key="none", max_retries=0) as client,
    ):
        yield simulator, client


async def ask(client: AsyncAnthropic, text: str = STORY, model: str = QUICK, **options: Any) -> list[Any]:
    asked: dict[str, Any] = {"model": model, "max_tokens": 500, "messages": [{"role": "user", "content": text}]}
    stream: Any = await client.beta.messages.create(**asked, stream=True, **options)
    return [event async for event in stream]


def kinds(events: Sequence[Any]) -> list[str]:
    """The types of the events, repetitions left out."""
    return [event.type for at, event in enumerate(events) if at == 0 or events[at - 1].type != event.type]


def text_of(events: Sequence[Any]) -> str:
    return "".join(e.delta.text for e in events if e.type == "content_block_delta" and e.delta.type == "text_delta")


async def test_a_stream_has_anthropics_events_in_their_order_and_the_usage() -> None:
    async with simulated() as (_, client):
        events = await ask(client, "what is seven times eight")
    order = ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"]
    assert kinds(events) == [*order, "message_stop"], "the SDK keeps pings to itself"
    assert text_of(events) == "7 times 8 is 56."
    assert events[0].message.usage.speed == "standard"
    assert events[0].message.usage.input_tokens > 4
    assert events[-2].delta.stop_reason == "end_turn"
    assert events[-2].usage.output_tokens > 4


async def test_pings_come_with_the_beginning_of_a_stream() -> None:
    body = {"model": QUICK, "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "hello"}]}
    async with simulated() as (_, client), httpx2.AsyncClient(trust_env=False) as http:
        headers = {"x-api-key": "none", "anthropic-version": "2023-06-01"}
        reply = await http.post(f"{str(client.base_url).rstrip('/')}/v1/messages", json=body, headers=headers)
    assert 'event: ping\ndata: {"type":"ping"}\n\n' in reply.text


async def test_without_streaming_the_message_is_sent_whole() -> None:
    async with simulated() as (_, client):
        reply = await client.messages.create(model=QUICK, max_tokens=5, messages=[{"role": "user", "content": STORY}])
    assert reply.stop_reason == "max_tokens"
    assert reply.usage.output_tokens == 5


async def test_a_tool_is_called_with_its_input_and_its_result_is_spoken() -> None:
    messages: list[Any] = [{"role": "user", "content": "What is the weather in Paris?"}]
    async with simulated() as (_, client):
        async with client.messages.stream(model=QUICK, max_tokens=99, messages=messages, tools=[WEATHER]) as stream:
            called = await stream.get_final_message()
        (use,) = called.content
        assert (called.stop_reason, use.type) == ("tool_use", "tool_use")
        assert (use.name, use.input) == ("get_weather", {"city": "paris"})
        result = {"type": "tool_result", "tool_use_id": use.id, "content": "Sunny, 20 degrees"}
        messages += [{"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]
        last = await client.messages.create(model=QUICK, max_tokens=99, messages=messages, tools=[WEATHER])
    assert last.content[0].text == "Here is what I found out. Sunny, 20 degrees."


async def test_a_model_that_thinks_does_so_in_a_block_of_its_own_before_it_speaks() -> None:
    async with simulated() as (simulator, client):
        events = await ask(client, thinking={"type": "adaptive"}, output_config={"effort": "low"})
        more = await ask(client, output_config={"effort": "medium"})
        await ask(client, thinking={"type": "disabled"}, output_config={"effort": "max"})
        thoughts = [exchange.thought_tokens for exchange in simulator.journal.exchanges]
    blocks = [event.content_block.type for event in events if event.type == "content_block_start"]
    assert blocks == ["thinking", "text"]
    assert thoughts == [20, 60, 0]
    assert text_of(events) == text_of(more)
    assert "I should answer" not in text_of(events)


@pytest.mark.parametrize("needs_header", [True, False])
async def test_the_fast_speed_needs_its_header_or_not_as_set(needs_header: bool) -> None:
    async with simulated(Simulator(seed=1, fast_needs_header=needs_header)) as (simulator, client):
        events = await ask(client, speed="fast", betas=[FAST_BETA])
        assert events[0].message.usage.speed == "fast"
        assert simulator.journal.exchanges[-1].speed == "fast"
        if needs_header:
            with pytest.raises(anthropic.BadRequestError, match=FAST_BETA):
                await ask(client, speed="fast")
        else:
            assert (await ask(client, speed="fast"))[0].message.usage.speed == "fast"


async def test_both_speeds_have_prefix_caches_of_their_own() -> None:
    cached: Any = [{"type": "text", "text": "Be brief. " * 400, "cache_control": {"type": "ephemeral"}}]
    async with simulated() as (_, client):
        read = []
        for speed in ("standard", "standard", "fast", "fast", "standard"):
            usage = (await ask(client, speed=speed, betas=[FAST_BETA], system=cached))[0].message.usage
            assert usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens > 100
            read.append(usage.cache_read_input_tokens > 0)
        unmarked = (await ask(client, system="Be brief. " * 400))[0].message.usage
    assert read == [False, True, False, True, True]
    assert (unmarked.cache_read_input_tokens, unmarked.cache_creation_input_tokens) == (0, 0), "nothing asked for it"


async def test_the_fast_pool_counts_down_and_refuses_while_the_standard_one_serves() -> None:
    now = [0.0]
    async with simulated(Simulator(seed=1, answer="word " * 29 + "word", clock=lambda: now[0])) as (_, client):
        model = f"{QUICK}&fast_tokens=50"
        left = []
        for _ in range(2):
            reply = await client.beta.messages.with_raw_response.create(
                model=model,
                max_tokens=100,
                messages=[{"role": "user", "content": STORY}],
                speed="fast",
                betas=[FAST_BETA],
            )
            left.append(int(reply.headers["anthropic-fast-output-tokens-remaining"]))
        assert left == [50, 20]
        with pytest.raises(anthropic.RateLimitError) as refused:
            await ask(client, model=model, speed="fast", betas=[FAST_BETA])
        headers = refused.value.response.headers
        assert 0 < int(headers["retry-after"]) <= 60
        assert headers["anthropic-fast-output-tokens-remaining"] == "0"
        assert headers["anthropic-fast-output-tokens-reset"].endswith("Z")
        assert text_of(await ask(client, model=model))
        now[0] += 60
        assert text_of(await ask(client, model=model, speed="fast", betas=[FAST_BETA])), "the pool has filled up again"


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        ("401", 401, "authentication_error"),
        ("402", 402, "billing_error"),
        ("low-credit", 400, "invalid_request_error"),
        ("403", 403, "permission_error"),
        ("404", 404, "not_found_error"),
        ("429", 429, "rate_limit_error"),
        ("529", 529, "overloaded_error"),
        ("overload-event", 200, "overloaded_error"),
        ("midfail", 200, "api_error"),
    ],
)
async def test_an_error_has_anthropics_form_and_may_come_inside_a_stream(fault: str, status: int, kind: str) -> None:
    async with simulated() as (simulator, client):
        with pytest.raises(anthropic.APIStatusError) as failed:
            await ask(client, model=f"{QUICK}&fault={fault}")
        error: Any = failed.value
        assert (error.status_code, error.body["error"]["type"]) == (status, kind)
        await ended(simulator.journal.exchanges[-1])


async def test_requests_that_cannot_be_served_are_refused_and_explained() -> None:
    body = {"model": QUICK, "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
    async with simulated() as (_, client):
        for wrong, words in [
            ({"messages": []}, "at least one message"),
            ({"max_tokens": 0}, "max_tokens"),
            ({"messages": [{"role": "system", "content": "x"}]}, "needs a role"),
            ({"messages": [{"role": "user", "content": [{"type": "video"}]}]}, "content block video"),
            ({"speed": "warp"}, "'standard' or 'fast', not warp"),
        ]:
            with pytest.raises(anthropic.BadRequestError, match=words):
                await client.post("/v1/messages", body={**body, **wrong}, cast_to=object)
        with pytest.raises(anthropic.NotFoundError, match="no simulated model"):
            await ask(client, model="claude-opus-3")
        async with httpx2.AsyncClient(trust_env=False) as http:
            reply = await http.post(f"{str(client.base_url).rstrip('/')}/v1/messages", json=body)
    assert (reply.status_code, reply.json()["error"]["type"]) == (401, "authentication_error")


async def test_a_closed_stream_is_recorded_as_a_cancellation() -> None:
    async with simulated() as (simulator, client):
        stream = await client.messages.create(
            model="sim:steady?ttft_ms=20&tokens_per_s=20",
            max_tokens=500,
            messages=[{"role": "user", "content": STORY}],
            stream=True,
        )
        async for event in stream:
            if event.type == "content_block_delta":
                break
        await stream.close()
        exchange = await ended(simulator.journal.exchanges[0])
    assert (exchange.outcome, exchange.wire) == ("cancelled", "messages")


async def test_decoding_is_faster_at_the_fast_speed_in_the_records_of_real_requests() -> None:
    async with simulated(Simulator(seed=1, answer="word " * 60)) as (simulator, client):
        model = "sim:steady?ttft_ms=150&tokens_per_s=100"
        await ask(client, model=model)
        await asyncio.gather(ask(client, model=model), ask(client, model=model, speed="fast", betas=[FAST_BETA]))
        _, standard, fast = simulator.journal.exchanges
    first = [exchange.first_text - exchange.requested for exchange in (standard, fast)]  # type: ignore[operator]
    decode = [exchange.ended - exchange.first_text for exchange in (standard, fast)]  # type: ignore[operator]
    assert first[1] == pytest.approx(first[0], abs=0.1)
    assert decode[0] > 1.7 * decode[1]
