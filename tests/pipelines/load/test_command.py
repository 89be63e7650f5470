"""`voice load` against servers in processes of their own, and against servers that take no calls."""

import asyncio
import http
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from pipelines.cli import main
from tests.pipelines.server_process import ServerProcess

Conversation = Callable[..., Path]


def test_each_caller_holds_its_own_call(conversation: Conversation, server: ServerProcess, tmp_path: Path) -> None:
    fixture = conversation("question", ("commands/01", "it is"))
    options = ("--callers", "2", "--ramp", "0", "--url", server.url, "--out", str(tmp_path / "run"), "--json")
    command = [sys.executable, "-m", "pipelines.cli", "load", str(fixture), *options, "--check", "calls refused == 0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["calls"] for one in found["by_caller"]] == [1, 1]
    assert found["most_at_once"] == 2
    assert found["tally"]["turn_ms"]["n"] == 2
    # The server runs on this machine, so that its processes are seen.
    assert found["server"]["cpu_seconds_per_call_minute"] > 0
    assert found["generator_cores"] > 0
    assert "caller 2" in done.stderr


def main_while(serving: Callable[[], Awaitable[Server]], *arguments: str) -> int:
    """Run `voice load` in a thread, against a server in this one."""

    async def run() -> int:
        server = await serving()
        try:
            port = server.sockets[0].getsockname()[1]
            return await asyncio.to_thread(main, ["load", "--url", f"ws://127.0.0.1:{port}/ws", *arguments])
        finally:
            server.close()

    return asyncio.run(run())


async def full() -> Server:
    """A server that takes a call's connection and closes it: it has too many calls."""

    async def close(socket: ServerConnection) -> None:
        await socket.close(1013, "3 calls are under way")

    return await serve(close, "127.0.0.1", 0)


async def unavailable() -> Server:
    """A server that answers HTTP 503 instead of a call."""

    def refuse(connection: ServerConnection, request: Request) -> Response:
        return connection.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, "3 calls are under way")

    async def never(_socket: ServerConnection) -> None:
        """Not reached."""

    return await serve(never, "127.0.0.1", 0, process_request=refuse)


@pytest.mark.parametrize("serving", [full, unavailable])
def test_refused_calls_are_counted_with_their_reason(
    serving: Callable[[], Awaitable[Server]],
    conversation: Conversation,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("pipelines.load.callers.RETRY_AFTER", 0.0)
    fixture = conversation("question", ("commands/01", "it is"))
    run = ("--callers", "2", "--ramp", "0", "--out", str(tmp_path / "run"))
    assert main_while(serving, str(fixture), *run) == 3
    said = capsys.readouterr().err
    assert "refused: 3 calls are under way" in said
    assert "no call was held" in said
    calls = json.loads((tmp_path / "run" / "load.json").read_text())["calls"]
    assert [call["refused"] for call in calls] == ["3 calls are under way"] * 2


def test_a_server_that_is_not_there_is_a_failure(
    conversation: Conversation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fixture = conversation("question", ("commands/01", "it is"))
    where = ("--url", "ws://127.0.0.1:9/ws", "--out", str(tmp_path / "run"))
    assert main(["load", str(fixture), "--callers", "1", *where]) == 4
    assert "cannot be reached" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--callers", "0"), "--callers takes a whole number of 1 or more"),
        (("--callers", "2", "--ramp", "-1"), "--ramp takes a number above 0"),
        ((), "--callers"),
        (("--callers", "1", "--check", "calls lost == 0"), "of calls there is taken, refused"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["load", *arguments])
    except SystemExit as error:
        code = int(error.code or 0)
    assert code == 2
    assert told in capsys.readouterr().err


def test_a_page_that_cannot_be_written_is_found_before_the_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "nowhere" / "page.html"
    assert main(["load", "--callers", "1", "--html", str(page)]) == 2
    assert capsys.readouterr().err == f"voice: the page cannot be written to {page}: No such file or directory.\n"
