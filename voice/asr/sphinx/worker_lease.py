"""The worker that serves a call: it comes from the pool, is replaced when it fails, and goes back at the end."""

from collections.abc import Awaitable, Callable, Sequence

from loguru import logger

from voice.asr.sphinx.pool import SphinxPool
from voice.asr.sphinx.process import SphinxWorker, WorkerDied
from voice.asr.sphinx.worker_protocol import Command, Reply


class WorkerLease:
    """One call's use of the pool. Commands sent while no worker is held wait for the next one.

    Args:
        pool: Where workers come from and return to.
        user: Names the call's recogniser in the log.
    """

    def __init__(self, pool: SphinxPool, *, user: str) -> None:
        self._pool, self._user = pool, user
        self._worker: SphinxWorker | None = None
        self._unsent: list[Command] = []

    @property
    def is_held(self) -> bool:
        """Whether there is a worker now."""
        return self._worker is not None

    async def acquire(self) -> None:
        """Take a worker from the pool and send it the commands that wait.

        Raises:
            ComponentError: No worker can be started.
        """
        self._worker = await self._pool.acquire()
        unsent, self._unsent = self._unsent, []
        self.send(unsent)

    def send(self, commands: Sequence[Command]) -> None:
        """Send commands to the worker; does not wait."""
        if self._worker is None:
            self._unsent += commands
            return
        try:
            for command in commands:
                self._worker.send(command)
        except WorkerDied as error:
            # Kills a worker that hangs. Dead or killed, `receive_until_death` finds its output closed.
            logger.warning(f"{self._user}: {error}")
            self._worker.kill()

    async def receive_until_death(self, answer: Callable[[Reply], Awaitable[None]]) -> str:
        """Pass on the replies of the worker until it fails; returns the reason, and the worker to the pool."""
        worker = self._worker
        assert worker is not None
        try:
            while True:
                await answer(await worker.receive())
        except WorkerDied as error:
            self._worker = None
            self._pool.release(worker)
            return str(error)

    def kill(self) -> None:
        """Kill the worker, which has hung."""
        if self._worker is not None:
            self._worker.kill()

    def forget(self) -> None:
        """Drop the commands that wait for a worker."""
        self._unsent.clear()

    def release(self, commands: Sequence[Command]) -> None:
        """Return the worker to the pool after its last commands."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        try:
            for command in commands:
                worker.send(command)
        except WorkerDied as error:
            logger.debug(f"{self._user}: {error}")
            worker.kill()
        self._pool.release(worker)
