import asyncio
import os
import signal
from collections.abc import AsyncIterator

import psutil
import pytest

from voice.asr.sphinx.language_model import GENERAL
from voice.asr.sphinx.process import SphinxWorker, WorkerDied
from voice.asr.sphinx.worker_protocol import Audio, Final, FinishUtterance, Partial, Reply, StartUtterance
from voice.priority import BEHIND


@pytest.fixture
async def worker() -> AsyncIterator[SphinxWorker]:
    async with asyncio.timeout(60):
        worker = await SphinxWorker.spawn(GENERAL)
        await worker.wait_ready()
    yield worker
    worker.kill()
    await worker.stop()
    assert not psutil.pid_exists(worker.pid)


async def final(worker: SphinxWorker) -> Reply:
    while isinstance(reply := await worker.receive(), Partial):
        pass
    return reply


async def test_a_worker_reports_what_it_has_loaded_and_replies(worker: SphinxWorker) -> None:
    assert worker.models.startswith("pocketsphinx ")
    worker.send(StartUtterance(3))
    worker.send(Audio(bytes(6400)))
    worker.send(FinishUtterance(3))
    reply = await final(worker)
    assert isinstance(reply, Final)
    assert (reply.utterance, reply.text) == (3, "")


async def test_a_worker_shares_the_processor_like_the_process_that_sends_audio(worker: SphinxWorker) -> None:
    assert psutil.Process(worker.pid).nice() == psutil.Process().nice()
    # Linux would share the processor among sessions, whatever their priority.
    assert os.getsid(worker.pid) == os.getsid(0)
    assert os.getpgid(worker.pid) != os.getpgid(0)


async def test_a_worker_can_stand_behind_the_process_that_sends_audio(worker: SphinxWorker) -> None:
    worker.lower_thread_priority()
    worker.lower_thread_priority()
    assert worker.stands_behind
    assert psutil.Process(worker.pid).nice() == max(BEHIND, psutil.Process().nice())


async def test_a_worker_survives_ctrl_c_and_ends_with_its_input(worker: SphinxWorker) -> None:
    os.kill(worker.pid, signal.SIGINT)
    worker.send(StartUtterance(1))
    worker.send(FinishUtterance(1))
    assert isinstance(await final(worker), Final)
    assert worker.is_alive
    await worker.stop()
    assert not worker.is_alive


async def test_a_workers_death_ends_the_wait_for_a_reply_and_says_how_it_died(worker: SphinxWorker) -> None:
    waiting = asyncio.create_task(worker.receive())
    await asyncio.sleep(0)
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match=f"recogniser process {worker.pid} was ended by signal 9"):
        await waiting
    with pytest.raises(WorkerDied):
        worker.send(StartUtterance(1))
    await worker.wait_end()


async def test_how_a_worker_died_is_known_even_if_it_is_killed_again_at_once(worker: SphinxWorker) -> None:
    os.kill(worker.pid, signal.SIGKILL)
    worker.kill()
    with pytest.raises(WorkerDied, match="was ended by signal 9"):
        await worker.receive()


async def test_a_hanging_process_is_noticed(worker: SphinxWorker) -> None:
    os.kill(worker.pid, signal.SIGSTOP)

    def talk_for_ever() -> None:
        while True:
            worker.send(Audio(bytes(32000)))

    worker.send(StartUtterance(1))
    with pytest.raises(WorkerDied, match="no longer reads"):
        talk_for_ever()


async def test_a_hanging_process_is_killed_when_stopped(worker: SphinxWorker) -> None:
    os.kill(worker.pid, signal.SIGSTOP)
    await worker.stop()
    assert not worker.is_alive


async def test_a_cancelled_wait_loses_no_reply(worker: SphinxWorker) -> None:
    waiting = asyncio.create_task(worker.receive())
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    worker.send(StartUtterance(9))
    worker.send(FinishUtterance(9))
    reply = await final(worker)
    assert isinstance(reply, Final)
    assert reply.utterance == 9
