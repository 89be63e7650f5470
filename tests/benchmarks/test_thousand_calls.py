"""A server is the same after a thousand short calls: memory, tasks, threads, descriptors and processes.

python -m pytest tests/benchmarks/test_thousand_calls.py -m slow -s

Several callers at a time, in turns: one whole turn, a handshake alone, half a sentence and a hang-up, half a sentence
and a connection that breaks. CALLS in the environment gives another number of calls.
"""

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import soundfile
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from voice.client.sound.pcm import Pcm
from voice.wire import framing
from voice.wire.messages import BotReady, ClientReady, ServerMessage, Speaking

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="memory is read as on Linux")]
ROOT = Path(__file__).resolve().parents[2]
SPEECH = ROOT / "samples" / "tour" / "01.wav"
RATE = 16000
PACKET = RATE // 10

CALLS = int(os.environ.get("CALLS", "1000"))
AT_ONCE = 6
ROUND = 100
"""Calls between two measurements, which are made when the server is idle."""
WARM = 2
"""Rounds after which a server has grown to its size."""
COMPARED = 3
"""Rounds at each end. The least of them counts: the allocator keeps 20 MB more after some rounds than after others."""
GROWN_MB = 10.0
"""What memory may seem to grow by."""

SERVER = """
import asyncio, runpy, signal, sys
from pathlib import Path

def count(*_):
    Path(sys.argv[1] + ".part").write_text(str(len(asyncio.all_tasks(asyncio.get_running_loop()))))
    Path(sys.argv[1] + ".part").rename(sys.argv[1])

signal.signal(signal.SIGUSR1, count)
from pipelines.cli import main
sys.exit(main(sys.argv[2:]))
"""


@dataclass(frozen=True, slots=True)
class Size:
    """What an idle server holds."""

    mb: float
    """Of all its processes; what they share counts once."""
    tasks: int
    threads: int
    descriptors: int
    processes: int

    def __str__(self) -> str:
        return (
            f"{self.mb:.1f} MB, {self.tasks} tasks, {self.threads} threads, {self.descriptors} descriptors, "
            f"{self.processes} processes"
        )


class Server:
    """`voice serve` in a process that counts its tasks when it is asked to."""

    def __init__(self, process: "subprocess.Popen[str]", tasks: Path) -> None:
        assert process.stdout is not None
        self.url = process.stdout.readline().removeprefix("Listening on ").strip()
        self._health = self.url.replace("ws", "http", 1).removesuffix("/ws") + "/healthz"
        self._process, self._tasks = process, tasks

    def calls(self) -> int:
        with urllib.request.urlopen(self._health) as answer:
            return int(json.load(answer)["calls"])

    async def idle(self) -> Size:
        """Its size when all calls have ended and a moment has passed."""
        async with asyncio.timeout(60):
            while await asyncio.to_thread(self.calls) or len(self._processes()) != 3:
                await asyncio.sleep(0.1)
        await asyncio.sleep(3)
        return await asyncio.to_thread(self._size)

    def _processes(self) -> list[psutil.Process]:
        """The server, the recognisers' template and the spare recogniser; and those of calls."""
        server = psutil.Process(self._process.pid)
        return [server, *server.children(recursive=True)]

    def _size(self) -> Size:
        processes = self._processes()
        self._tasks.unlink(missing_ok=True)
        os.kill(self._process.pid, signal.SIGUSR1)
        while not self._tasks.exists():
            time.sleep(0.01)
        return Size(
            mb=sum(one.memory_full_info().pss for one in processes) / 1e6,
            tasks=int(self._tasks.read_text()),
            threads=processes[0].num_threads(),
            descriptors=processes[0].num_fds(),
            processes=len(processes),
        )


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    command = [sys.executable, "-c", SERVER, str(folder / "tasks"), "serve", "--port", "0", "--pipeline", "embedded"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
    try:
        yield Server(process, folder / "tasks")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(10)


async def until(socket: ClientConnection, wanted: ServerMessage) -> None:
    async with asyncio.timeout(30):
        while framing.decode(await socket.recv()) != wanted:
            pass


async def speak(socket: ClientConnection, pcm: Pcm) -> None:
    """In real time."""
    begun = time.monotonic()
    for number, at in enumerate(range(0, len(pcm), PACKET), 1):
        await socket.send(framing.encode_audio(pcm[at : at + PACKET]))
        await asyncio.sleep(max(0.0, begun + number * PACKET / RATE - time.monotonic()))


async def call(url: str, kind: int, speech: Pcm) -> str:
    """One short call; returns what it was, or why it was refused."""
    try:
        async with connect(url, compression=None, max_size=None) as socket:
            await socket.send(framing.encode(ClientReady()))
            await until(socket, BotReady())
            if kind == 0:
                silence: Pcm = speech[:PACKET] * 0
                await speak(socket, speech)
                answered = asyncio.create_task(until(socket, Speaking("bot", started=True)))
                while not answered.done():
                    await speak(socket, silence)
                await answered
                return "one turn"
            if kind == 1:
                return "a handshake"
            await speak(socket, speech[: RATE // 2])
            if kind == 2:
                return "half a sentence"
            socket.transport.abort()
            return "broken off"
    except ConnectionClosed as error:
        if error.rcvd is None or error.rcvd.code != 1013:
            raise
        return "refused"


async def some_calls(url: str, count: int, kinds: "itertools.cycle[int]", speech: Pcm) -> Counter[str]:
    """So many calls that are taken, `AT_ONCE` at a time; a refused one is made again."""
    outcomes: Counter[str] = Counter()
    left = iter(range(count))

    async def caller() -> None:
        for _ in left:
            kind = next(kinds)
            while (outcome := await call(url, kind, speech)) == "refused":
                outcomes[outcome] += 1
                await asyncio.sleep(1)
            outcomes[outcome] += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(caller())
    return outcomes


async def test_a_thousand_short_calls_leave_nothing_behind(tmp_path: Path) -> None:
    speech: Pcm = soundfile.read(SPEECH, dtype="int16")[0]
    kinds, outcomes, sizes = itertools.cycle(range(4)), Counter[str](), []
    with serving(tmp_path) as server:
        print(f"\n     0 calls: {await server.idle()}")
        for number in range(1, CALLS // ROUND + 1):
            begun = time.monotonic()
            outcomes += await some_calls(server.url, ROUND, kinds, speech)
            took = time.monotonic() - begun
            sizes.append(await server.idle())
            print(f"{number * ROUND:6} calls: {sizes[-1]}; {took:.0f} s", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))
    warm = sizes[WARM:]
    assert len(warm) >= 2 * COMPARED, f"CALLS must be at least {(WARM + 2 * COMPARED) * ROUND}"
    grown = min(size.mb for size in warm[-COMPARED:]) - min(size.mb for size in warm[:COMPARED])
    print(f"memory: {grown:+.1f} MB after the first {WARM * ROUND} calls")
    assert grown < GROWN_MB
    assert warm[-1].tasks <= warm[0].tasks
    assert warm[-1].threads <= warm[0].threads
    assert warm[-1].descriptors <= warm[0].descriptors
    assert "Traceback" not in (tmp_path / "log").read_text()
