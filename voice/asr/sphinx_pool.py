"""Worker processes of the PocketSphinx recogniser, loaded before they are needed."""

import asyncio
import os
import sys
from collections.abc import Coroutine
from pathlib import Path

from loguru import logger

from voice.asr.language_model import GENERAL, LanguageModel
from voice.asr.worker_protocol import Command, Failed, MessageReader, ProtocolError, Ready, Reply, Reset, encode
from voice.errors import ComponentError

STARTING_AT_ONCE = 2
"""Loading takes a third of a second of a whole core: more at once would starve the calls under way."""

_LOAD_TIMEOUT = 30.0
_RESET_TIMEOUT = 5.0
_EXIT_TIMEOUT = 2.0
_UNREAD_LIMIT = 1 << 19  # bytes that a worker may be behind, 16 s of audio; a worker that far behind has hung


class WorkerDied(Exception):
    """The worker process has ended, or cannot be talked to any more."""


class SphinxWorker:
    """One worker process: commands in, replies out. Belongs to one caller at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._reader = MessageReader()
        self._replies: list[Reply] = []
        self.models = ""

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs, as far as the event loop knows."""
        return self._process.returncode is None

    def send(self, command: Command) -> None:
        """Hand a command to the worker without waiting.

        Raises:
            WorkerDied: The process has ended, or has not read for so long that it must be taken for hung.
        """
        pipe = self._process.stdin
        assert pipe is not None
        if not self.is_alive or pipe.is_closing():
            raise WorkerDied(self._obituary())
        if pipe.transport.get_write_buffer_size() > _UNREAD_LIMIT:
            raise WorkerDied(f"recogniser process {self.pid} does not read its input any more")
        pipe.write(encode(command))

    async def receive(self) -> Reply:
        """The next reply; cancelling loses none.

        Raises:
            WorkerDied: The process has ended, or what it wrote are not replies.
        """
        pipe = self._process.stdout
        assert pipe is not None
        while not self._replies:
            data = await pipe.read(1 << 16)
            if not data:
                await self.stop()
                raise WorkerDied(self._obituary())
            try:
                messages = self._reader.feed(data)
            except ProtocolError as error:
                raise WorkerDied(f"recogniser process {self.pid}: {error}") from error
            self._replies += [message for message in messages if isinstance(message, Reply)]
        reply = self._replies.pop(0)
        if isinstance(reply, Failed):
            raise WorkerDied(f"recogniser process {self.pid}: {reply.reason}")
        return reply

    async def wait_ready(self) -> None:
        """Read on until the worker has loaded, or has carried out a reset.

        Raises:
            WorkerDied: It ended instead.
        """
        while not isinstance(reply := await self.receive(), Ready):
            pass
        self.models = reply.models

    async def stop(self) -> None:
        """End the process: it leaves when its input closes, or is killed."""
        try:
            if self._process.stdin is not None:
                self._process.stdin.close()
            async with asyncio.timeout(_EXIT_TIMEOUT):
                await self._process.wait()
        except TimeoutError:
            logger.warning(f"Recogniser process {self.pid} did not end by itself; killed.")
        finally:
            if self.is_alive:
                self.kill()
                await self._process.wait()

    async def wait_end(self) -> None:
        """Return when the process has ended."""
        await self._process.wait()

    def kill(self) -> None:
        """End the process at once."""
        if self.is_alive:
            self._process.kill()

    def _obituary(self) -> str:
        code = self._process.returncode
        if code is None:
            return f"recogniser process {self.pid} has closed its input"
        how = f"was ended by signal {-code}" if code < 0 else f"exited with {code}"
        return f"recogniser process {self.pid} {how}"


class SphinxPool:
    """Keeps `spare` loaded workers ready, so that a call begins without waiting for one to load.

    A worker taken with `acquire` comes back with `release`, is reset and used again; one that has died is replaced.

    Args:
        language_model: What all workers recognise with.
        spare: How many idle workers to keep; at least 1 saves each call the loading time.
    """

    def __init__(self, *, language_model: LanguageModel = GENERAL, spare: int = 1) -> None:
        self._language_model = language_model
        self._spare = spare
        self._all: set[SphinxWorker] = set()
        self._idle: list[SphinxWorker] = []
        self._waiting = 0
        self._starting = 0
        self._failure: str | None = None
        self._is_closed = False
        self._changed = asyncio.Condition()
        self._start_slots = asyncio.Semaphore(STARTING_AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def language_model(self) -> LanguageModel:
        """What the workers recognise with."""
        return self._language_model

    @property
    def idle(self) -> int:
        """How many loaded workers wait for a caller."""
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
        """A loaded worker of one's own, until `release`.

        Raises:
            ComponentError: A worker cannot be started, or the pool is closed.
        """
        async with self._changed:
            self._failure = None
            self._waiting += 1
            try:
                self._refill()
                await self._changed.wait_for(lambda: self._has_idle() or self._failure or self._is_closed)
                if not self._idle:
                    self._check()
                worker = self._idle.pop(0)
            finally:
                self._waiting -= 1
            self._refill()
            return worker

    def release(self, worker: SphinxWorker) -> None:
        """Give a worker back, in whatever state it is; returns at once."""
        if not self._is_closed:
            self._spawn(self._take_back(worker), f"release of recogniser {worker.pid}")

    async def close(self) -> None:
        """End all processes, those that have not been given back included."""
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
        arguments = ["--name", self._language_model.name]
        if self._language_model.path is not None:
            arguments += ["--language-model", str(self._language_model.path)]
        worker = SphinxWorker(
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "voice.asr.sphinx_worker",
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=_environment(),
            )
        )
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
        """Replace the worker if it ends while it is idle, too."""
        await worker.wait_end()
        self._all.discard(worker)
        if worker in self._idle:
            logger.warning(f"Idle recogniser process {worker.pid} has ended; another one is started.")
            self._idle.remove(worker)
        self._refill()

    async def _take_back(self, worker: SphinxWorker) -> None:
        try:
            worker.send(Reset())
            async with asyncio.timeout(_RESET_TIMEOUT):
                await worker.wait_ready()
        except (WorkerDied, TimeoutError) as error:
            logger.debug(f"A recogniser is not used again: {str(error) or 'it did not reset in time'}.")
            worker.kill()
            return
        await self._make_idle(worker)

    async def _make_idle(self, worker: SphinxWorker) -> None:
        if len(self._idle) >= max(self._spare, self._waiting):
            await worker.stop()
            return
        async with self._changed:
            self._idle.append(worker)
            self._changed.notify_all()

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _environment() -> dict[str, str]:
    """This process's environment, with the folder that holds the `voice` package on the path of its child."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{path}" if path else root}
