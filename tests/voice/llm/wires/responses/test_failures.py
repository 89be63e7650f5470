"""A failure of the Responses service is one sentence, and the next turn is answered."""

import asyncio
from http import HTTPStatus

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.simulator import Simulator
from pipelines.lab.simulator.timetable import Fault
from tests.voice.llm.wires.responses.rig import (
    CAR,
    FAST,
    calling,
    ended,
    in_call,
    listening,
    make_service,
    until,
)

FAILURES = [
    (Fault.CUT_SOCKET, " broke the connection off."),
    (Fault.REFUSE, " broke the connection off."),
    (Fault.MIDFAIL, " reported an error: The server had an error while processing your request (simulated)."),
    (Fault.SERVER_ERROR, " answered HTTP 500: The server had an error while processing your request (simulated)."),
    (Fault.RATE_LIMITED, " answered HTTP 429: Rate limit reached (simulated); try again in 3 s."),
    (Fault.UNAUTHORIZED, " answered HTTP 401: Incorrect API key provided (simulated)."),
]


@pytest.mark.parametrize(("fault", "sentence"), FAILURES)
async def test_a_failure_is_one_sentence_at_once_and_the_next_turn_is_answered(fault: Fault, sentence: str) -> None:
    async with calling() as call:
        await call.ready()
        await call.ask(CAR)
        call.simulator.set_fault("steady", fault)
        failed = await call.ask("tell me a story")
        assert call.tier.usable is (fault is not Fault.UNAUTHORIZED)
        call.simulator.set_fault("steady", None)
        call.messages.pop()
        assert (await call.ask("where is my car")).state.outcome == "complete"
        assert len(call.requests) == 3, "the SDK does not retry it silently"
    assert failed.state.outcome == "failed"
    assert failed.state.failed == f"{FAST} at the simulator{sentence}"
    assert call.messages[-1]["content"] == "Your car is on level three."


async def test_silence_is_a_failure() -> None:
    async with calling(silence=0.2) as call:
        await call.ready()
        call.simulator.set_fault("steady", Fault.SILENT)
        attempt = await call.ask("hello")
        assert (await ended(call.requests[-1])).outcome == "cancelled"
    assert attempt.state.failed == f"{FAST} at the simulator did not answer in time."
    assert attempt.state.alive is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("fault=401", "answered HTTP 401: Incorrect API key provided (simulated)."),
        ("fault=refuse", "broke the connection off."),
    ],
)
async def test_a_server_that_lets_nobody_in_is_named_at_once(options: str, sentence: str) -> None:
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        service = make_service(endpoint)
        service._ws_url = f"{endpoint.ws_url}?{options}"
        async with in_call(service, simulator) as call:
            attempt = await call.ask("hello")
            assert call.tier.usable is (options != "fault=401")
    assert attempt.state.failed == f"{FAST} at the simulator {sentence}"


@pytest.mark.parametrize(
    ("words", "kind"), [("<html>", "no JSON"), ("[1, 2]", "JSON of another kind"), ("{}", "JSON of another kind")]
)
async def test_a_socket_that_speaks_nonsense_is_named(words: str, kind: str) -> None:
    async def talk_nonsense(connection: ServerConnection) -> None:
        async for _ in connection:
            await connection.send(words)

    async with serve(talk_nonsense, "127.0.0.1", 0) as server:
        service = make_service(listening(server))
        async with in_call(service, Simulator(seed=1)) as call:
            attempt = await call.ask("hello")
    expected = f"answered with {kind}, not with an event of the Responses API: check base_url."
    assert attempt.state.failed == f"{FAST} at the simulator {expected}"


async def test_a_web_server_that_opens_no_socket_is_named() -> None:
    def page(connection: ServerConnection, _request: Request) -> Response:
        return connection.respond(HTTPStatus.OK, "<!DOCTYPE html>")

    async with serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0, process_request=page) as server:
        service = make_service(listening(server))
        async with in_call(service, Simulator(seed=1)) as call:
            attempt = await call.ask("hello")
    assert attempt.state.failed == f"{FAST} at the simulator answered HTTP 200 and opened no WebSocket: check base_url."


async def test_a_server_that_is_not_there_is_named_and_found_when_it_comes() -> None:
    simulator = Simulator(seed=1)
    async with serving(simulator) as gone:
        pass
    async with in_call(make_service(gone), simulator) as call:
        attempt = await call.ask("hello")
        assert attempt.state.failed == f"{FAST} at the simulator refused the connection."
        async with serving(simulator, port=gone.port):
            await until(lambda: len(simulator.connections) == 2)
            assert (await call.ask("what is two plus two")).state.outcome == "complete"


async def test_a_server_that_knows_no_warm_up_costs_only_the_warm_up() -> None:
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        service = make_service(endpoint)
        service._settings.model = "unknown"
        async with in_call(service, simulator) as call:
            await until(lambda: len(simulator.connections) == 2)
            await asyncio.sleep(0.05)
            call.use(FAST)
            assert (await call.ask("what is two plus two")).state.outcome == "complete"
            assert simulator.connections.opened == 2
