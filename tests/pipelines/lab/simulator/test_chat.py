"""The unmodified OpenAI SDK talks to the simulator's Chat Completions endpoint."""

import asyncio

import openai
import pytest
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionMessageParam,
)
from openai.types.chat.chat_completion_message_function_tool_call_param import Function
from pipecat.frames.frames import InterruptionFrame, LLMContextFrame, LLMTextFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.tests.utils import SleepFrame, run_test

from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.simulator import Simulator
from tests.pipelines.lab.simulator.simulated import FAST, ended, simulated, user

WEATHER: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather somewhere.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
STORY = user("tell me a story")


def text_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


async def test_a_stream_has_the_role_the_text_the_finish_reason_and_the_usage_in_this_order() -> None:
    async with simulated() as (_, client):
        stream = await client.chat.completions.create(
            model=FAST,
            messages=user("what is seven times eight"),
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert not chunks[0].choices[0].delta.content
    assert text_of(chunks) == "7 times 8 is 56."
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]][-2:] == [None, "stop"]
    assert {chunk.model for chunk in chunks} == {"sim:steady"}
    assert chunks[-1].choices == []
    assert all(chunk.usage is None for chunk in chunks[:-1])
    usage = chunks[-1].usage
    assert usage is not None
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens > 8


async def test_without_streaming_the_answer_is_sent_whole() -> None:
    async with simulated() as (_, client):
        reply = await client.chat.completions.create(model=FAST, messages=STORY)
    assert len(reply.choices[0].message.content or "") > 200
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert reply.usage.completion_tokens > 50


async def test_a_conversation_is_remembered_because_the_request_carries_it() -> None:
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "remember that my car is on level three"},
        {"role": "assistant", "content": "I will remember that your car is on level three."},
        {"role": "user", "content": [{"type": "text", "text": "where is my car"}]},
    ]
    async with simulated() as (_, client):
        reply = await client.chat.completions.create(model=FAST, messages=messages)
    assert reply.choices[0].message.content == "Your car is on level three."


async def test_a_limit_of_one_token_is_obeyed_and_reported() -> None:
    async with simulated() as (_, client):
        reply = await client.chat.completions.create(model=FAST, messages=STORY, max_tokens=1)
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage is not None
    assert reply.usage.completion_tokens == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_a_tool_that_the_user_names_is_called_and_its_result_is_spoken(stream: bool) -> None:
    messages = user("What is the weather in Paris?")
    async with simulated() as (_, client):
        reply: ChatCompletion
        if stream:
            async with client.chat.completions.stream(model=FAST, messages=messages, tools=[WEATHER]) as events:
                reply = await events.get_final_completion()
        else:
            reply = await client.chat.completions.create(model=FAST, messages=messages, tools=[WEATHER])
        assert reply.choices[0].finish_reason == "tool_calls"
        (call,) = reply.choices[0].message.tool_calls or []
        assert isinstance(call, ChatCompletionMessageFunctionToolCall)
        assert (call.function.name, call.function.arguments) == ("get_weather", '{"city":"paris"}')
        function: Function = {"name": call.function.name, "arguments": call.function.arguments}
        messages += [
            {"role": "assistant", "tool_calls": [{"id": call.id, "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": call.id, "content": "Sunny, 20 degrees"},
        ]
        last = await client.chat.completions.create(model=FAST, messages=messages, tools=[WEATHER])
    assert last.choices[0].message.content == "Here is what I found out. Sunny, 20 degrees."


async def test_a_tool_is_not_called_when_the_request_forbids_it() -> None:
    messages = user("what is the weather in paris")
    async with simulated() as (_, client):
        reply = await client.chat.completions.create(model=FAST, messages=messages, tools=[WEATHER], tool_choice="none")
    assert "simulated model" in (reply.choices[0].message.content or "")


async def test_models_are_listed_under_simulated_names() -> None:
    async with simulated() as (simulator, client):
        names = [model.id async for model in client.models.list()]
    assert set(names) == {f"sim:{name}" for name in simulator.profiles}
    assert {"sim:sonnet", "sim:groq-fast"} <= set(names)


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        ("gpt-4o", openai.NotFoundError, "There is no simulated model gpt-4o"),
        ("sim:steady?colour=red", openai.BadRequestError, "no option colour"),
        ("sim:steady?ttft_ms=soon", openai.BadRequestError, "a number above 0"),
        ("sim:steady?fault=rain", openai.BadRequestError, "There is no fault rain"),
    ],
)
async def test_a_wrong_model_name_is_refused_and_explained(model: str, error: type[Exception], words: str) -> None:
    async with simulated() as (_, client):
        with pytest.raises(error, match=words):
            await client.chat.completions.create(model=model, messages=STORY)


async def test_requests_that_cannot_be_served_are_refused_and_explained() -> None:
    async with simulated() as (_, client):
        for body, words in [
            ({"model": FAST}, "needs messages"),
            ({"model": FAST, "messages": [{"role": "ghost"}]}, "needs a role"),
            ({"model": FAST, "messages": STORY, "n": 2}, "one choice"),
            ({"model": FAST, "messages": STORY, "tools": "all"}, "list of objects"),
            ([], "JSON object"),
        ]:
            with pytest.raises(openai.BadRequestError, match=words):
                await client.post("/chat/completions", body=body, cast_to=object)


async def test_a_closed_stream_is_recorded_as_a_cancellation_with_its_time() -> None:
    async with simulated() as (simulator, client):
        stream = await client.chat.completions.create(
            model="sim:steady?ttft_ms=20&tokens_per_s=20", messages=STORY, stream=True
        )
        async for chunk in stream:
            if chunk.choices[0].delta.content:
                break
        await stream.close()
        exchange = await ended(simulator.journal.exchanges[0])
    assert exchange.outcome == "cancelled"
    assert exchange.ended is not None
    assert exchange.first_text is not None
    assert exchange.requested < exchange.first_text <= exchange.ended
    assert 0 < exchange.tokens_sent < 20


async def test_a_cancellation_before_any_text_is_recorded(caplog: pytest.LogCaptureFixture) -> None:
    async with simulated() as (simulator, client):
        with caplog.at_level("INFO", logger="pipelines.lab.simulator"):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await client.chat.completions.create(model="sim:steady?ttft_ms=60000", messages=STORY, stream=True)
            exchange = await ended(simulator.journal.exchanges[0])
    assert (exchange.outcome, exchange.tokens_sent) == ("cancelled", 0)
    assert "sim:steady over chat, connection 1: cancelled by the client" in caplog.text


async def test_a_connection_is_reused_and_only_its_first_request_waits_for_the_opening() -> None:
    async with simulated() as (simulator, client):
        for _ in range(3):
            await client.chat.completions.create(model=FAST, messages=STORY)
        assert [(e.connection, e.opened) for e in simulator.journal.exchanges] == [(1, True), (1, False), (1, False)]
        assert simulator.connections.opened == 1


async def test_listing_the_models_opens_the_connection_for_later_requests() -> None:
    async with simulated() as (simulator, client):
        start = simulator.clock()
        await client.models.list(extra_query={"model": "sonnet"})
        assert simulator.clock() - start >= 3 * simulator.profiles["sonnet"].rtt
        await client.chat.completions.create(model=FAST, messages=STORY)
        (exchange,) = simulator.journal.exchanges
    assert not exchange.opened


async def test_the_path_of_the_base_url_may_contain_options() -> None:
    async with simulated() as (simulator, client):
        base = str(client.base_url).replace("/v1/", "/with/fault=429&ttft_ms=20/v1/")
        with pytest.raises(openai.RateLimitError):
            await client.with_options(base_url=base).chat.completions.create(model="sim:sonnet", messages=STORY)
        with pytest.raises(openai.RateLimitError):
            await client.with_options(base_url=base).models.list()
        (exchange,) = simulator.journal.exchanges
    assert (exchange.model, exchange.fault) == ("sim:sonnet", "429")


async def test_the_prefix_cache_fills_as_a_conversation_grows() -> None:
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "You answer in short sentences, always. " * 200}
    ]
    async with simulated() as (simulator, client):
        for text in ("hello", "what is two plus two"):
            messages.append({"role": "user", "content": text})
            reply = await client.chat.completions.create(model=FAST, messages=messages)
            messages.append({"role": "assistant", "content": reply.choices[0].message.content or ""})
        first, second = simulator.journal.exchanges
    assert first.cached_tokens == 0
    assert second.cached_tokens == first.input_tokens
    assert reply.usage is not None
    assert reply.usage.prompt_tokens_details is not None
    assert reply.usage.prompt_tokens_details.cached_tokens == second.cached_tokens


async def test_pipecats_service_speaks_the_answer_and_an_interruption_is_a_cancellation() -> None:
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        llm = OpenAILLMService(
            api_key="none",
            base_url=endpoint.base_url,
            settings=OpenAILLMService.Settings(model="sim:steady?ttft_ms=20&tokens_per_s=10"),
        )
        ask = [
            LLMContextFrame(LLMContext([{"role": "user", "content": text}])) for text in ("tell me a story", "hello")
        ]
        frames = [ask[0], SleepFrame(2), InterruptionFrame(), SleepFrame(0.5), ask[1], SleepFrame(3)]
        down, _ = await run_test(llm, frames_to_send=frames, start_timeout=30)
    spoken = "".join(frame.text for frame in down if isinstance(frame, LLMTextFrame))
    assert "It is good to hear you." in spoken
    first, second = simulator.journal.exchanges
    assert (first.outcome, second.outcome) == ("cancelled", "completed")
    assert 0 < first.tokens_sent < 40


async def test_the_fast_service_tier_is_reported_as_served() -> None:
    async with simulated() as (_, client):
        reply = await client.chat.completions.create(model=FAST, messages=STORY, service_tier="fast")
    assert reply.service_tier == "priority"


async def test_the_first_text_is_sent_at_the_requested_time() -> None:
    async with simulated() as (simulator, client):
        for wanted in (1500, 20):
            await client.chat.completions.create(model=f"sim:steady?ttft_ms={wanted}", messages=STORY)
        slow, quick = simulator.journal.exchanges
    assert slow.first_text is not None
    assert slow.first_text - slow.requested >= 1.5
    assert quick.first_text is not None
    assert quick.first_text - quick.requested < 1.5
