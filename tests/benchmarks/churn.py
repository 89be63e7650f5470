"""A server that is watched from outside, and the short calls that come and go on it."""

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
import soundfile
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from voice.client.sound.pcm import Pcm
from voice.wire import framing
from voice.wire.messages import BotReady, ClientReady, ServerMessage, Speaking

ROOT = Path(__file__).resolve().parents[2]
SPEECH = ROOT / "samples" / "tour" / "01.wav"
RATE = 16000
PACKET = RATE // 10
WARM = 2
"""Rounds after which a server has grown to its size."""
COMPARED = 3
"""Rounds at each end. The least of them counts: the allocator keeps 20 MB more after some rounds than after others."""
GROWN_MB = 10.0
"""What memory may seem to grow by."""
POOLED = 5
"""Threads and kept-alive connections that pools may make late; what each call leaves behind would be hundreds."""

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
    """`voice serve` in a process that counts its tasks when it is asked to.

    Args:
        process: of the server.
        tasks: the file into which it counts them.
        log: what it writes to standard error.
    """

    def __init__(self, process: "subprocess.Popen[str]", tasks: Path, log: Path) -> None:
        assert process.stdout is not None
        self.url = process.stdout.readline().removeprefix("Listening on ").strip()
        self.log = log
        self._health = self.url.replace("ws", "http", 1).removesuffix("/ws") + "/healthz"
        self._process, self._tasks = process, tasks
        self._when_idle = len(self._processes())

    def calls(self) -> int:
        with urllib.request.urlopen(self._health) as answer:
            return int(json.load(answer)["calls"])

    async def idle(self) -> Size:
        """Its size when all calls have ended and a moment has passed."""
        async with asyncio.timeout(60):
            while await asyncio.to_thread(self.calls) or len(self._processes()) != self._when_idle:
                await asyncio.sleep(0.1)
        await asyncio.sleep(3)
        return await asyncio.to_thread(self._size)

    def _processes(self) -> list[psutil.Process]:
        """The server, its models' simulator, the recognisers' template and the spare recogniser; and those of calls."""
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
def serving(folder: Path, pipeline: str) -> Iterator[Server]:
    command = [sys.executable, "-c", SERVER, str(folder / "tasks"), "serve", "--port", "0", "--pipeline", pipeline]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
    try:
        yield Server(process, folder / "tasks", folder / "log")
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


async def some_calls(url: str, count: int, *, at_once: int) -> Counter[str]:
    """So many calls that are taken, of each kind in turn; a refused one is made again."""
    speech: Pcm = soundfile.read(SPEECH, dtype="int16")[0]
    outcomes, kinds = Counter[str](), itertools.cycle(range(4))
    left = iter(range(count))

    async def caller() -> None:
        for _ in left:
            kind = next(kinds)
            while (outcome := await call(url, kind, speech)) == "refused":
                outcomes[outcome] += 1
                await asyncio.sleep(1)
            outcomes[outcome] += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(caller())
    return outcomes


def check_flat(sizes: list[Size], server: Server) -> None:
    """Print by how much the server has grown, and check that it has not.

    Args:
        sizes: of the idle server, after each round.
        server: that was called.
    """
    warm = sizes[WARM:]
    assert len(warm) >= 2 * COMPARED, f"{WARM + 2 * COMPARED} rounds are needed"
    first, last = warm[:COMPARED], warm[-COMPARED:]
    grown = min(size.mb for size in last) - min(size.mb for size in first)
    print(f"memory: {grown:+.1f} MB after the first {WARM} rounds")
    assert grown < GROWN_MB
    for what in ("tasks", "threads", "descriptors", "processes"):
        assert min(getattr(size, what) for size in last) <= max(getattr(size, what) for size in first) + POOLED, what
    assert "Traceback" not in server.log.read_text()
