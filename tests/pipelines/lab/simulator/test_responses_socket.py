"""The unmodified OpenAI SDK and pipecat's service talk to the simulator's Responses socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pipecat.frames.frames import (
    ErrorFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMTextFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.openai.responses.llm import OpenAIResponsesLLMService
from pipecat.tests.utils import SleepFrame, run_test

from pipelines.lab.simulator.app import Endpoint, serving
from pipelines.lab.simulator.simulator import Simulator
from tests.pipelines.lab.simulator.simulated import FAST, LIMIT, ended, simulated

SLOW = "sim:steady?ttft_ms=60000"
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


@asynccontextmanager
async def connected(simulator: Simulator | None = None, **query: str) -> AsyncIterator[tuple[Simulator, Any]]:
    async with (
        simulated(simulator) as (serving_simulator, client),
        client.responses.connect(extra_query={"model": "sim:steady", **query}) as socket,
    ):
        yield serving_simulator, socket


async def until_end(socket: Any) -> list[Any]:
    """The events up to the next terminal one."""
    events = []
    async with asyncio.timeout(LIMIT):
        while True:
            events.append(await socket.recv())
            if events[-1].type in ("response.completed", "response.failed", "response.incomplete", "error"):
                return events


async def until(socket: Any, kind: str) -> Any:
    async with asyncio.timeout(LIMIT):
        while (event := await socket.recv()).type != kind:
            pass
    return event


def text_of(events: list[Any]) -> str:
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


async def test_events_have_openais_order_and_are_numbered_from_zero() -> None:
    async with connected() as (_, socket):
        await socket.response.create(model=FAST, input="what is seven times eight", instructions="Be brief.")
        events = await until_end(socket)
    kinds = [event.type for event in events]
    deltas = kinds.count("response.output_text.delta")
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        *["response.output_text.delta"] * deltas,
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert text_of(events) == events[-1].response.output_text == "7 times 8 is 56."
    assert events[-1].response.model == "sim:steady"
    assert events[-1].response.usage.output_tokens > 4
    assert len({event.response.id for event in events if hasattr(event, "response")}) == 1


async def test_a_conversation_continues_from_the_previous_response_and_requests_do_not_grow() -> None:
    texts = ["remember that my car is on level three", "hello", "hello", "where is my car"]
    async with connected() as (simulator, socket):
        previous: dict[str, str] = {}
        for text in texts:
            await socket.response.create(model=FAST, input=text, **previous)
            events = await until_end(socket)
            previous = {"previous_response_id": events[-1].response.id}
        exchanges = list(simulator.journal.exchanges)
    assert text_of(events) == "Your car is on level three."
    assert exchanges[1].bytes_in < exchanges[2].bytes_in + 10
    cached = [exchange.cached_tokens or 0 for exchange in exchanges]
    assert cached[3] > cached[1] > 0
    assert {exchange.connection for exchange in exchanges} == {1}
    assert [exchange.opened for exchange in exchanges] == [True, False, False, False]


async def test_only_the_latest_response_of_a_lane_is_kept_and_the_socket_goes_on_after_the_error() -> None:
    async with connected() as (_, socket):
        ids = []
        for _turn in range(2):
            await socket.response.create(model=FAST, input="hello")
            ids.append((await until_end(socket))[-1].response.id)
        await socket.response.create(model=FAST, input="hello", previous_response_id=ids[0])
        (error,) = await until_end(socket)
        await socket.response.create(model=FAST, input="hello", previous_response_id=ids[1])
        assert (await until_end(socket))[-1].type == "response.completed"
    assert error.type == "error"
    assert error.status == 400
    assert error.error.code == "previous_response_not_found"
    assert error.error.param == "previous_response_id"


async def test_a_warm_up_gives_an_id_to_continue_from_and_no_output() -> None:
    async with connected() as (_, socket):
        await socket.response.create(model=SLOW, generate=False, input="remember that my dog is called rex")
        warm = await until_end(socket)
        assert [event.type for event in warm] == ["response.created", "response.in_progress", "response.completed"]
        assert warm[-1].response.output == []
        assert warm[-1].response.usage.input_tokens > 0
        await socket.response.create(
            model=FAST, input="what do you remember", previous_response_id=warm[-1].response.id
        )
        assert "rex" in text_of(await until_end(socket)).lower()


async def test_a_warm_up_is_recorded_and_a_silent_server_does_not_answer_it() -> None:
    async with connected() as (simulator, socket):
        await socket.response.create(model=FAST, generate=False, input=[])
        await until_end(socket)
        await socket.response.create(model=f"{FAST}&fault=silent", generate=False, input=[])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await socket.recv()
        warm, silent = simulator.journal.exchanges
    assert (warm.warm_up, warm.outcome) == (True, "completed")
    assert silent.warm_up
    assert silent.outcome != "completed"


async def test_a_server_may_forget_the_conversation_when_a_response_is_cancelled() -> None:
    async with connected(Simulator(seed=1, on_cancel="forget")) as (_, socket):
        await socket.response.create(model=FAST, input="hello")
        done = (await until_end(socket))[-1]
        await socket.response.create(model=SLOW, input="hello")
        created = await until(socket, "response.created")
        await socket.send({"type": "response.cancel", "response_id": created.response.id})
        await until_end(socket)
        await socket.response.create(model=FAST, input="hello", previous_response_id=done.response.id)
        assert (await until_end(socket))[-1].error.code == "previous_response_not_found"


async def test_a_server_may_not_know_how_to_cancel() -> None:
    async with connected(Simulator(seed=1, on_cancel="unknown")) as (simulator, socket):
        await socket.response.create(model=f"{FAST}&tokens_per_s=50", input="what is two plus two")
        created = await until(socket, "response.created")
        await socket.send({"type": "response.cancel", "response_id": created.response.id})
        assert "event response.cancel" in (await until(socket, "error")).error.message
        assert (await until_end(socket))[-1].type == "response.completed"
        assert simulator.journal.exchanges[0].outcome == "completed"


async def test_a_cancelled_response_ends_at_once_and_the_next_is_clean() -> None:
    async with connected() as (simulator, socket):
        await socket.response.create(model=SLOW, input="hello")
        created = await until(socket, "response.created")
        await socket.send({"type": "response.cancel", "response_id": created.response.id})
        last = (await until_end(socket))[-1]
        assert (last.type, last.response.status) == ("response.incomplete", "cancelled")
        assert last.response.usage is None
        await socket.send({"type": "response.cancel", "response_id": created.response.id})
        await socket.response.create(model=FAST, input="what is two plus two")
        assert text_of(await until_end(socket)) == "2 plus 2 is 4."
        cancelled, answered = simulator.journal.exchanges
    assert (cancelled.outcome, cancelled.tokens_sent) == ("cancelled", 0)
    assert answered.outcome == "completed"


async def test_a_closed_socket_cancels_its_responses() -> None:
    async with connected() as (simulator, socket):
        await socket.response.create(model=SLOW, input="hello")
        await until(socket, "response.created")
        await socket.close()
        assert (await ended(simulator.journal.exchanges[0])).outcome == "cancelled"
        async with asyncio.timeout(LIMIT):
            while len(simulator.connections):
                await asyncio.sleep(0.005)


async def test_lanes_run_at_the_same_time_and_their_events_name_the_lane() -> None:
    async with connected() as (_, socket):
        await socket.response.create(model=SLOW, input="hello", stream_id="slow")
        await until(socket, "response.in_progress")
        await socket.response.create(model=FAST, input="what is two plus two", stream_id="quick")
        events = await until_end(socket)
    assert {event.stream_id for event in events} == {"quick"}
    assert text_of(events) == "2 plus 2 is 4."


async def test_responses_of_one_lane_wait_for_each_other() -> None:
    async with connected() as (_, socket):
        await socket.response.create(model=FAST, input="tell me a story")
        await socket.response.create(model=FAST, input="what is two plus two")
        first, second = await until_end(socket), await until_end(socket)
    assert len(text_of(first)) > 100
    assert text_of(second) == "2 plus 2 is 4."


async def test_too_many_lanes_and_bad_names_are_refused() -> None:
    async with connected() as (_, socket):
        for number in range(33):
            await socket.response.create(model=FAST, generate=False, input="hello", stream_id=f"lane{number}")
        seen = []
        for _each in range(33):
            seen += await until_end(socket)
        await socket.response.create(model=FAST, input="hello", stream_id="no spaces")
        (bad,) = await until_end(socket)
    assert [event.error.code for event in seen if event.type == "error"] == ["websocket_stream_limit_reached"]
    assert bad.error.code == "invalid_stream_id"


async def test_a_tool_is_called_and_its_result_is_spoken() -> None:
    async with connected() as (_, socket):
        await socket.response.create(model=FAST, input="what is the weather in paris", tools=[WEATHER])
        events = await until_end(socket)
        assert [event.type for event in events][2:4] == [
            "response.output_item.added",
            "response.function_call_arguments.delta",
        ]
        (call,) = events[-1].response.output
        assert (call.type, call.name, call.arguments) == ("function_call", "get_weather", '{"city":"paris"}')
        output = {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny"}
        await socket.response.create(
            model=FAST, input=[output], tools=[WEATHER], previous_response_id=events[-1].response.id
        )
        assert text_of(await until_end(socket)) == "Here is what I found out. Sunny."


async def test_a_limit_on_the_output_ends_the_response_incomplete() -> None:
    async with connected() as (_, socket):
        await socket.response.create(model=FAST, input="tell me a story", max_output_tokens=16)
        last = (await until_end(socket))[-1]
    assert (last.type, last.response.incomplete_details.reason) == ("response.incomplete", "max_output_tokens")
    assert last.response.usage.output_tokens == 16


async def test_a_sockets_life_ends_with_openais_error() -> None:
    async with connected(Simulator(seed=1, socket_life=0.5)) as (simulator, socket):
        await socket.response.create(model=SLOW, input="hello")
        error = (await until_end(socket))[-1]
        assert error.error.code == "websocket_connection_limit_reached"
        assert (await ended(simulator.journal.exchanges[0])).outcome == "cut"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"type": "response.create"}, "needs a model"),
        ({"type": "response.create", "model": "gpt-4o"}, "no simulated model gpt-4o"),
        ({"type": "response.create", "model": FAST, "stream": True}, "stream is not allowed"),
        ({"type": "response.create", "model": FAST, "input": 7}, "input must be"),
        ({"type": "response.create", "model": FAST, "input": [{"type": "dance"}]}, "input item dance"),
        ({"type": "session.update"}, "event session.update"),
        ([], "JSON object"),
    ],
)
async def test_a_wrong_event_is_answered_with_an_error_and_the_socket_stays_open(event: Any, words: str) -> None:
    async with connected() as (_, socket):
        await socket.send(event)
        (error,) = await until_end(socket)
        await socket.response.create(model=FAST, input="hello")
        assert (await until_end(socket))[-1].type == "response.completed"
    assert words in error.error.message


def service(endpoint: Endpoint, model: str) -> OpenAIResponsesLLMService:
    return OpenAIResponsesLLMService(
        api_key="none",
        ws_url=f"{endpoint.ws_url}?model=sim:steady",
        settings=OpenAIResponsesLLMService.Settings(model=model),
    )


def ask(*messages: tuple[str, str]) -> LLMContextFrame:
    contents: Any = [{"role": role, "content": text} for role, text in messages]
    return LLMContextFrame(LLMContext(contents))


def spoken(frames: Any) -> str:
    return "".join(frame.text for frame in frames if isinstance(frame, LLMTextFrame))


async def test_pipecats_service_uses_one_socket_for_two_turns_and_sends_only_the_new_one() -> None:
    car = "remember that my car is on level three"
    told = "I will remember that your car is on level three."
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        frames = [
            ask(("user", car)),
            SleepFrame(1),
            ask(("user", car), ("assistant", told), ("user", "where is my car")),
            SleepFrame(1),
        ]
        down, up = await run_test(service(endpoint, FAST), frames_to_send=frames, start_timeout=30)
    assert spoken(down) == told + "Your car is on level three."
    assert not [frame for frame in up if isinstance(frame, ErrorFrame)]
    first, second = simulator.journal.exchanges
    assert (first.outcome, second.outcome) == ("completed", "completed")
    assert first.connection == second.connection == 1
    assert second.cached_tokens is not None
    assert second.cached_tokens > 0
    assert second.bytes_in < first.bytes_in + 100  # the id, and not the first turn again


async def test_pipecats_service_cancels_when_interrupted_and_the_next_turn_is_clean() -> None:
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        frames = [
            ask(("user", "tell me a story")),
            SleepFrame(2),
            InterruptionFrame(),
            SleepFrame(0.5),
            ask(("user", "what is two plus two")),
            SleepFrame(2),
        ]
        model = "sim:steady?ttft_ms=20&tokens_per_s=10"
        down, up = await run_test(service(endpoint, model), frames_to_send=frames, start_timeout=30)
    assert spoken(down).endswith("2 plus 2 is 4.")
    assert not [frame for frame in up if isinstance(frame, ErrorFrame)]
    first, second = simulator.journal.exchanges
    assert first.outcome == "cancelled"
    assert 0 < first.tokens_sent < 40
    assert second.outcome == "completed"
    assert first.connection == second.connection
