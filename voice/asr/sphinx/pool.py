"""Worker processes of the PocketSphinx recogniser, loaded before they are needed."""

import asyncio
from collections.abc import Coroutine

from loguru import logger

from voice.asr.sphinx.language_model import GENERAL, LanguageModel
from voice.asr.sphinx.process import SphinxWorker, WorkerDied
from voice.asr.sphinx.worker_protocol import Reset
from voice.errors import ComponentError
from voice.priority import is_crowded
from voice.queue_waits import QueueWaits

STARTING_AT_ONCE = 2
"""How many workers load at once. Loading takes a core for a third of a second; more would starve running calls."""

_LOAD_TIMEOUT = 30.0
_RESET_TIMEOUT = 5.0


class SphinxPool:
    """Keeps `spare` loaded workers ready, so that a call starts without waiting for one to load.

    `acquire` takes a worker and `release` returns it, to be reset and used again; a worker that dies is replaced.
    While there are more calls than the processor has room for (`is_crowded`), their workers stand behind what sends
    audio; one that stands behind stays there, and so is not used again.

    Args:
        language_model: The language model of all workers.
        spare: How many idle workers to keep; with at least 1, no call waits for loading.
    """

    def __init__(self, *, language_model: LanguageModel = GENERAL, spare: int = 1) -> None:
        self._language_model = language_model
        self._spare = spare
        self.waits = QueueWaits("recognition")
        """How much longer the text of an utterance takes than the work that is left at its end."""
        self._all: set[SphinxWorker] = set()
        self._idle: list[SphinxWorker] = []
        self._taken: set[SphinxWorker] = set()
        self._waiting = 0
        self._starting = 0
        self._failure: str | None = None
        self._is_closed = False
        self._changed = asyncio.Condition()
        self._start_slots = asyncio.Semaphore(STARTING_AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def language_model(self) -> LanguageModel:
        """The language model of all workers."""
        return self._language_model

    @property
    def idle(self) -> int:
        """How many loaded workers are free."""
        return len(self._idle)

    async def start(self) -> None:
        """Load the spare workers, and return when they are ready.

        Raises:
            ComponentError: A worker cannot be started.
        """
        async with self._changed:
            self._failure = None
            self._refill()
            await self._changed.wait_for(lambda: len(self._idle) >= self._spare or self._failure or self._is_closed)
            self._check()

    async def acquire(self) -> SphinxWorker:
        """Take a loaded worker, which is the caller's own until `release`.

        Raises:
            ComponentError: A worker cannot be started, or the pool is closed.
        """
        async with self._changed:
            self._failure = None
            self._waiting += 1
            try:
                self._refill()
                await self._changed.wait_for(lambda: self._has_idle() or self._failure or self._is_closed)
                if self._is_closed or not self._idle:
                    self._check()
                worker = self._idle.pop(0)
                self._taken.add(worker)
                self._yield_if_crowded()
            finally:
                self._waiting -= 1
            self._refill()
            return worker

    def release(self, worker: SphinxWorker) -> None:
        """Return a worker, in any state; does not wait."""
        self._taken.discard(worker)
        if not self._is_closed:
            self._spawn(self._take_back(worker), f"release of recogniser {worker.pid}")

    async def close(self) -> None:
        """End all processes, including those that were not released."""
        self._is_closed = True
        async with self._changed:
            self._changed.notify_all()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._idle.clear()
        await asyncio.gather(*(worker.stop() for worker in self._all))
        self._all.clear()

    def _check(self) -> None:
        if self._is_closed:
            raise ComponentError("The speech recogniser's pool is closed: the server is shutting down.")
        if self._failure:
            raise ComponentError(
                f"The speech recogniser did not start: {self._failure}. Reinstall pocketsphinx, or "
                "choose another speech recogniser."
            )

    def _yield_if_crowded(self) -> None:
        if is_crowded(len(self._taken)):
            for worker in self._taken:
                worker.lower_thread_priority()

    def _has_idle(self) -> bool:
        self._idle = [worker for worker in self._idle if worker.is_alive]
        return bool(self._idle)

    def _refill(self) -> None:
        wanted = max(self._spare, self._waiting) - len(self._idle) - self._starting
        if self._is_closed or self._failure:
            return
        for _ in range(wanted):
            self._starting += 1
            self._spawn(self._add(), "start of a recogniser")

    async def _add(self) -> None:
        worker, failure = None, None
        try:
            async with self._start_slots:
                if not self._is_closed:
                    worker = await self._load()
        except (OSError, WorkerDied, TimeoutError) as error:
            failure = str(error) or f"it did not load within {_LOAD_TIMEOUT:.0f} s"
        finally:
            self._starting -= 1
        if worker is not None:
            await self._make_idle(worker)
            return
        async with self._changed:
            self._failure = failure
            self._changed.notify_all()

    async def _load(self) -> SphinxWorker:
        worker = await SphinxWorker.spawn(self._language_model)
        self._all.add(worker)
        self._spawn(self._watch(worker), f"watch over recogniser {worker.pid}")
        try:
            async with asyncio.timeout(_LOAD_TIMEOUT):
                await worker.wait_ready()
        except BaseException:
            worker.kill()
            raise
        logger.debug(f"Recogniser process {worker.pid} is ready: {worker.models}.")
        return worker

    async def _watch(self, worker: SphinxWorker) -> None:
        """Wait for the worker to end, and replace it, even if it was idle."""
        await worker.wait_end()
        self._all.discard(worker)
        self._taken.discard(worker)
        if worker in self._idle:
            logger.warning(f"Idle recogniser process {worker.pid} has ended; starting another.")
            self._idle.remove(worker)
        self._refill()

    async def _take_back(self, worker: SphinxWorker) -> None:
        try:
            worker.send(Reset())
            async with asyncio.timeout(_RESET_TIMEOUT):
                await worker.wait_ready()
        except (WorkerDied, TimeoutError) as error:
            logger.debug(f"A recogniser is not reused: {str(error) or 'it did not reset in time'}.")
            worker.kill()
            return
        await self._make_idle(worker)

    async def _make_idle(self, worker: SphinxWorker) -> None:
        if worker.stands_behind or len(self._idle) >= max(self._spare, self._waiting):
            await worker.stop()
            return
        async with self._changed:
            self._idle.append(worker)
            self._changed.notify_all()

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
