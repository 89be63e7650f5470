"""Worker processes of the PocketSphinx recogniser: one per call, loaded in advance."""

import asyncio
import contextlib
import os
import signal
import sys
from collections import deque
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any

from loguru import logger
from msgspec import DecodeError

from voice.asr.sphinx.language_model import GENERAL, LanguageModel
from voice.asr.sphinx.messages import Command, Failed, Ready, Reply, encode, read_reply
from voice.errors import ComponentError
from voice.priority import is_crowded, put_behind
from voice.queue_waits import QueueWaits

LOADING_AT_ONCE = 2
"""The most workers that load at once. Loading takes a core for a third of a second; more would starve running calls."""

_LOAD_TIMEOUT, _EXIT_TIMEOUT = 30.0, 2.0
_UNREAD_LIMIT = 700_000  # bytes a worker may lag behind, 16 s of audio; a worker that lags further has hung


class WorkerDied(Exception):
    """The worker process has ended, or can no longer be used."""


class SphinxWorker:
    """One worker process, made by `spawn`; belongs to one call.

    Args:
        process: the process, with pipes for input and output; it may still be loading its models.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._commands, self._replies = process.stdin.transport, process.stdout
        self._has_hung = False
        self.models = ""
        """Engine, version and models, for display; empty until they are loaded."""

    @classmethod
    async def spawn(cls, language_model: LanguageModel) -> "SphinxWorker":
        """Start a process; its models are loaded once `wait_ready` returns.

        Raises:
            OSError: The system cannot start another process.
        """
        model = [str(language_model.path)] if language_model.path else []
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "voice.asr.sphinx.worker",
            language_model.name,
            *model,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=_environment(),
            # Ctrl-C is for this process, and would end a worker that does not ignore it yet. A separate session would
            # also prevent that, but Linux divides the processor among sessions regardless of priority: with eight
            # workers, this process, which sends the audio of all calls, would get a tenth.
            process_group=0,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs, to the event loop's knowledge."""
        return self._process.returncode is None

    def send(self, commands: Iterable[Command]) -> None:
        """Send commands without waiting. A worker that no longer reads is killed, which `receive` reports."""
        if not self.is_alive or self._commands.is_closing():
            return
        if self._commands.get_write_buffer_size() > _UNREAD_LIMIT:
            self._has_hung = True
            self.kill()
            return
        for command in commands:
            self._commands.write(encode(command))

    async def receive(self) -> Reply:
        """The next reply; cancelling the wait loses none.

        Raises:
            WorkerDied: The process has ended or failed, or has written something other than replies.
        """
        try:
            line = await self._replies.readline()
            reply = read_reply(line) if line.endswith(b"\n") else None
        except (ValueError, DecodeError) as error:  # ValueError: endless
            raise WorkerDied(
                f"recogniser process {self.pid} has written something other than a reply: {error}"
            ) from error
        if reply is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EXIT_TIMEOUT):
                    await self._process.wait()
            await self.stop()
            raise WorkerDied(f"recogniser process {self.pid} {self._end()}")
        if isinstance(reply, Failed):
            raise WorkerDied(f"recogniser process {self.pid}: {reply.reason}")
        return reply

    async def wait_ready(self) -> None:
        """Wait until the worker has loaded its models.

        Raises:
            WorkerDied: The worker ended instead.
        """
        while not isinstance(reply := await self.receive(), Ready):
            pass
        self.models = reply.models

    async def wait_end(self) -> None:
        """Wait for the end of the process."""
        await self._process.wait()

    def kill(self) -> None:
        """Kill the process, if it runs."""
        if self.is_alive:
            # Process.kill() first polls the process. If it has ended, that takes the exit status away from the waiting
            # task, and the cause of the end is lost.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    async def stop(self) -> None:
        """Kill the process and wait for its end."""
        self.kill()
        await self._process.wait()

    def _end(self) -> str:
        """How the process ended, a clause."""
        code = self._process.returncode or 0
        if self._has_hung:
            return "no longer reads its input"
        return f"was ended by signal {-code}" if code < 0 else f"exited with {code}"


def _environment() -> dict[str, str]:
    """This process's environment, with the folder of the `voice` package added to PYTHONPATH."""
    root = str(Path(__file__).resolve().parents[3])
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{path}" if path else root}


class SphinxPool:
    """Keeps `spare` loaded workers ready, so that a call starts without waiting for one to load.

    `acquire` takes a worker, and `release` ends it, so that no state of a caller remains for the next one. With more
    calls than the processor can serve (`is_crowded`), their workers get a lower priority than the process that sends
    audio.

    Args:
        language_model: The language model of all workers.
        spare: How many idle workers to keep; with at least 1, no call waits for loading.
    """

    def __init__(self, *, language_model: LanguageModel = GENERAL, spare: int = 1) -> None:
        self.language_model = language_model
        """The language model of all workers."""
        self.waits = QueueWaits("recognition")
        """The delay of an utterance's text beyond the work left at its end."""
        self._spare = spare
        self._spares: deque[asyncio.Task[SphinxWorker]] = deque()
        """Workers not taken by a call, loading or loaded."""
        self._all: set[SphinxWorker] = set()
        self._taken: set[SphinxWorker] = set()
        self._is_closed = False
        self._load_slots = asyncio.Semaphore(LOADING_AT_ONCE)
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def idle(self) -> int:
        """The number of free, loaded workers."""
        return sum(map(_is_loaded, self._spares))

    async def start(self) -> None:
        """Load the spare workers, and wait until they are ready.

        Raises:
            ComponentError: A worker cannot be started.
        """
        self._refill(self._spare)
        for loading in list(self._spares):
            await asyncio.wait([loading])
            self._result(loading)

    async def acquire(self) -> SphinxWorker:
        """Take a loaded worker for exclusive use until `release`.

        Raises:
            ComponentError: A worker cannot be started, or the pool is closed.
        """
        self._refill(max(1, self._spare))
        loading = self._spares.popleft()
        try:
            await asyncio.wait([loading])
        except asyncio.CancelledError:
            self._spares.appendleft(loading)
            raise
        worker = self._result(loading)
        if worker.is_alive:  # otherwise the call finds it dead and takes another one
            self._taken.add(worker)
        if is_crowded(len(self._taken)):
            for taken in self._taken:
                if taken.is_alive:
                    put_behind(taken.pid)
        self._refill(self._spare)
        return worker

    def release(self, worker: SphinxWorker) -> None:
        """Give back a worker in any state, and end it without waiting."""
        worker.kill()

    async def close(self) -> None:
        """End all processes, including those that were not released."""
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._spares.clear()
        await asyncio.gather(*(worker.stop() for worker in self._all))
        self._all.clear()

    def _refill(self, wanted: int) -> None:
        """Load missing workers; forget those that failed or died.

        Raises:
            ComponentError: The pool is closed.
        """
        self._check_open()
        self._spares = deque(spare for spare in self._spares if not spare.done() or _is_loaded(spare))
        while len(self._spares) < wanted:
            self._spares.append(self._spawn(self._load(), "start of a recogniser"))

    def _check_open(self) -> None:
        if self._is_closed:
            raise ComponentError("The speech recogniser's pool is closed: the server is shutting down.")

    def _result(self, loading: asyncio.Task[SphinxWorker]) -> SphinxWorker:
        self._check_open()
        try:
            return loading.result()
        except (OSError, WorkerDied) as error:
            raise ComponentError(
                f"The speech recogniser did not start: {error}. Reinstall pocketsphinx, or choose another speech "
                "recogniser."
            ) from error

    async def _load(self) -> SphinxWorker:
        async with self._load_slots:
            worker = await SphinxWorker.spawn(self.language_model)
            self._all.add(worker)
            self._spawn(self._watch(worker), f"watch over recogniser {worker.pid}")
            try:
                async with asyncio.timeout(_LOAD_TIMEOUT):
                    await worker.wait_ready()
            except TimeoutError:
                worker.kill()
                raise WorkerDied(f"it did not load within {_LOAD_TIMEOUT:.0f} s") from None
            except BaseException:
                worker.kill()
                raise
            logger.debug(f"Recogniser process {worker.pid} is ready: {worker.models}.")
            return worker

    async def _watch(self, worker: SphinxWorker) -> None:
        """Wait for the end of the worker, and replace it if it was idle."""
        await worker.wait_end()
        self._all.discard(worker)
        if worker in self._taken:
            self._taken.discard(worker)
        elif worker.models:
            logger.warning(f"Idle recogniser process {worker.pid} has ended; starting another.")
            self._refill(self._spare)

    def _spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.debug(f"The {task.get_name()} failed: {error}")


def _is_loaded(loading: asyncio.Task[SphinxWorker]) -> bool:
    """Whether a worker has loaded and still runs."""
    is_whole = loading.done() and not loading.cancelled() and loading.exception() is None
    return is_whole and loading.result().is_alive
