"""Servers on the usual ports are found in time, and used only once they complete a token; all over real sockets."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from pipelines import auto
from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.simulator import Simulator
from pipelines.providers import local_servers
from pipelines.providers.local_servers import LocalServer, find_servers, first_model, probe
from tests.pipelines.providers.model_servers import (
    COMPLETION,
    PAGE,
    SLOW,
    Handler,
    dribbles,
    free_port,
    http,
    listening,
    lists,
    models,
    says,
    says_nothing,
)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """More time than users are made to wait: the tests' machine is shared."""
    assert local_servers.FIND_WITHIN <= 0.15
    monkeypatch.setattr(local_servers, "FIND_WITHIN", 1.0)


@pytest.fixture
def at_ports(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[int]]]:
    """Puts servers at the usual ports, named A, B, …; gives the ports."""
    with ExitStack() as stack:

        def put(*handlers: Handler) -> list[int]:
            ports = [stack.enter_context(listening(handle)) for handle in handlers]
            monkeypatch.setattr(local_servers, "LOCAL_SERVERS", dict(zip("ABCDEF", ports, strict=False)))
            return ports

        yield put


NO_LIST = "listens but lists no models"


def test_a_port_where_nothing_listens_has_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_servers, "LOCAL_SERVERS", {"A": (port := free_port())})
    assert find_servers() == [LocalServer("A", port)]
    table, reason = auto._llm("en")
    assert table == {"provider": "responder"}
    assert reason == (
        "llm: the responder, because no language model is here and no server of one answers; "
        "`voice models pull` gets a small one, `ollama run llama3.2` starts one"
    )


async def test_our_simulator_is_found_and_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(Simulator(preset="optimistic", seed=1)) as endpoint:
        monkeypatch.setattr(local_servers, "LOCAL_SERVERS", {"A": free_port(), "B": endpoint.port})
        table, reason = await asyncio.to_thread(auto._llm, "en")
    model = table["large"]["model"]
    assert table == {
        "policy": "single",
        "large": {"provider": "openai", "base_url": f"http://127.0.0.1:{endpoint.port}/v1", "model": model},
    }
    assert model.startswith("sim:")
    assert reason == f"llm: {model} at B on port {endpoint.port}"


@pytest.mark.parametrize(
    ("handle", "problem"),
    [
        pytest.param(says_nothing, "listens but lists no models within 1000 ms", id="accepts and says nothing"),
        pytest.param(
            dribbles(http(models("m"))), "listens but lists no models within 1000 ms", id="dribbles a right answer"
        ),
        pytest.param(dribbles(b"HTTP/1.1 200 OK\r\n" * 100), "listens but lists no models within 1000 ms", id="head"),
        pytest.param(says(http(PAGE, kind="text/html")), NO_LIST, id="HTML"),
        pytest.param(says(http(b"{}", status="404 Not Found")), NO_LIST, id="404"),
        pytest.param(says(b"SSH-2.0-OpenSSH_9.6\r\n"), NO_LIST, id="no HTTP"),
        pytest.param(says(b""), NO_LIST, id="closes"),
        pytest.param(says(http(b"[" * 100_000)), NO_LIST, id="nested without end"),
        pytest.param(says(http(b'{"data": "many"}')), NO_LIST, id="no list"),
        pytest.param(says(http(b"\xff\xfe\xfd")), NO_LIST, id="no text"),
        pytest.param(says(http(models())), "A has no chat model", id="no models"),
        pytest.param(says(http(models("nomic-embed-text"))), "A has no chat model", id="vectors only"),
        pytest.param(says(http(b'{"data": [{"name": "m"}, 3]}')), "A has no chat model", id="nameless"),
    ],
)
def test_a_listener_that_is_not_a_language_model_is_named_and_not_used(
    at_ports: Callable[..., list[int]], handle: Handler, problem: str
) -> None:
    (port,) = at_ports(handle)
    assert find_servers() == [LocalServer("A", port, problem=problem)]
    table, reason = auto._llm("en")
    assert table == {"provider": "responder"}
    assert f"no server of one answers (port {port}: {problem});" in reason


def test_an_embedding_model_is_skipped(at_ports: Callable[..., list[int]]) -> None:
    at_ports(says(http(models("text-embedding-3", "llama3.2"))))
    assert find_servers()[0].model == "llama3.2"


def test_all_ports_are_searched_at_the_same_time(at_ports: Callable[..., list[int]]) -> None:
    at_ports(says_nothing, dribbles(http(models("m"))), says_nothing, says(http(models("m"))))
    begin = time.monotonic()
    servers = find_servers()
    took = time.monotonic() - begin
    assert [server.model for server in servers] == [None, None, None, "m"]
    assert took < 2.0, "one after the other takes 3 s, and so does the dribble unbounded"


def test_a_server_that_lists_a_model_but_completes_no_token_is_named_and_not_used(
    at_ports: Callable[..., list[int]],
) -> None:
    (port,) = at_ports(lists("m", then=says(http(b"{}", status="500 Internal Server Error"))))
    table, reason = auto._llm("en")
    assert table == {"provider": "responder"}
    assert f"(port {port}: A lists m but did not complete a token (HTTP 500))" in reason


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (http(b'{"choices": []}'), " (the answer is not a completion)"),
        (http(PAGE), " (Expecting value"),
        (b"", " (Server disconnected without sending a response)"),
    ],
)
def test_a_server_that_answers_without_a_token_has_failed(
    at_ports: Callable[..., list[int]], answer: bytes, why: str
) -> None:
    at_ports(lists("m", then=says(answer)))
    (server,) = find_servers()
    taken, (failed,) = probe([server])
    assert taken is None
    assert str(failed.problem).startswith(f"A lists m but did not complete a token{why}")


@pytest.mark.parametrize("then", [says_nothing, dribbles(COMPLETION)], ids=["silent", "dribbles"])
def test_a_server_that_hangs_leaves_the_next_one_its_share_of_the_time(
    at_ports: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch, then: Handler
) -> None:
    monkeypatch.setattr(local_servers, "PROBE_WITHIN", 2.0)
    first, second = at_ports(lists("slow", then=then), lists("quick", then=says(COMPLETION)))
    begin = time.monotonic()
    table, reason = auto._llm("en")
    took = time.monotonic() - begin
    assert table["large"]["model"] == "quick"
    assert reason == (
        f"llm: quick at B on port {second} (port {first}: A lists slow but did not complete a token within 1 s)"
    )
    assert took < SLOW


def test_a_server_on_this_machine_is_never_asked_through_a_proxy(
    at_ports: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    at_ports(lists("m", then=says(COMPLETION)))
    assert auto._llm("en")[0]["large"]["model"] == "m"


def test_the_first_model_of_any_address_can_be_asked_for(at_ports: Callable[..., list[int]]) -> None:
    (port,) = at_ports(says(http(models("m"))))
    assert first_model(f"http://localhost:{port}/v1") == "m"
    assert first_model(f"http://127.0.0.1:{free_port()}/v1") is None
    assert first_model("https://127.0.0.1/v1") is None
    assert first_model("nonsense") is None


async def test_servers_are_found_from_inside_a_running_event_loop_too(at_ports: Callable[..., list[int]]) -> None:
    at_ports(lists("m", then=says(COMPLETION)))
    (server,) = find_servers()
    assert server.model == "m"
    assert probe([server]) == (server, [])


def test_an_answer_without_end_is_not_read_to_its_end(at_ports: Callable[..., list[int]]) -> None:
    (port,) = at_ports(says(http(b'{"data": "' + b"x" * (2 << 20) + b'"}')))
    assert find_servers() == [LocalServer("A", port, problem=NO_LIST)]
