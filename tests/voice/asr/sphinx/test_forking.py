import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from tests.voice.asr.sphinx.sphinx_call import templates, workers
from voice.asr.sphinx import forking
from voice.asr.sphinx.forking import CAN_FORK, Forks
from voice.asr.sphinx.language_model import GENERAL
from voice.asr.sphinx.pool import SphinxPool
from voice.asr.sphinx.process import SphinxWorker, WorkerDied
from voice.asr.sphinx.template import REQUEST
from voice.asr.sphinx.worker_protocol import (
    Audio,
    Ended,
    Final,
    FinishUtterance,
    Forked,
    MessageReader,
    NotForked,
    Partial,
    Ready,
    StartUtterance,
    TemplateReply,
)

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="workers are forked on Linux")
ROOT = Path(__file__).parents[4]
Speak = Callable[[str], bytes]


@pytest.fixture
async def forks() -> AsyncIterator[Forks]:
    forks = Forks(GENERAL)
    yield forks
    await forks.close()
    assert templates() == set()


async def ready(forks: Forks) -> SphinxWorker:
    async with asyncio.timeout(60):
        worker = await forks.worker()
        await worker.wait_ready()
    return worker


async def recognised(worker: SphinxWorker, pcm: bytes) -> list[str]:
    """The partial texts of an utterance, and the final one."""
    worker.send(StartUtterance(1))
    for at in range(0, len(pcm), 640):
        worker.send(Audio(pcm[at : at + 640]))
    worker.send(FinishUtterance(1))
    texts: list[str] = []
    while True:
        match await worker.receive():
            case Partial(_, text):
                texts.append(text)
            case Final(text=text):
                return [*texts, text]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


def own_mb(pid: int) -> float:
    return float(psutil.Process(pid).memory_full_info().uss) / 1e6


async def test_forked_workers_share_the_models_and_recognise_what_others_do(forks: Forks, speak: Speak) -> None:
    pcm = speak("what time is it")
    first, second, executed = await ready(forks), await ready(forks), await SphinxWorker.spawn(GENERAL)
    await executed.wait_ready()
    texts = [await recognised(worker, pcm) for worker in (first, second, executed)]
    assert texts[0] == texts[1] == texts[2]
    assert texts[0][-1]
    assert own_mb(first.pid) < 40 < 80 < own_mb(executed.pid)
    for worker in (first, second, executed):
        await worker.stop()


async def test_workers_outlive_their_template_and_another_takes_its_place(forks: Forks, speak: Speak) -> None:
    worker = await ready(forks)
    (template,) = templates()
    os.kill(template, signal.SIGKILL)
    assert (await recognised(worker, speak("good morning")))[-1]
    another = await ready(forks)
    assert template not in templates()
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match="has ended"):
        await worker.receive()
    await another.stop()
    assert not another.is_alive


async def test_a_template_that_hangs_is_replaced(forks: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    await (await ready(forks)).stop()
    (hung,) = templates()
    os.kill(hung, signal.SIGSTOP)
    monkeypatch.setattr(forking, "FORK_TIMEOUT", 0.2)
    asking = asyncio.create_task(forks.worker())
    await until(lambda: hung not in templates())
    monkeypatch.undo()
    worker = await asking
    await worker.wait_ready()
    await worker.stop()


async def test_a_pool_whose_template_is_killed_goes_on() -> None:
    pool = SphinxPool(spare=1)
    await pool.start()
    (template,) = templates()
    os.kill(template, signal.SIGKILL)
    taken = [await pool.acquire() for _ in range(3)]
    assert len({worker.pid for worker in taken}) == 3
    await pool.close()
    assert workers() | templates() == set()


async def test_a_request_that_is_given_up_leaves_no_worker(forks: Forks) -> None:
    await (await ready(forks)).stop()
    asking = asyncio.create_task(forks.worker())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    worker = await ready(forks)
    await until(lambda: len(workers()) == 1)
    await worker.stop()


async def test_no_descriptors_are_left(forks: Forks) -> None:
    process = psutil.Process()
    await (await ready(forks)).stop()
    before = process.num_fds()
    for _ in range(10):
        await (await ready(forks)).stop()
    await until(lambda: process.num_fds() <= before)


def read(control: socket.socket, reader: MessageReader) -> TemplateReply:
    found = reader.feed(control.recv(1 << 16))
    assert len(found) == 1
    (reply,) = found
    assert isinstance(reply, TemplateReply)
    return reply


def test_a_template_answers_each_request_and_ends_with_its_socket() -> None:
    ours, its = socket.socketpair()
    command = [sys.executable, "-m", "voice.asr.sphinx.worker", "--template", str(its.fileno())]
    with subprocess.Popen(command, pass_fds=[its.fileno()], cwd=ROOT) as process, contextlib.closing(ours):
        its.close()
        reader = MessageReader()
        assert isinstance(read(ours, reader), Ready)
        ours.sendall(REQUEST)
        assert isinstance(read(ours, reader), NotForked)
        (reads, commands), (replies, writes) = os.pipe(), os.pipe()
        socket.send_fds(ours, [REQUEST], [reads, writes])
        os.close(reads)
        os.close(writes)
        forked = read(ours, reader)
        assert isinstance(forked, Forked)
        os.close(commands)
        assert read(ours, reader) == Ended(forked.pid, 0)
        assert isinstance(MessageReader().feed(os.read(replies, 1 << 16))[0], Ready)
        assert not os.read(replies, 1)
        os.close(replies)
        ours.shutdown(socket.SHUT_RDWR)
        assert process.wait(30) == 0


def test_nothing_outlives_a_process_that_is_killed() -> None:
    script = (
        "import asyncio, time\n"
        "from voice.asr.sphinx.pool import SphinxPool\n"
        "async def main():\n"
        "    pool = SphinxPool(spare=2)\n"
        "    await pool.start()\n"
        "    print('ready', flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) == 3
        process.kill()
    end = time.monotonic() + 30
    while any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children):
        assert time.monotonic() < end
        time.sleep(0.01)
