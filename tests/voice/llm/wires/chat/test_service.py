"""The chat service against a true HTTP server: an answer is streamed, a failure is said aloud once, with its reason."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import httpx2
import pytest
from openai import APIConnectionError, APITimeoutError, AsyncOpenAI
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMTextFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import SleepFrame, run_test

from tests.pipelines import openai_server
from tests.voice.llm.answer import budgeted_rig as rig
from voice.frames import LLMFailureFrame, RequestsFrame
from voice.language.english.phrases import ENGLISH
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.policy.make import make_policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.tier import Tier
from voice.llm.tools import describe
from voice.llm.wires.chat.service import ChatService, make_client
from voice.llm.wires.connections import warm_up
from voice.llm.wires.errors import reason

MODEL = "sim:echo"


@pytest.fixture(scope="module")
def double() -> ModuleType:
    return openai_server


@pytest.fixture
def server(double: ModuleType) -> Iterator[Any]:
    with double.serving() as running:
        yield running


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., AsyncOpenAI]]:
    clients = []

    def connect(url: str, silence: float = 5.0) -> AsyncOpenAI:
        clients.append(make_client(base_url=url, api_key="none", silence=silence))
        return clients[-1]

    yield connect
    for client in clients:
        await client.close()


def service(client: AsyncOpenAI, model: str = MODEL, **options: Any) -> BudgetedLLMService:
    chat = ChatService(client, model=model, prompt="Be brief.", max_tokens=50, where="the test", **options)
    policy = make_policy("single", large="large", fast=None, bridge=False)
    return rig.budgeted([Tier("large", chat)], policy, book=TierStatistics({"large": 0.4}))


def ask(text: str = "hello there") -> LLMContextFrame:
    return LLMContextFrame(LLMContext([{"role": "user", "content": text}]))


async def run(chat: BudgetedLLMService, *frames: Frame) -> tuple[list[Frame], list[Frame]]:
    down, up = await run_test(chat, frames_to_send=frames, start_timeout=30)
    return list(down), list(up)


def said(frames: Sequence[Frame]) -> str:
    return "".join(frame.text for frame in frames if isinstance(frame, LLMTextFrame))


def failures(frames: Sequence[Frame]) -> list[LLMFailureFrame]:
    return [frame for frame in frames if isinstance(frame, LLMFailureFrame)]


async def test_an_answer_is_streamed_and_nothing_has_failed(server: Any, connect: Any) -> None:
    down, up = await run(service(connect(server.url)), ask())
    assert said(down) == "You said: hello there "
    assert failures(down) == []
    assert not any(isinstance(frame, ErrorFrame) for frame in up)
    (request,) = server.requests
    assert request["max_tokens"] == 50
    assert request["messages"][0] == {"role": "system", "content": "Be brief."}


async def test_a_server_that_is_not_openais_gets_no_developer_messages(server: Any, connect: Any) -> None:
    messages: Any = [{"role": "user", "content": "hello"}, {"role": "developer", "content": "Nothing was heard."}]
    await run(service(connect(server.url)), LLMContextFrame(LLMContext(messages)))
    assert [message["role"] for message in server.requests[0]["messages"]] == ["system", "user", "user"]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("http_500", "sim:echo at the test answered HTTP 500: the model has crashed."),
        ("html", "sim:echo at the test answered with a web page (text/html), not with a chat completion: check base_"),
        ("json", "sim:echo at the test answered with application/json, not with a chat completion: check base_url."),
        ("other_json", "sim:echo at the test answered with JSON of another kind, not with a chat completion: check"),
        ("empty", "it gave an answer without words"),
        ("silent", "sim:echo at the test did not answer in time."),
        ("no_json", "sim:echo at the test answered with something other than JSON, not with a chat completion: "),
    ],
)
async def test_a_request_that_fails_is_answered_by_one_honest_sentence(
    server: Any, connect: Any, fault: str, expected: str
) -> None:
    server.faults.extend([fault, fault])
    down, _ = await run(service(connect(server.url, silence=0.3)), ask(), ask("and now"))
    (failure,) = failures(down)
    assert failure.text == ENGLISH.not_answering
    assert failure.reason.startswith(f"large: {expected}")
    assert said(down) == failure.text + "You said: and now ", "the next turn is answered"
    assert len(server.requests) == 3, "asked once more by the policy, never by the SDK"


async def test_a_server_that_is_not_there_is_named(server: Any, connect: Any, double: ModuleType) -> None:
    with double.serving() as gone:
        url = gone.url
    down, _ = await run(service(connect(url)), ask())
    (failure,) = failures(down)
    assert failure.reason == "large: sim:echo at the test refused the connection."


async def test_each_way_to_lose_a_server_has_its_own_words(connect: Any) -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(break_off, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        problem = await warm_up(connect(f"http://127.0.0.1:{port}/v1"), model=MODEL, where="the test")
    assert problem == "sim:echo at the test broke the connection off."
    for cause, words in (
        (socket.gaierror(-2, "Name or service not known"), "has a host name that could not be resolved"),
        (OSError(101, "Network is unreachable"), "could not be reached"),
    ):
        error = APIConnectionError(request=httpx2.Request("POST", "http://test"))
        error.__cause__ = cause
        assert reason(error, model="m", where="w") == f"m at w {words}."
    late = APITimeoutError(request=httpx2.Request("POST", "http://test"))
    late.__cause__ = httpx2.ConnectTimeout("")
    assert reason(late, model="m", where="w") == "m at w did not take the connection in time."


async def test_a_servers_first_sign_of_life_is_on_record(server: Any, connect: Any) -> None:
    async def attempt() -> Mapping[str, Any]:
        chat = service(connect(server.url, silence=0.3))
        records: list[RequestsFrame] = []

        @chat.event_handler("on_before_push_frame")
        async def collect(_: BudgetedLLMService, frame: Frame) -> None:
            if isinstance(frame, RequestsFrame) and frame.final:
                records.append(frame)

        await run(chat, ask())
        return records[0].attempts[0]

    told = await attempt()
    assert told.request < told.alive <= told.first_token
    server.faults.extend(["silent", "silent"])
    assert (await attempt()).alive is None


async def test_a_model_that_the_server_does_not_have_is_named_in_its_words(server: Any, connect: Any) -> None:
    down, _ = await run(service(connect(server.url), "llama3.2"), ask())
    (failure,) = failures(down)
    assert failure.reason == "large: llama3.2 at the test answered HTTP 404: model 'llama3.2' not found."


async def test_an_answer_that_breaks_off_inside_its_first_clause_is_asked_for_again(server: Any, connect: Any) -> None:
    server.faults.append("broken_off")
    down, _ = await run(service(connect(server.url)), ask("one two three four five six"))
    assert said(down) == "You said: one two three four five six ", "no torn words are spoken"
    assert failures(down) == []
    assert isinstance(down[-1], LLMFullResponseEndFrame)


@pytest.mark.parametrize("fault", ["cut_after", "silent_after"])
async def test_a_connection_that_fails_after_the_whole_answer_costs_nothing(
    server: Any, connect: Any, fault: str
) -> None:
    server.faults.append(fault)
    chat = service(connect(server.url))
    records: list[RequestsFrame] = []

    @chat.event_handler("on_before_push_frame")
    async def collect(_: BudgetedLLMService, frame: Frame) -> None:
        if isinstance(frame, RequestsFrame) and frame.final:
            records.append(frame)

    down, _ = await run(chat, ask("one two three four five six"))
    assert said(down) == "You said: one two three four five six "
    assert failures(down) == []
    (attempt,) = records[0].attempts
    assert (attempt.outcome, attempt.tokens.estimated) == ("spoken", True)
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", ["cut_after", "silent_after"])
async def test_tools_of_a_whole_answer_run_whatever_becomes_of_its_connection(
    server: Any, connect: Any, fault: str
) -> None:
    ran: list[str] = []

    async def order_status(order: str) -> str:
        """Look up the caller's order.

        Args:
            order: its number.
        """
        ran.append(order)
        return "on its way"

    server.faults.append(fault)
    tools = ToolsSchema(standard_tools=[describe(order_status)])
    context = LLMContext([{"role": "user", "content": "where is order nine"}], tools=tools)
    await run(service(connect(server.url)), LLMContextFrame(context), SleepFrame(sleep=1.0))
    assert ran == ["nine"]
    assert len(server.requests) == 1


async def test_an_interrupted_request_is_no_failure(server: Any, connect: Any) -> None:
    server.faults.append("silent")
    started = time.monotonic()
    frames = [ask(), SleepFrame(sleep=0.3), InterruptionFrame(), SleepFrame(sleep=0.3), ask("go on")]
    down, up = await run(service(connect(server.url)), *frames)
    assert time.monotonic() - started < 5
    assert failures(down) == []
    assert not any(isinstance(frame, ErrorFrame) for frame in up)
    assert said(down) == "You said: go on "


async def test_calls_share_their_connections(server: Any, connect: Any) -> None:
    client = connect(server.url)
    assert await warm_up(client, model=MODEL, where="the test") is None
    for _ in range(2):
        await run(service(client), SleepFrame(sleep=0.3), ask())
    assert server.accepted == 1


async def test_a_tier_that_may_be_asked_twice_has_two_connections_open_before(server: Any, connect: Any) -> None:
    client = connect(server.url)
    await run(service(client, connections=2), SleepFrame(sleep=0.3), ask())
    assert server.accepted == 2


async def test_a_cancelled_requests_connection_is_replaced_before_the_next_turn(server: Any, connect: Any) -> None:
    server.faults.append("silent")
    client = connect(server.url)
    await warm_up(client, model=MODEL, where="the test")
    before = server.accepted
    await run(service(client), ask(), SleepFrame(sleep=0.3), InterruptionFrame(), SleepFrame(sleep=0.3))
    assert server.accepted > before
    opened = server.accepted
    await run(service(client), SleepFrame(sleep=0.3), ask("go on"))
    assert server.accepted == opened


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
async def test_a_server_on_this_machine_is_never_asked_through_a_proxy(
    server: Any, connect: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    down, _ = await run(service(connect(server.url)), ask())
    assert failures(down) == []


async def test_warming_up_names_a_server_that_is_not_there_and_goes_on(connect: Any, double: ModuleType) -> None:
    with double.serving() as gone:
        url = gone.url
    problem = await warm_up(connect(url), model=MODEL, where=url)
    assert problem == f"sim:echo at {url} refused the connection."
