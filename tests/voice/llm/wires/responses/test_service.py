"""The Responses service against the simulator's real socket: warm, chained, and replaced in time."""

import asyncio
import json
from typing import Any, cast

import pytest
from pipecat.processors.aggregators.llm_context import LLMContext

from pipelines.lab.simulator.app import Endpoint
from pipelines.lab.simulator.simulator import Simulator
from pipelines.lab.simulator.timetable import Fault
from tests.voice.llm.wires.responses.rig import (
    CAR,
    calling,
    chat_sizes,
    make_service,
    said,
    until,
    weather,
)
from voice.llm.answer.conversation import CONTINUE, instructed
from voice.llm.context_window import drop_oldest
from voice.llm.wires.responses.service import socket_url


async def test_the_first_turn_finds_a_connection_that_has_read_the_instructions_and_tools() -> None:
    async with calling(tools=weather()) as call:
        call.tools = weather()
        await call.ready()
        attempt = await call.ask("what is two plus two")
        warm, first = call.simulator.journal.exchanges
    assert (attempt.state.outcome, warm.warm_up, warm.outcome) == ("complete", True, "completed")
    assert first.connection == warm.connection
    assert not first.opened
    assert warm.input_tokens is not None
    assert first.cached_tokens == warm.input_tokens > 20
    assert warm.ended is not None
    assert warm.ended < first.requested


async def test_a_call_does_not_wait_for_its_sockets_but_its_first_turn_does() -> None:
    simulator = Simulator(seed=1, faults={"steady": Fault.SLOW_CONNECT})
    async with calling(sim=simulator) as call:
        assert len(simulator.journal.exchanges) == 0
        task, attempt = call.start(LLMContext([{"role": "user", "content": "hello"}]))
        await task
        assert attempt.state.outcome == "complete"


async def test_each_turn_sends_only_what_is_new_while_the_chat_wire_sends_everything_again() -> None:
    async with calling() as call:
        await call.ready()
        for turn in range(20):
            attempt = await call.ask(f"what is {turn % 10} plus {turn // 10}")
            assert attempt.state.outcome == "complete"
        requests = call.requests
    assert {exchange.connection for exchange in requests} == {requests[0].connection}
    sizes = [exchange.bytes_in for exchange in requests]
    assert max(sizes) - min(sizes) < 20
    tokens = [exchange.input_tokens or 0 for exchange in requests]
    assert tokens == sorted(tokens)
    assert tokens[-1] > 2 * tokens[0], "the server knows the whole conversation nevertheless"
    chat = await chat_sizes(turns=20)
    assert chat == sorted(chat)
    assert chat[-1] - chat[0] > 1000


async def test_what_the_server_remembers_is_what_was_said_before() -> None:
    async with calling() as call:
        await call.ready()
        await call.ask(CAR)
        await call.ask("where is my car")
    assert call.messages[-1]["content"] == "Your car is on level three."


async def test_an_answer_that_was_heard_in_part_is_told_anew() -> None:
    async with calling() as call:
        await call.ready()
        await call.ask(CAR)
        call.messages[-1]["content"] = "I will remember"
        await call.ask("where is my car")
        first, second = call.requests
    assert second.bytes_in > first.bytes_in + len(CAR)
    assert first.connection == second.connection


async def test_a_conversation_whose_old_turns_are_dropped_is_sent_whole_once_and_the_server_forgets_them_too() -> None:
    async with calling() as call:
        await call.ready()
        for turn in range(8):
            await call.ask(f"what is {turn} plus {turn}")
        context = call.context
        assert drop_oldest(context, turns=7) == 10
        call.messages = list(context.get_messages())
        await call.ask("what is one plus one")
        await call.ask("what is two plus two")
        before, after, later = call.requests[-3:]
    assert after.connection == before.connection
    assert after.bytes_in > before.bytes_in + 100, "the three turns that were kept"
    assert (after.input_tokens or 0) < (before.input_tokens or 0)
    assert later.bytes_in < after.bytes_in - 100
    assert (later.input_tokens or 0) > (after.input_tokens or 0)


async def test_sockets_are_replaced_before_they_are_worn_and_the_conversation_goes_with_them() -> None:
    async with calling(rotate_after=0.4) as call:
        await call.ready()
        await call.ask(CAR)
        worn = call.requests[-1].connection
        await until(lambda: call.simulator.connections.opened >= 4)
        await until(lambda: worn not in [connection.number for connection in call.simulator.connections])
        attempt = await call.ask("where is my car")
    assert attempt.state.outcome == "complete"
    assert call.messages[-1]["content"] == "Your car is on level three."
    assert call.requests[-1].connection != worn


async def test_lost_sockets_are_replaced_before_anyone_asks() -> None:
    async with calling() as call:
        await call.ready()
        await call.ask(CAR)
        for connection in call.simulator.connections:
            connection.reset()
        await until(lambda: call.simulator.connections.opened >= 4)
        await until(lambda: len(call.simulator.connections) == 2)
        await asyncio.sleep(0.02)
        assert len(call.requests) == 1
        attempt = await call.ask("where is my car")
        assert call.simulator.connections.opened == 4
    assert attempt.state.outcome == "complete"
    assert call.messages[-1]["content"] == "Your car is on level three."


async def test_a_socket_whose_life_the_server_ends_is_replaced() -> None:
    async with calling(sim=Simulator(seed=1, socket_life=0.5)) as call:
        await call.ready()
        await call.ask(CAR)
        await until(lambda: call.simulator.connections.opened >= 4)
        await asyncio.sleep(0.1)
        assert (await call.ask("where is my car")).state.outcome == "complete"


async def test_a_servers_first_sign_of_life_is_on_record() -> None:
    async with calling() as call:
        await call.ready()
        attempt = await call.ask("hello")
    assert attempt.state.alive is not None
    assert attempt.state.first_token is not None
    assert attempt.state.request <= attempt.state.alive <= attempt.state.first_token


async def test_an_answer_as_long_as_it_may_be_is_complete() -> None:
    async with calling(max_tokens=16) as call:
        attempt = await call.ask("tell me a story")
        assert attempt.state.outcome == "complete"
        assert attempt.usage is not None
        assert attempt.usage.completion_tokens == 16


async def test_a_tool_call_is_recorded_and_its_result_is_all_that_follows() -> None:
    async with calling(tools=weather()) as call:
        call.tools = weather()
        await call.ready()
        attempt = await call.ask("what is the weather in paris")
        (wanted,) = attempt.calls
        assert (wanted.function_name, wanted.arguments) == ("get_weather", {"city": "paris"})
        function = {"name": wanted.function_name, "arguments": json.dumps(wanted.arguments)}
        called = {"id": wanted.tool_call_id, "type": "function", "function": function}
        call.messages.append({"role": "assistant", "tool_calls": [called]})
        call.messages.append({"role": "tool", "tool_call_id": wanted.tool_call_id, "content": "Sunny"})
        await call.ask()
        first, second = call.requests
    assert call.messages[-1]["content"] == "Here is what I found out. Sunny."
    assert second.bytes_in < first.bytes_in + 80


async def test_it_goes_on_from_what_another_one_began() -> None:
    async with calling() as call:
        await call.ready()
        await call.ask(CAR)
        call.messages.append({"role": "user", "content": "where is my car"})
        task, attempt = call.start(instructed(call.context, CONTINUE, said="Your car"))
        await task
        call.messages.append({"role": "assistant", "content": "Your car is on level three."})
        assert attempt.state.outcome == "complete"
        assert (await call.ask("hello")).state.outcome == "complete"
        first, going_on, after = call.requests
    assert first.connection == going_on.connection == after.connection
    assert going_on.input_tokens is not None
    assert first.input_tokens is not None
    assert going_on.input_tokens > first.input_tokens


async def test_two_requests_at_a_time_have_a_socket_each() -> None:
    # Slow enough that the first is not over before the last has a socket.
    async with calling("sim:steady?ttft_ms=1000&tokens_per_s=2000") as call:
        await call.ready()
        contexts = [LLMContext([{"role": "user", "content": f"what is {n} plus {n}"}]) for n in (2, 3, 4)]
        asked = [call.start(context) for context in contexts]
        await asyncio.gather(*(task for task, _ in asked))
        assert [said(attempt) for _, attempt in asked] == ["2 plus 2 is 4.", "3 plus 3 is 6.", "4 plus 4 is 8."]
        assert len({exchange.connection for exchange in call.requests}) == 3
        await until(lambda: len(call.simulator.connections) == 2)


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("https://api.openai.com/v1", "wss://api.openai.com/v1/responses"),
        ("http://127.0.0.1:8900/with/model=sonnet&fault=refuse/v1/", "ws://127.0.0.1:8900/with/model=sonnet&fault=refuse/v1/responses"),
        ("https://x.openai.azure.com/openai/v1?api-version=1", "wss://x.openai.azure.com/openai/v1/responses?api-version=1"),
    ],
)  # fmt: skip
def test_the_sockets_url_is_the_servers(base_url: str, expected: str) -> None:
    assert socket_url(base_url) == expected


async def test_a_request_outside_any_turn_goes_over_http() -> None:
    body = {
        "id": "r", "object": "response", "created_at": 0, "model": "m", "parallel_tool_calls": True, "tools": [],
        "tool_choice": "auto", "output": [{
            "id": "m", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "A summary.", "annotations": []}],
        }],
    }  # fmt: skip
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.split(b"\r\n")[0])
        text = json.dumps(body).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n")
        writer.write(b"content-length: %d\r\n\r\n%s" % (len(text), text))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    service = make_service(Endpoint(host, port, cast(Any, None)))
    service._base_url = f"http://{host}:{port}/v1"
    told = await service.run_inference(LLMContext([{"role": "user", "content": "sum it up"}]))
    server.close()
    assert told == "A summary."
    assert asked == [b"POST /v1/responses HTTP/1.1"]
