"""The recogniser's worker protocol over asyncio's pipes, compared with `multiprocessing.connection` over a socket pair.

python -m pytest tests/benchmarks/test_worker_protocol.py -m slow -s

Prints, for each: the round trip of a command and its reply, what a message of 20 ms of audio costs the event loop, the
messages a second, how soon a killed worker is noticed, and what happens when a worker hangs.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Timer
from typing import Protocol

import numpy as np
import pytest

from voice.asr.sphinx.worker_protocol import Audio, Message, MessageReader, Partial, PeekUtterance, encode

ROOT = Path(__file__).parents[2]
ROUND_TRIPS, TICKS, LOAD = 2000, 2000, 20_000
AUDIO = Audio(bytes(640))
HANGS = 1.0
"""Seconds for which a worker is stopped."""
PATIENT_BYTES = 1 << 18


class Wire(Protocol):
    """One worker process as the event loop uses it."""

    pid: int

    def send(self, message: Message) -> None: ...
    async def receive(self) -> Message: ...
    async def drain(self) -> None: ...
    async def close(self) -> None: ...


class Pipes:
    """The wire of `SphinxWorker`: our messages over asyncio's pipes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.pid, self._process = process.pid, process
        self._to, self._from = process.stdin, process.stdout
        self._reader, self._received = MessageReader(), deque[Message]()

    @classmethod
    async def spawn(cls) -> Wire:
        command = [sys.executable, "-m", "tests.benchmarks.test_worker_protocol"]
        return cls(await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=-1, stdout=-1))

    def send(self, message: Message) -> None:
        self._to.write(encode(message))

    async def receive(self) -> Message:
        while not self._received:
            data = await self._from.read(1 << 16)
            if not data:
                raise EOFError
            self._received += self._reader.feed(data)
        return self._received.popleft()

    async def drain(self) -> None:
        while self._to.transport.get_write_buffer_size() > PATIENT_BYTES:
            await asyncio.sleep(0)

    async def close(self) -> None:
        self._to.close()
        await self._process.wait()


class Pickled:
    """`multiprocessing.connection`, read when the event loop finds it readable; a send may block."""

    def __init__(self, process: "subprocess.Popen[bytes]", connection: "Connection[Message, Message]") -> None:
        self.pid, self._process, self._connection = process.pid, process, connection
        self._received: asyncio.Queue[Message | None] = asyncio.Queue()
        asyncio.get_running_loop().add_reader(connection.fileno(), self._read)

    @classmethod
    async def spawn(cls) -> Wire:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "tests.benchmarks.test_worker_protocol", str(theirs.fileno())]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()])  # noqa: ASYNC220
        theirs.close()
        return cls(process, Connection(ours.detach()))

    def send(self, message: Message) -> None:
        self._connection.send(message)

    async def receive(self) -> Message:
        if (message := await self._received.get()) is None:
            raise EOFError
        return message

    async def drain(self) -> None:
        pass

    async def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._connection.fileno())
        self._connection.close()
        await asyncio.to_thread(self._process.wait)

    def _read(self) -> None:
        try:
            while self._connection.poll():
                self._received.put_nowait(self._connection.recv())
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(self._connection.fileno())
            self._received.put_nowait(None)


@dataclass(frozen=True)
class Hang:
    """What `send` does while the worker hangs: how many messages go out, and the longest time that one takes."""

    sent: int
    longest: float


async def round_trips(wire: Wire) -> list[float]:
    times = []
    for number in range(ROUND_TRIPS):
        began = time.perf_counter()
        wire.send(PeekUtterance(1))
        await wire.receive()
        times.append(time.perf_counter() - began)
        if number % 10 == 0:
            await asyncio.sleep(0.001)
    return times


async def loop_time(wire: Wire) -> float:
    """Processor seconds of the event loop's thread for a message of audio, beyond those of an idle tick."""

    async def ticks(act: Callable[[], None]) -> float:
        began = time.thread_time()
        for _ in range(TICKS):
            act()
            await asyncio.sleep(0)
        return time.thread_time() - began

    busy = await ticks(lambda: wire.send(AUDIO))
    wire.send(PeekUtterance(1))
    await wire.receive()
    return (busy - await ticks(lambda: None)) / TICKS


async def throughput(wire: Wire) -> float:
    began = time.perf_counter()
    for number in range(LOAD):
        wire.send(AUDIO)
        if number % 50 == 0:
            await wire.drain()
            await asyncio.sleep(0)
    wire.send(PeekUtterance(1))
    await wire.receive()
    return LOAD / (time.perf_counter() - began)


async def death(wire: Wire) -> float:
    """Seconds from the kill to the end of the wait for a reply."""
    waiting = asyncio.create_task(wire.receive())
    await asyncio.sleep(0.05)
    began = time.perf_counter()
    os.kill(wire.pid, signal.SIGKILL)
    with pytest.raises(EOFError):
        await waiting
    return time.perf_counter() - began


async def hang(wire: Wire) -> Hang:
    os.kill(wire.pid, signal.SIGSTOP)
    Timer(HANGS, os.kill, (wire.pid, signal.SIGCONT)).start()
    longest, sent = 0.0, 0
    while sent < 1600 and longest < HANGS / 2:
        began = time.perf_counter()
        wire.send(AUDIO)
        longest, sent = max(longest, time.perf_counter() - began), sent + 1
    await asyncio.sleep(HANGS + 0.1)
    return Hang(sent, longest)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Pipes, Pickled])
async def test_the_wire_between_the_event_loop_and_a_worker(
    capsys: pytest.CaptureFixture[str], kind: type[Pipes] | type[Pickled]
) -> None:
    wire = await kind.spawn()
    wire.send(PeekUtterance(1))
    await wire.receive()
    trips, loop, rate = await round_trips(wire), await loop_time(wire), await throughput(wire)
    died = await death(wire)
    await wire.close()
    hanging = await kind.spawn()
    hanging.send(PeekUtterance(1))
    await hanging.receive()
    hung = await hang(hanging)
    await hanging.close()
    p50, p95 = np.percentile(trips, [50, 95]) * 1e6
    with capsys.disabled():
        print(
            f"\n{kind.__name__}: round trip p50 {p50:.0f} us, p95 {p95:.0f} us, n {len(trips)}; a message takes "
            f"{loop * 1e6:.1f} us of the event loop; {rate:.0f} messages a second; a killed worker is noticed after "
            f"{died * 1e3:.1f} ms; while a worker hangs, {hung.sent} messages go out and the longest send takes "
            f"{hung.longest * 1e3:.1f} ms; load {os.getloadavg()[0]:.1f}"
        )
    # Ours never holds up the event loop.
    assert kind is Pickled or hung.longest < HANGS / 2


REPLY = Partial(1, "what time is it")


def answer_on_pipes() -> None:
    """The worker of `Pipes`: a reply for each `PeekUtterance`."""
    reader = MessageReader()
    while data := os.read(0, 1 << 16):
        for message in reader.feed(data):
            if isinstance(message, PeekUtterance):
                os.write(1, encode(REPLY))


def answer_on_connection(connection: "Connection[Message, Message]") -> None:
    """The worker of `Pickled`."""
    while True:
        try:
            message = connection.recv()
        except EOFError:
            return
        if isinstance(message, PeekUtterance):
            connection.send(REPLY)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        answer_on_connection(Connection(int(sys.argv[1])))
    else:
        answer_on_pipes()
