import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from tests.voice.asr.sphinx.sphinx_call import workers
from voice.asr.sphinx.language_model import GENERAL, LanguageModel
from voice.asr.sphinx.messages import Audio, Final, FinishUtterance, Partial, Reply, StartUtterance
from voice.asr.sphinx.pool import SphinxPool, SphinxWorker, WorkerDied
from voice.errors import ComponentError
from voice.priority import BEHIND


@pytest.fixture
async def pool() -> AsyncIterator[SphinxPool]:
    pool = SphinxPool(spare=1)
    yield pool
    await pool.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


async def test_spare_workers_are_loaded_before_they_are_needed(pool: SphinxPool) -> None:
    await pool.start()
    assert pool.idle == 1
    worker = await pool.acquire()
    assert worker.models.startswith("pocketsphinx ")
    assert {worker.pid} <= workers()


async def test_a_ctrl_c_in_the_terminal_does_not_reach_a_worker_that_is_starting(pool: SphinxPool) -> None:
    loading = asyncio.create_task(pool.start())
    await until(lambda: len(workers()) == 1)
    (pid,) = workers()
    assert os.getpgid(pid) != os.getpgid(0)
    await loading


async def test_a_released_worker_ends_and_a_spare_one_serves_the_next_call(pool: SphinxPool) -> None:
    await pool.start()
    first = await pool.acquire()
    first.send([StartUtterance(1), Audio(bytes(6400))])
    await until(lambda: pool.idle == 1)
    spare = await pool.acquire()
    await until(lambda: pool.idle == 1)
    pool.release(spare)
    pool.release(first)
    await until(lambda: pool.idle == 1 and len(workers()) == 1)
    last = await pool.acquire()
    assert last.pid not in (first.pid, spare.pid)
    last.send([FinishUtterance(1), StartUtterance(2), FinishUtterance(2)])
    reply = await last.receive()
    assert isinstance(reply, Final)
    assert reply.utterance == 2


async def test_several_callers_get_several_workers(pool: SphinxPool) -> None:
    taken = await asyncio.gather(*(pool.acquire() for _ in range(3)))
    assert len({worker.pid for worker in taken}) == 3


async def test_in_a_crowd_all_workers_stand_behind_and_later_ones_do_not(
    pool: SphinxPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voice.priority.core_count", lambda: 1)
    before = psutil.Process().nice()
    first, second = [await pool.acquire() for _ in range(2)]
    assert [psutil.Process(worker.pid).nice() for worker in (first, second)] == [before, before]
    third = await pool.acquire()
    behind = [psutil.Process(worker.pid).nice() for worker in (first, second, third)]
    assert behind == [max(BEHIND, before)] * 3
    for worker in (first, second, third):
        pool.release(worker)
    await until(lambda: not {first.pid, second.pid, third.pid} & workers() and pool.idle == 1)
    last = await pool.acquire()
    assert psutil.Process(last.pid).nice() == before


async def test_a_worker_that_dies_while_idle_is_replaced(pool: SphinxPool) -> None:
    await pool.start()
    (dead,) = workers()
    os.kill(dead, signal.SIGKILL)
    await until(lambda: pool.idle == 1 and dead not in workers() and len(workers()) == 1)
    worker = await pool.acquire()
    assert worker.pid != dead
    assert worker.is_alive


async def test_a_worker_that_dies_during_a_call_reports_it_and_is_not_reused(pool: SphinxPool) -> None:
    worker = await pool.acquire()
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match="signal 9"):
        await worker.receive()
    worker.send([StartUtterance(1)])
    with pytest.raises(WorkerDied, match="signal 9"):
        await worker.receive()
    pool.release(worker)
    assert (await pool.acquire()).pid != worker.pid


async def test_closing_ends_all_processes_even_those_in_use_or_loading() -> None:
    pool = SphinxPool(spare=0)
    out = await pool.acquire()
    loading = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)
    await pool.close()
    assert workers() == set()
    pool.release(out)
    with pytest.raises(ComponentError, match="closed"):
        await loading
    with pytest.raises(ComponentError, match="closed"):
        await pool.acquire()
    assert workers() == set()


async def test_a_cancelled_wait_for_a_worker_loses_no_worker(pool: SphinxPool) -> None:
    waiting = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await until(lambda: pool.idle == 1)
    assert len(workers()) == 1


async def test_a_model_that_cannot_be_loaded_is_an_error_that_says_why(tmp_path: Path) -> None:
    broken = LanguageModel(name="broken", path=tmp_path / "none.lm.bin")
    pool = SphinxPool(language_model=broken)
    with pytest.raises(ComponentError, match="did not start: recogniser process .*RuntimeError"):
        await pool.start()
    with pytest.raises(ComponentError, match="did not start"):
        await pool.acquire()
    await pool.close()
    assert workers() == set()


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
    worker.send([StartUtterance(3), Audio(bytes(6400)), FinishUtterance(3)])
    reply = await final(worker)
    assert isinstance(reply, Final)
    assert (reply.utterance, reply.text) == (3, "")


async def test_a_worker_shares_the_processor_like_the_process_that_sends_audio(worker: SphinxWorker) -> None:
    assert psutil.Process(worker.pid).nice() == psutil.Process().nice()
    # Linux would share the processor among sessions, whatever their priority.
    assert os.getsid(worker.pid) == os.getsid(0)
    assert os.getpgid(worker.pid) != os.getpgid(0)


async def test_a_worker_survives_ctrl_c_and_ends_when_it_is_stopped(worker: SphinxWorker) -> None:
    os.kill(worker.pid, signal.SIGINT)
    worker.send([StartUtterance(1), FinishUtterance(1)])
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
    worker.send([StartUtterance(1)])
    await worker.wait_end()


async def test_how_a_worker_died_is_known_even_if_it_is_killed_again_at_once(worker: SphinxWorker) -> None:
    os.kill(worker.pid, signal.SIGKILL)
    worker.kill()
    with pytest.raises(WorkerDied, match="was ended by signal 9"):
        await worker.receive()


async def test_a_hanging_process_is_noticed(worker: SphinxWorker) -> None:
    os.kill(worker.pid, signal.SIGSTOP)
    worker.send([StartUtterance(1)])
    for _ in range(40):
        worker.send([Audio(bytes(32000))])
    with pytest.raises(WorkerDied, match="no longer reads"):
        await worker.receive()


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
    worker.send([StartUtterance(9), FinishUtterance(9)])
    reply = await final(worker)
    assert isinstance(reply, Final)
    assert reply.utterance == 9
