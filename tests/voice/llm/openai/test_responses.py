"""The Responses service against the simulator's real socket: warm, chained, replaced in time, cancelled cleanly."""

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.clocks.system_clock import SystemClock
from pipecat.frames.frames import (
    EndFrame,
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMTextFrame,
    StartFrame,
)
from pipecat.processors.aggregators.llm_context import NOT_GIVEN, LLMContext
from pipecat.processors.frame_processor import FrameProcessorSetup
from pipecat.services.llm_service import LLMService
from pipecat.tests.utils import SleepFrame, run_test
from pipecat.utils.asyncio.task_manager import TaskManager
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from latency.budget import Budget
from voice.llm.answer.answer_frames import AnswerTextFrame, AttemptsFrame
from voice.llm.answer.attempt import LiveAttempt
from voice.llm.answer.continuation import continued
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.answer.tier import Tier
from voice.llm.openai.chat import ChatService, make_client
from voice.llm.openai.responses import ResponsesService, socket_url
from voice.llm.policy import make_policy
from voice.llm.policy.tier_stats import TierBook
from voice.llm.tools import describe
from voice.simulator.app import Endpoint, serving
from voice.simulator.journal import Exchange
from voice.simulator.simulator import Simulator
from voice.simulator.timing.timetable import Fault

FAST = "sim:steady?ttft_ms=20&tokens_per_s=2000"
SLOW = "sim:steady?ttft_ms=20&tokens_per_s=10"
NEVER = "sim:steady?ttft_ms=60000"
PROMPT = "You are a helpful voice. Answer in one or two short sentences, without lists, and never mention the weather."
CAR = "remember that my car is on level three"
LIMIT = 10.0


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(LIMIT):
        while not condition():
            await asyncio.sleep(0.005)


def make_service(endpoint: Endpoint, model: str = FAST, *, profile: str = "steady", **options: Any) -> ResponsesService:
    return ResponsesService(
        base_url=f"http://{endpoint.host}:{endpoint.port}/with/model={profile}/v1",
        **{
            "api_key": "none",
            "model": model,
            "prompt": PROMPT,
            "max_tokens": 200,
            "silence": 5.0,
            "where": "the simulator",
            **options,
        },
    )


@dataclass
class Call:
    """A tier in a call, and the call's conversation."""

    tier: Tier
    simulator: Simulator
    tools: ToolsSchema | None = None
    messages: list[Any] = field(default_factory=list)

    @property
    def context(self) -> LLMContext:
        return LLMContext(list(self.messages), tools=self.tools or NOT_GIVEN)

    def use(self, model: str) -> None:
        """From the next turn on."""
        cast(Any, self.tier.service)._settings.model = model

    @property
    def requests(self) -> list[Exchange]:
        """What the server was asked, without warm-ups."""
        return [exchange for exchange in self.simulator.journal.exchanges if not exchange.warm_up]

    def start(self, context: LLMContext | None = None) -> tuple[asyncio.Task[None], LiveAttempt]:
        attempt = LiveAttempt(number=0, tier=self.tier.name, request=time.monotonic())
        return self.tier.ask(attempt, context or self.context, lambda: None), attempt

    async def ask(self, text: str | None = None) -> LiveAttempt:
        """A turn; a whole answer is kept in the conversation."""
        if text is not None:
            self.messages.append({"role": "user", "content": text})
        task, attempt = self.start()
        async with asyncio.timeout(LIMIT):
            await task
        if attempt.outcome == "complete" and not attempt.calls:
            self.messages.append({"role": "assistant", "content": said(attempt)})
        return attempt

    async def interrupt(self, text: str, *, tokens: int = 3) -> LiveAttempt:
        """A turn that is cancelled when so many tokens of its answer were sent."""
        self.messages.append({"role": "user", "content": text})
        count = len(self.requests)
        task, attempt = self.start()
        await until(lambda: len(self.requests) > count and self.requests[-1].tokens_sent >= tokens)
        attempt.cancel(time.monotonic())
        task.cancel()
        return attempt

    async def ready(self, sockets: int = 2) -> None:
        """Wait until so many sockets are open and the warm-up is over."""
        await until(lambda: len(self.simulator.connections) == sockets)
        await until(lambda: [e.outcome for e in self.simulator.journal.exchanges if e.warm_up] == ["completed"])
        await asyncio.sleep(0.02)


def said(attempt: LiveAttempt) -> str:
    return "".join(piece.text for piece in attempt.take() if isinstance(piece, AnswerTextFrame))


@asynccontextmanager
async def in_call(service: LLMService[Any], simulator: Simulator) -> AsyncIterator[Call]:
    """A tier from its call's start to its end, which leaves no task."""

    async def relay(_: Frame) -> None:
        return

    tasks = TaskManager()
    tier = Tier("large", service)
    setup = FrameProcessorSetup(clock=SystemClock(), task_manager=tasks, pipeline_worker=cast(Any, None))
    await tier.setup(setup, relay)
    await tier.tell(StartFrame())
    try:
        yield Call(tier, simulator)
    finally:
        await tier.tell(EndFrame())
        await tier.cleanup()
        await asyncio.sleep(0)
        assert list(tasks.current_tasks()) == []


@asynccontextmanager
async def calling(model: str = FAST, *, sim: Simulator | None = None, **options: Any) -> AsyncIterator[Call]:
    simulator = sim or Simulator(seed=1)
    async with serving(simulator) as endpoint:
        async with in_call(make_service(endpoint, model, **options), simulator) as call:
            yield call
        await until(lambda: len(simulator.connections) == 0)


def weather() -> ToolsSchema:
    async def get_weather(city: str) -> str:
        """Look up the weather of a city."""
        return city

    return ToolsSchema(standard_tools=[describe(get_weather)])


async def test_the_first_turn_finds_a_connection_that_has_read_the_instructions_and_tools() -> None:
    async with calling(tools=weather()) as call:
        call.tools = weather()
        await call.ready()
        attempt = await call.ask("what is two plus two")
        warm, first = call.simulator.journal.exchanges
    assert (attempt.outcome, warm.warm_up, warm.outcome) == ("complete", True, "completed")
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
        assert attempt.outcome == "complete"


async def test_each_turn_sends_only_what_is_new_while_the_chat_wire_sends_everything_again() -> None:
    async with calling() as call:
        await call.ready()
        for turn in range(20):
            attempt = await call.ask(f"what is {turn % 10} plus {turn // 10}")
            assert attempt.outcome == "complete"
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


async def chat_sizes(*, turns: int) -> list[int]:
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        client = make_client(base_url=endpoint.base_url, api_key="none", silence=5.0)
        service = ChatService(client, model=FAST, prompt=PROMPT, max_tokens=200, where="the simulator")
        async with in_call(service, simulator) as call:
            for turn in range(turns):
                await call.ask(f"what is {turn % 10} plus {turn // 10}")
            sizes = [exchange.bytes_in for exchange in call.requests]
        await client.close()
    return sizes


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


async def test_a_forgotten_response_is_made_up_for_on_the_same_socket() -> None:
    async with calling(SLOW, sim=Simulator(seed=1, on_cancel="forget")) as call:
        call.use(FAST)
        await call.ready()
        await call.ask(CAR)
        call.use(SLOW)
        await call.interrupt("tell me a story")
        await until(lambda: call.requests[-1].outcome == "cancelled")
        await asyncio.sleep(0.05)
        call.use(FAST)
        attempt = await call.ask("where is my car")
        *_, cancelled, unknown, again = call.requests
    assert attempt.outcome == "complete"
    assert call.messages[-1]["content"] == "Your car is on level three."
    assert (cancelled.outcome, unknown.outcome, again.outcome) == ("cancelled", "failed", "completed")
    assert cancelled.connection == unknown.connection == again.connection


async def test_a_cancelled_response_is_drained_behind_the_turn_and_its_socket_goes_on_with_small_requests() -> None:
    async with calling(SLOW) as call:
        await call.ready()
        call.use(FAST)
        await call.ask(CAR)
        call.use(SLOW)
        attempt = await call.interrupt("tell me a story")
        await until(lambda: call.requests[-1].outcome == "cancelled")
        await asyncio.sleep(0.05)
        call.use(FAST)
        call.messages.append({"role": "assistant", "content": said(attempt)})
        await call.ask("where is my car")
        first, cancelled, last = call.requests
    assert call.messages[-1]["content"] == "Your car is on level three."
    assert first.connection == cancelled.connection == last.connection
    assert last.bytes_in < first.bytes_in + 200


@pytest.mark.parametrize("on_cancel", ["keep", "ignore", "unknown"])
async def test_the_next_turn_does_not_wait_until_a_cancelled_response_is_drained(on_cancel: Any) -> None:
    async with calling(SLOW, sim=Simulator(seed=1, on_cancel=on_cancel)) as call:
        await call.ready()
        await call.interrupt("tell me a story")
        call.use(FAST)
        assert (await call.ask("what is two plus two")).outcome == "complete"
        cancelled, after = call.requests
        await until(lambda: cancelled.outcome is not None)
        await call.ready()
        await call.ask("what is three plus three")
    assert cancelled.outcome == "cancelled"
    assert cancelled.ended is not None
    assert after.ended is not None
    assert after.connection != cancelled.connection
    if on_cancel == "ignore":
        assert after.ended < cancelled.ended, "answered while the other one was still going on"
    if on_cancel != "keep":
        assert call.requests[-1].connection == after.connection
        assert call.simulator.connections.opened == 3


async def test_a_request_cancelled_before_the_server_named_it_is_cancelled_by_the_close() -> None:
    async with calling(NEVER, sim=Simulator(seed=1)) as call:
        await call.ready()
        call.simulator.set_fault("steady", Fault.SILENT)
        await call.interrupt("hello", tokens=0)
        (cancelled,) = call.requests
        await until(lambda: cancelled.outcome == "cancelled")
        call.simulator.set_fault("steady", None)
        call.use(FAST)
        assert (await call.ask("what is two plus two")).outcome == "complete"
        assert call.requests[-1].connection != cancelled.connection
        await until(lambda: len(call.simulator.connections) == 2)


async def test_many_cancelled_requests_in_a_row_leave_no_socket_behind() -> None:
    async with calling(SLOW) as call:
        await call.ready()
        for turn in range(20):
            # Some before the first token.
            await call.interrupt("tell me a story", tokens=turn % 3)
        await until(lambda: all(exchange.outcome == "cancelled" for exchange in call.requests))
        await until(lambda: len(call.simulator.connections) == 2)
        call.use(FAST)
        assert (await call.ask("what is two plus two")).outcome == "complete"


async def test_sockets_are_replaced_before_they_are_worn_and_the_conversation_goes_with_them() -> None:
    async with calling(rotate_after=0.4) as call:
        await call.ready()
        await call.ask(CAR)
        worn = call.requests[-1].connection
        await until(lambda: call.simulator.connections.opened >= 4)
        await until(lambda: worn not in [connection.number for connection in call.simulator.connections])
        attempt = await call.ask("where is my car")
    assert attempt.outcome == "complete"
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
    assert attempt.outcome == "complete"
    assert call.messages[-1]["content"] == "Your car is on level three."


async def test_a_socket_whose_life_the_server_ends_is_replaced() -> None:
    async with calling(sim=Simulator(seed=1, socket_life=0.5)) as call:
        await call.ready()
        await call.ask(CAR)
        await until(lambda: call.simulator.connections.opened >= 4)
        await asyncio.sleep(0.1)
        assert (await call.ask("where is my car")).outcome == "complete"


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
        assert (await call.ask("where is my car")).outcome == "complete"
        assert len(call.requests) == 3, "it is not tried again behind our back"
    assert failed.outcome == "failed"
    assert failed.failed == f"{FAST} at the simulator{sentence}"
    assert call.messages[-1]["content"] == "Your car is on level three."


async def test_silence_is_a_failure() -> None:
    async with calling(silence=0.2) as call:
        await call.ready()
        call.simulator.set_fault("steady", Fault.SILENT)
        attempt = await call.ask("hello")
        assert (await ended(call.requests[-1])).outcome == "cancelled"
    assert attempt.failed == f"{FAST} at the simulator did not answer in time."
    assert attempt.alive is None


async def test_a_servers_first_sign_of_life_is_on_record() -> None:
    async with calling() as call:
        await call.ready()
        attempt = await call.ask("hello")
    assert attempt.alive is not None
    assert attempt.first_token is not None
    assert attempt.request <= attempt.alive <= attempt.first_token


async def ended(exchange: Exchange) -> Exchange:
    await until(lambda: exchange.outcome is not None)
    return exchange


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
    assert attempt.failed == f"{FAST} at the simulator {sentence}"


def listening(server: Server) -> Any:
    host, port = server.sockets[0].getsockname()
    return SimpleNamespace(host=host, port=port)


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
    assert attempt.failed == f"{FAST} at the simulator {expected}"


async def test_a_web_server_that_opens_no_socket_is_named() -> None:
    def page(connection: ServerConnection, _request: Request) -> Response:
        return connection.respond(HTTPStatus.OK, "<!DOCTYPE html>")

    async with serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0, process_request=page) as server:
        service = make_service(listening(server))
        async with in_call(service, Simulator(seed=1)) as call:
            attempt = await call.ask("hello")
    assert attempt.failed == f"{FAST} at the simulator answered HTTP 200 and opened no WebSocket: check base_url."


async def test_a_server_that_is_not_there_is_named_and_found_when_it_comes() -> None:
    simulator = Simulator(seed=1)
    async with serving(simulator) as gone:
        pass
    async with in_call(make_service(gone), simulator) as call:
        attempt = await call.ask("hello")
        assert attempt.failed == f"{FAST} at the simulator refused the connection."
        async with serving(simulator, port=gone.port):
            await until(lambda: len(simulator.connections) == 2)
            assert (await call.ask("what is two plus two")).outcome == "complete"


async def test_a_request_that_waits_for_a_connection_can_be_cancelled() -> None:
    simulator = Simulator(seed=1, faults={"steady": Fault.SLOW_CONNECT})
    async with calling(sim=simulator) as call:
        task, _ = call.start(LLMContext([{"role": "user", "content": "hello"}]))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task], timeout=1.0)
        assert task.cancelled()
        assert call.requests == []


async def test_a_server_that_knows_no_warm_up_costs_only_the_warm_up() -> None:
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        service = make_service(endpoint)
        service._settings.model = "unknown"
        async with in_call(service, simulator) as call:
            await until(lambda: len(simulator.connections) == 2)
            await asyncio.sleep(0.05)
            call.use(FAST)
            assert (await call.ask("what is two plus two")).outcome == "complete"
            assert simulator.connections.opened == 2


async def test_an_answer_as_long_as_it_may_be_is_complete() -> None:
    async with calling(max_tokens=16) as call:
        attempt = await call.ask("tell me a story")
        assert attempt.outcome == "complete"
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
        task, attempt = call.start(continued(call.context, "Your car"))
        await task
        call.messages.append({"role": "assistant", "content": "Your car is on level three."})
        assert attempt.outcome == "complete"
        assert (await call.ask("hello")).outcome == "complete"
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


@dataclass
class Turns:
    """What a budgeted call did."""

    down: list[Frame]
    records: list[AttemptsFrame]
    simulator: Simulator

    @property
    def said(self) -> str:
        return "".join(frame.text for frame in self.down if isinstance(frame, LLMTextFrame))


async def budgeted(frames: list[Frame], *, fault: Fault | None = None, large: str = SLOW) -> Turns:
    """A call over two tiers, both on this wire, under the policy fallback."""
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        tiers = [Tier("large", make_service(endpoint, large)), Tier("fast", make_service(endpoint, FAST))]
        if fault:
            cast(Any, tiers[0].service)._settings.model += f"&fault={fault}"
        service = BudgetedLLMService(
            tiers,
            make_policy("fallback", large="large", fast="fast"),
            book=TierBook({"large": 1.0, "fast": 0.15}),
            budget=Budget.with_llm(0.45),
        )
        records: list[AttemptsFrame] = []

        @service.event_handler("on_before_push_frame")  # type: ignore[untyped-decorator]
        async def record(_: BudgetedLLMService, frame: Frame) -> None:
            if isinstance(frame, AttemptsFrame) and frame.final:
                records.append(frame)

        # Until the sockets are open.
        down, _ = await run_test(
            service, frames_to_send=[SleepFrame(sleep=0.3), *frames, SleepFrame(sleep=0.3)], start_timeout=30
        )
        await until(lambda: len(simulator.connections) == 0)
    return Turns(list(down), records, simulator)


def ask(text: str) -> LLMContextFrame:
    return LLMContextFrame(LLMContext([{"role": "user", "content": text}]))


@pytest.mark.parametrize(
    "fault", [Fault.SILENT, Fault.KEEPALIVE, Fault.DRIBBLE, Fault.SERVER_ERROR, Fault.RATE_LIMITED, Fault.CUT_SOCKET]
)
async def test_in_the_budgeted_service_the_fast_tier_answers_for_a_large_one_that_does_not(fault: Fault) -> None:
    turns = await budgeted(
        [ask("what is two plus two"), SleepFrame(sleep=0.05), ask("what is three plus three")],
        fault=fault,
        large=f"{FAST}&after=1",
    )
    assert len(turns.records) == 2
    for record in turns.records:
        outcomes = {attempt["tier"]: attempt["outcome"] for attempt in record.attempts}
        assert outcomes["fast"] == "spoken"
        lost = fault in (Fault.SILENT, Fault.KEEPALIVE, Fault.DRIBBLE)
        assert outcomes["large"] == ("cancelled" if lost else "failed")
        assert record.gave_up is None
    assert turns.said == "2 plus 2 is 4.3 plus 3 is 6."
    served = [exchange for exchange in turns.simulator.journal.exchanges if exchange.fault and not exchange.warm_up]
    seen = "cancelled" if lost else "cut" if fault is Fault.CUT_SOCKET else "failed"
    assert [exchange.outcome for exchange in served] == [seen, seen]


async def test_in_the_budgeted_service_an_interruption_is_seen_by_the_server_and_the_next_turn_is_clean() -> None:
    turns = await budgeted(
        [ask("tell me a story"), SleepFrame(sleep=0.3), InterruptionFrame(), ask("what is two plus two")],
        large="sim:steady?ttft_ms=20&tokens_per_s=20",
    )
    assert turns.said.endswith("2 plus 2 is 4.")
    requests = [exchange for exchange in turns.simulator.journal.exchanges if not exchange.warm_up]
    assert requests[0].outcome == "cancelled"
    assert requests[-1].outcome in ("completed", "cancelled")


@pytest.mark.slow
async def test_a_thousand_turns_with_interruptions_leave_no_task_and_no_socket_behind() -> None:
    counts: list[int] = []
    async with calling() as call:
        await call.ready()
        for turn in range(1000):
            if turn % 3 == 0:
                call.use(SLOW)
                await call.interrupt("tell me a story", tokens=turn % 2)
                call.use(FAST)
            assert (await call.ask("what is two plus two")).outcome == "complete"
            call.messages.clear()
            if turn % 100 == 99:
                await until(lambda: len(call.simulator.connections) == 2)
                await asyncio.sleep(0.1)
                counts.append(len(asyncio.all_tasks()))
    assert max(counts[1:]) <= counts[0] + 2


@pytest.mark.slow
async def test_benchmark_of_the_persistent_socket(capsys: pytest.CaptureFixture[str]) -> None:
    """What the persistent socket saves: run with `pytest -m slow -s tests/voice/llm/openai/test_responses.py`."""
    turns, model = 100, "sim:gpt-5.4-mini?ttft_ms=200&tokens_per_s=2000"
    persistent: list[float] = []
    fresh: list[float] = []
    simulator = Simulator(seed=1)
    async with (
        serving(simulator) as endpoint,
        in_call(make_service(endpoint, model, profile="gpt-5.4-mini"), simulator) as call,
    ):
        await call.ready()
        # Alternately, so that both see the same machine.
        for turn in range(turns):
            persistent.append(waited(await call.ask(f"what is {turn % 10} plus {turn // 10}")))
            async with in_call(make_service(endpoint, model, profile="gpt-5.4-mini"), simulator) as other:
                other.messages = call.messages[:-1]
                fresh.append(waited(await other.ask()))
    lines = [f"first token over {turns} turns each, ms (model 200 ms, round trip 30 ms):"]
    lines += [row("connecting each turn", fresh), row("persistent socket", persistent)]
    sizes = {"responses": await responses_sizes(turns=20), "chat": await chat_sizes(turns=20)}
    lines.append("bytes of a request at turn 1, 5, 10, 20:")
    for name, wire in sizes.items():
        lines.append(f"  {name:30} " + " ".join(f"{wire[turn - 1]:6}" for turn in (1, 5, 10, 20)))
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert statistics.median(fresh) > statistics.median(persistent)


@pytest.mark.slow
@pytest.mark.parametrize("on_cancel", ["keep", "ignore", "unknown"])
async def test_benchmark_of_cancelling(on_cancel: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """When the server knows, and what the next turn waits: run as the one above."""
    turns = 50
    seen: list[float] = []
    usual: list[float] = []
    after: list[float] = []
    async with calling(SLOW, sim=Simulator(seed=1, on_cancel=on_cancel)) as call:
        await call.ready()
        for turn in range(turns):
            call.use(FAST)
            usual.append(waited(await call.ask("hello")))
            call.use(SLOW)
            # Every second one before the server has named it.
            attempt = await call.interrupt("tell me a story", tokens=2 * (turn % 2))
            cancelled = call.requests[-1]
            call.use(FAST)
            after.append(waited(await call.ask("what is two plus two")))
            await ended(cancelled)
            assert cancelled.ended is not None
            assert attempt.end is not None
            seen.append(cancelled.ended - attempt.end)
            await until(lambda: len(call.simulator.connections) == 2)
            call.messages.clear()
    with capsys.disabled():
        print(f"\ncancelling {turns} requests, on_cancel={on_cancel}, ms:")
        print("\n".join([row("seen by the server after", seen), row("first token of a usual turn", usual)]))
        print(row("first token right after a cancel", after))


def row(name: str, seconds: list[float]) -> str:
    cuts = statistics.quantiles([1000 * value for value in seconds], n=20)
    return f"  {name:32} p50 {cuts[9]:6.1f}  p95 {cuts[18]:6.1f}  max {1000 * max(seconds):6.1f}"


def waited(attempt: LiveAttempt) -> float:
    assert attempt.first_token is not None
    return attempt.first_token - attempt.request


async def responses_sizes(*, turns: int) -> list[int]:
    async with calling() as call:
        await call.ready()
        for turn in range(turns):
            await call.ask(f"what is {turn % 10} plus {turn // 10}")
        return [exchange.bytes_in for exchange in call.requests]
