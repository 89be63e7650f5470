"""Every fault, on both wires, as the unmodified OpenAI SDK sees it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus

from pipelines.lab.simulator.journal import Exchange
from pipelines.lab.simulator.simulator import Simulator
from tests.pipelines.lab.simulator.simulated import LIMIT, ended, simulated, user

STORY = user("tell me a story")
WAIT = 1.0  # seconds a client is patient with a server that says nothing


def faulty(fault: str, **options: object) -> str:
    given = {"ttft_ms": 20, "tokens_per_s": 2000, "fault": fault, **options}
    return "sim:steady?" + "&".join(f"{key}={value}" for key, value in given.items())


async def only_request(simulator: Simulator) -> Exchange:
    """The only request, once it has ended."""
    async with asyncio.timeout(LIMIT):
        while not simulator.journal.exchanges:
            await asyncio.sleep(0.005)
    (exchange,) = simulator.journal.exchanges
    return await ended(exchange)


async def stream(client: AsyncOpenAI, model: str, received: list[str]) -> None:
    """Read a streamed chat answer; `received` gets every chunk's text, empty ones too."""
    async for chunk in await client.chat.completions.create(model=model, messages=STORY, stream=True):
        received.append(chunk.choices[0].delta.content or "")


async def listen(client: AsyncOpenAI, model: str, received: list[Any], **query: str) -> None:
    """Ask over a socket and read to the terminal event; `received` gets every event."""
    async with client.responses.connect(extra_query={"model": "sim:steady", **query}) as socket:
        await socket.response.create(model=model, input="tell me a story")
        while True:
            received.append(await socket.recv())
            if received[-1].type in ("response.completed", "response.failed", "error"):
                return


async def begin(reading: Coroutine[Any, Any, None], enough: Callable[[], bool]) -> None:
    """Let a client read until it has seen enough, and stop it there."""
    task = asyncio.create_task(reading)
    async with asyncio.timeout(LIMIT):
        while not enough():
            assert not task.done()
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait({task})


def spoken(events: list[Any]) -> str:
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


async def test_silent_sends_nothing_on_chat_and_notices_that_the_client_leaves() -> None:
    received: list[str] = []
    async with simulated() as (simulator, client):
        with pytest.raises(openai.APITimeoutError):
            await stream(client.with_options(timeout=WAIT), faulty("silent"), received)
        assert (await only_request(simulator)).outcome == "cancelled"
    assert received == []


async def test_silent_sends_nothing_on_the_socket_and_notices_that_the_client_leaves() -> None:
    received: list[Any] = []
    async with simulated() as (simulator, client):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(WAIT):
                await listen(client, faulty("silent"), received)
        assert (await only_request(simulator)).outcome == "cancelled"
    assert received == []


async def test_keepalive_sends_signs_of_life_without_text_on_chat() -> None:
    received: list[str] = []
    async with simulated() as (simulator, client):
        await begin(stream(client, faulty("keepalive"), received), lambda: len(received) >= 4)
        exchange = await only_request(simulator)
    assert set(received) == {""}
    assert (exchange.outcome, exchange.tokens_sent) == ("cancelled", 0)


async def test_keepalive_sends_signs_of_life_without_text_on_the_socket() -> None:
    received: list[Any] = []
    async with simulated() as (simulator, client):
        await begin(listen(client, faulty("keepalive"), received), lambda: len(received) >= 4)
        exchange = await only_request(simulator)
    assert [event.type for event in received[:4]] == ["response.created", *["response.in_progress"] * 3]
    assert (exchange.outcome, exchange.tokens_sent) == ("cancelled", 0)


async def test_dribble_sends_single_characters_on_chat() -> None:
    received: list[str] = []
    async with simulated() as (simulator, client):
        await begin(stream(client, faulty("dribble"), received), lambda: len(received) >= 4)
        exchange = await only_request(simulator)
    assert received[0] == ""
    assert {len(piece) for piece in received[1:]} == {1}
    assert exchange.outcome == "cancelled"


async def test_dribble_sends_single_characters_on_the_socket() -> None:
    received: list[Any] = []
    async with simulated() as (_, client):
        await begin(listen(client, faulty("dribble"), received), lambda: len(spoken(received)) >= 3)
    assert {len(event.delta) for event in received if event.type == "response.output_text.delta"} == {1}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("401", openai.AuthenticationError),
        ("429", openai.RateLimitError),
        ("500", openai.InternalServerError),
    ],
)
async def test_statuses_are_the_sdks_errors_on_chat(fault: str, error: type[openai.APIStatusError]) -> None:
    async with simulated() as (simulator, client):
        with pytest.raises(error, match="simulated") as caught:
            await stream(client, faulty(fault), [])
        assert (await only_request(simulator)).outcome == "failed"
    assert caught.value.response.headers.get("retry-after") == ("3" if fault == "429" else None)


@pytest.mark.parametrize("fault", ["401", "429", "500"])
async def test_statuses_are_error_events_on_an_open_socket(fault: str) -> None:
    received: list[Any] = []
    async with simulated() as (simulator, client):
        await listen(client, faulty(fault), received)
        assert (await only_request(simulator)).outcome == "failed"
    (event,) = received
    assert (event.type, event.status) == ("error", int(fault))
    assert (event.error.headers or {}).get("retry-after") == ("3" if fault == "429" else None)


@pytest.mark.parametrize("fault", ["401", "429", "500"])
async def test_statuses_in_the_url_keep_the_socket_from_opening(fault: str) -> None:
    async with simulated() as (simulator, client):
        with pytest.raises(InvalidStatus, match=fault):
            await listen(client, faulty(fault), [], fault=fault)
        assert not simulator.journal.exchanges


async def test_refuse_resets_the_connection_before_any_answer_on_chat() -> None:
    async with simulated() as (simulator, client):
        with pytest.raises(openai.APIConnectionError):
            await stream(client, faulty("refuse"), [])
        exchange = await only_request(simulator)
    assert (exchange.outcome, exchange.tokens_sent) == ("cut", 0)


async def test_refuse_resets_the_socket_at_the_request_or_while_opening() -> None:
    received: list[Any] = []
    async with simulated() as (simulator, client):
        with pytest.raises(ConnectionClosed):
            await listen(client, faulty("refuse"), received)
        assert (await only_request(simulator)).outcome == "cut"
        with pytest.raises((InvalidMessage, ConnectionError)):
            await listen(client, faulty("refuse"), received, fault="refuse")
    assert received == []


@pytest.mark.parametrize("after", [None, 12])
async def test_midfail_breaks_off_with_an_error_on_chat(after: int | None) -> None:
    received: list[str] = []
    model = faulty("midfail") if after is None else faulty("midfail", after=after)
    async with simulated() as (simulator, client):
        with pytest.raises(openai.APIError, match="had an error"):
            await stream(client, model, received)
        exchange = await only_request(simulator)
    assert exchange.outcome == "failed"
    assert len("".join(received)) > 10
    if after is not None:
        assert exchange.tokens_sent == after


async def test_midfail_ends_in_a_failed_response_and_the_socket_stays_open() -> None:
    async with simulated() as (_, client), client.responses.connect(extra_query={"model": "sim:steady"}) as socket:
        events: list[Any] = []
        for model in (faulty("midfail"), "sim:steady"):
            await socket.response.create(model=model, input="tell me a story")
            while not events or events[-1].type not in ("response.failed", "response.completed"):
                events.append(await socket.recv())
            if events[-1].type == "response.failed":
                assert spoken(events)
                assert "had an error" in events[-1].response.error.message
                events = []
    assert events[-1].type == "response.completed"


async def test_cut_socket_resets_in_the_middle_on_chat() -> None:
    received: list[str] = []
    async with simulated() as (simulator, client):
        # The SDK lets the transport's error through.
        with pytest.raises((httpx2.ReadError, httpx2.RemoteProtocolError, openai.APIConnectionError)):
            await stream(client, faulty("cut-socket", after=8, tokens_per_s=40), received)
        exchange = await only_request(simulator)
    assert (exchange.outcome, exchange.tokens_sent) == ("cut", 8)
    assert "".join(received)


async def test_cut_socket_resets_in_the_middle_on_the_socket() -> None:
    received: list[Any] = []
    async with simulated() as (simulator, client):
        with pytest.raises(ConnectionClosed):
            await listen(client, faulty("cut-socket", after=8, tokens_per_s=40), received)
        exchange = await only_request(simulator)
    assert (exchange.outcome, exchange.tokens_sent) == ("cut", 8)
    assert spoken(received)


async def test_slow_connect_delays_only_the_first_request_of_a_connection() -> None:
    async with simulated() as (simulator, client):
        for _ in range(2):
            await stream(client, faulty("slow-connect"), [])
        first, second = simulator.journal.exchanges
    assert first.first_text is not None
    assert second.first_text is not None
    assert first.first_text - first.requested >= 1.5
    assert second.first_text - second.requested < 1.5


async def test_slow_connect_in_the_url_delays_the_opening_of_a_socket() -> None:
    loop = asyncio.get_running_loop()
    async with simulated() as (simulator, client):
        start = loop.time()
        await listen(client, faulty("slow-connect"), [], fault="slow-connect")
        assert loop.time() - start >= 1.5
        exchange = simulator.journal.exchanges[0]
    assert exchange.first_text is not None
    assert exchange.first_text - exchange.requested < 1.5


async def test_a_client_that_leaves_while_the_socket_opens_leaves_nothing_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with simulated() as (simulator, client):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(WAIT):
                await listen(client, "sim:steady", [], fault="slow-connect")
        async with asyncio.timeout(LIMIT):
            while len(simulator.connections):
                await asyncio.sleep(0.01)
    assert not caplog.records


async def test_faults_while_opening_also_affect_the_list_of_models() -> None:
    async with simulated() as (_, client):
        with pytest.raises(openai.APIConnectionError):
            await client.models.list(extra_query={"fault": "refuse"})
        with pytest.raises(openai.APITimeoutError):
            await client.with_options(timeout=WAIT).models.list(extra_query={"fault": "silent"})
        with pytest.raises(openai.AuthenticationError):
            await client.models.list(extra_query={"fault": "401"})
        assert (await client.models.list()).data
