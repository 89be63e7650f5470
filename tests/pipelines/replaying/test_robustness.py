"""A failure harms only its own call, and every call and every process ends in an orderly way."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import soundfile
import soxr
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from pipelines.replaying.call_records import turn_records
from tests.pipelines.server_process import ServerProcess
from tests.voice.wire.packed import audio, message
from voice.client.call.line import PacedLine
from voice.client.call.listener import CallListener
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import load_fixtures
from voice.client.sound.pcm import Pcm
from voice.wire import framing
from voice.wire.messages import BotReady, ClientReady, ServerMessage, Speaking

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "samples" / "commands" / "02.wav"
RATE = 16000
CTRL_C_WITHIN = 3.0
"""Seconds; on an idle machine it takes one."""


GARBAGE: dict[str, tuple[bytes | str, int, str]] = {
    "random bytes": (bytes(range(255, 100, -1)), 1007, "not a pipecat protobuf frame"),
    "text": ("hello", 1007, "not a pipecat protobuf frame"),
    "an empty message": (b"", 1007, "holds no frame"),
    "another rate": (audio(bytes(320), rate=4000), 1007, "audio must be 16000 Hz mono, not 4000 Hz"),
    "half a sample": (audio(bytes(641)), 1007, "an odd number of bytes"),
    "20 MB": (audio(bytes(20_000_000)), 1009, "exceeds limit"),
    "20 s at once": (audio(bytes(20 * 2 * RATE)), 1009, "a message may have 128 kB at most"),
    "broken JSON": (message('{"label": "rtvi-ai", '), 1007, "not JSON"),
    "JSON that is no object": (message("[1, 2]"), 1007, "not a JSON object"),
}


@asynccontextmanager
async def calling(url: str) -> AsyncIterator[ClientConnection]:
    """A call whose bot is ready."""
    async with connect(url, compression=None, max_size=None) as socket:
        await socket.send(framing.encode(ClientReady()))
        await until(socket, BotReady())
        yield socket


async def until(socket: ClientConnection, wanted: ServerMessage | None) -> None:
    """Read messages until this one has come; None: until the connection ends."""
    async with asyncio.timeout(20):
        while framing.decode(await socket.recv()) != wanted:
            pass


def beginning() -> Pcm:
    """The first 1.5 s of a sample, which end in the middle of its speech."""
    speech: Pcm = soundfile.read(SAMPLE, dtype="int16", frames=3 * RATE // 2)[0]
    return speech


def health(server: ServerProcess) -> dict[str, Any]:
    with urllib.request.urlopen(server.health) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def workers(server: ServerProcess) -> list[psutil.Process]:
    return [process for process in psutil.Process(server.process.pid).children(recursive=True) if is_running(process)]


def is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def eventually(condition: Callable[[], bool], *, within: float = 20.0) -> bool:
    """Whether it comes true; polled in a thread, so that a call can go on meanwhile."""
    end = time.monotonic() + within
    while not await asyncio.to_thread(condition):
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.05)
    return True


@dataclass
class Command:
    """A `voice` command in a process group of its own, as a terminal starts it."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def interrupt(self) -> float:
        """Ctrl-C; the seconds until it has ended."""
        start = time.monotonic()
        os.killpg(self.process.pid, signal.SIGINT)
        self.process.wait(30)
        return time.monotonic() - start

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    async def server(self) -> psutil.Process:
        """The server that a replay has started."""

        def found() -> list[psutil.Process]:
            return [child for child in self.children() if "serve" in child.cmdline()]

        assert await eventually(lambda: bool(found()))
        return found()[0]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    """Starts a command in the folder of the test."""
    started: list[Command] = []

    def run(*arguments: str) -> Command:
        log = tmp_path / "log.txt"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "pipelines.cli", *arguments],
                cwd=tmp_path,
                stdout=file,
                stderr=file,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        started.append(Command(process, log))
        return started[-1]

    yield run
    for command in started:
        if command.process.poll() is None:
            command.process.kill()
            command.process.wait(10)


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample at 44.1 kHz without its labels."""
    path = tmp_path_factory.mktemp("recordings") / "own.wav"
    speech, _ = soundfile.read(ROOT / "samples" / "commands" / "01.wav", dtype="float32")
    soundfile.write(path, soxr.resample(speech, RATE, 44100), 44100)
    return path


async def throw(data: bytes | str, url: str) -> tuple[int, str]:
    """Send garbage in a call of its own; how the server closed it: 1006 when its reason got lost."""

    async def talk(socket: ClientConnection) -> None:
        await socket.send(data)
        await until(socket, None)

    async with connect(url, compression=None, max_size=None) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            await talk(socket)
    told = closed.value.rcvd
    return (told.code, told.reason) if told else (1006, "")


async def test_garbage_closes_its_own_call_with_the_reason_and_no_other(
    server: ServerProcess, unlabelled: Path, start: Callable[..., Command], tmp_path: Path
) -> None:
    replay = start("replay", str(unlabelled), "--url", server.url, "--out", "run")
    assert await eventually((tmp_path / "run" / "run.json").exists)
    found = {name: await throw(data, server.url) for name, (data, _, _) in GARBAGE.items()}
    # A server that does not read 20 MB to their end may be gone before its reason has been read.
    assert found.pop("20 MB")[0] in (1009, 1006)
    for name, (code, reason) in found.items():
        assert code == GARBAGE[name][1], name
        assert GARBAGE[name][2] in reason, name

    assert await asyncio.to_thread(replay.process.wait, 60) == 0
    assert "own.wav: 44.1 kHz mono converted to 16 kHz mono" in replay.said
    assert "1 of 1 answered" in replay.said
    assert json.loads((tmp_path / "run" / "turns.jsonl").read_text())["truth"] == "estimated"
    assert health(server)["calls"] == 0


async def test_clients_that_vanish_leave_no_process_no_descriptor_and_no_memory_behind(server: ServerProcess) -> None:
    process = psutil.Process(server.process.pid)

    async def speak_and_vanish() -> None:
        async with calling(server.url) as socket:
            await socket.send(framing.encode_audio(beginning()))
            await until(socket, Speaking("user", started=True))
            socket.transport.abort()

    async def measure() -> tuple[int, int, int]:
        assert await eventually(lambda: health(server)["calls"] == 0)
        # The spare one, when those of the calls have gone.
        assert await eventually(lambda: len(workers(server)) == 1)
        return process.num_fds(), process.num_threads(), process.memory_info().rss

    await speak_and_vanish()
    before = await measure()
    for _ in range(20):
        await speak_and_vanish()
    after = await measure()
    assert after[0] <= before[0] + 5
    assert after[1] <= before[1] + 5
    assert after[2] <= before[2] + 30e6


class KillRecognisers(CallListener):
    """Ends every recogniser process when the first word has been recognised, in the middle of the user's speech."""

    def __init__(self, server: ServerProcess) -> None:
        self.errors: list[str] = []
        self._server = server
        self._has_killed = False

    def on_partial(self, text: str) -> None:
        if not self._has_killed:
            self._has_killed = True
            for worker in workers(self._server):
                worker.kill()

    def on_error(self, text: str) -> None:
        self.errors.append(text)


async def test_a_killed_recogniser_fails_its_turn_and_the_next_one_works(
    server: ServerProcess, conversation: Callable[..., Path]
) -> None:
    folder = conversation("killed", ("commands/02", "timer set"), ("arithmetic/02", "56"))
    (fixture,) = load_fixtures([folder])
    listener = KillRecognisers(server)
    session = CallSession(server.url, PacedLine(ScriptedCaller(fixture.turns)), listener=listener)
    result = await session.run()
    first, second = turn_records(result, fixture, "killed")
    assert first.ended_by == "recogniser_failed"
    assert "was ended by signal 9" in str(first.failed)
    assert not first.heard
    assert any("speech recogniser broke down" in text for text in listener.errors)
    assert second.failed is None
    assert "56" in str(second.said)
    assert result.closed is None


@pytest.fixture
def replay(start: Callable[..., Command], conversation: Callable[..., Path]) -> Callable[[], Command]:
    """Starts the replay of two turns with a server of its own."""
    folder = conversation("two", ("commands/01", "it is"), ("commands/02", "timer set"))
    return lambda: start("replay", str(folder), "--pipeline", "embedded", "--out", "run")


def report(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "latency", "report", str(folder), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True)
    # What was cut short may hold no answer yet, which is no success.
    assert done.returncode in (0, 3, 4), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


async def none_is_left(processes: list[psutil.Process]) -> bool:
    return await eventually(lambda: not any(map(is_running, processes)))


def test_ctrl_c_while_code_is_loaded_prints_nothing() -> None:
    script = "import os, signal, time\nfrom pipelines.process import loading_code\n"
    script += "with loading_code():\n os.kill(os.getpid(), signal.SIGINT)\n time.sleep(10)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_a_server_does_not_wait_for_a_model_that_is_still_computing() -> None:
    lines = (
        "import atexit, time",
        "from concurrent.futures import ThreadPoolExecutor",
        "from pipelines.process import leave",
        "atexit.register(print, 'written')",
        "ThreadPoolExecutor().submit(time.sleep, 100)",
        "print('closed')",
        "leave(3)",
    )
    script = "\n".join(lines)
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split(), done.stderr) == (3, ["closed", "written"], "")


async def test_ctrl_c_ends_a_replay_whose_models_are_loading(replay: Callable[[], Command], tmp_path: Path) -> None:
    command = replay()
    children = [await command.server()]
    assert command.interrupt() < CTRL_C_WITHIN
    assert command.process.returncode == 130
    assert await none_is_left(children)
    assert not (tmp_path / "run").exists()
    assert "Traceback" not in command.said


async def test_ctrl_c_during_a_call_keeps_the_conversation_so_far(
    replay: Callable[[], Command], tmp_path: Path
) -> None:
    command = replay()
    # The first turn's line is printed when the second one begins.
    assert await eventually(lambda: "→" in command.said, within=60), command.said
    children = command.children()
    assert command.interrupt() < CTRL_C_WITHIN
    assert command.process.returncode == 130
    assert await none_is_left(children)
    assert "Traceback" not in command.said
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "interrupted"
    assert report(tmp_path / "run")["turns"]["total"] >= 1


async def test_a_server_killed_during_a_call_is_reported_in_one_sentence(
    replay: Callable[[], Command], tmp_path: Path
) -> None:
    command = replay()
    assert await eventually(lambda: "→" in command.said, within=60), command.said
    children = command.children()
    (await command.server()).kill()
    assert await asyncio.to_thread(command.process.wait, 30) == 4
    assert await none_is_left(children)
    turns = report(tmp_path / "run")["turns"]["total"]
    assert turns >= 1
    unsent = "" if turns == 2 else " (1 of 2 turns not sent)"
    assert command.said.splitlines()[-1] == (
        f"voice: The call ended early: the connection to the server was lost{unsent}."
    )


async def test_a_server_does_not_outlive_the_replay_that_started_it(replay: Callable[[], Command]) -> None:
    command = replay()
    server = await command.server()
    command.process.kill()
    assert await none_is_left([server])


async def test_ctrl_c_ends_a_server_and_its_calls(start: Callable[..., Command]) -> None:
    command = start("serve", "--pipeline", "embedded", "--port", "0")
    assert await eventually(lambda: "Listening on " in command.said, within=60), command.said
    url = command.said.partition("Listening on ")[2].split()[0]
    children = command.children()
    async with calling(url) as socket:
        await socket.send(framing.encode_audio(beginning()))
        await until(socket, Speaking("user", started=True))
        assert await asyncio.to_thread(command.interrupt) < CTRL_C_WITHIN
        with pytest.raises(ConnectionClosed):
            await until(socket, None)
    assert command.process.returncode == 130
    assert await none_is_left(children)
