"""The template of the recogniser's workers as seen from the event loop: it forks them, and is replaced if it fails."""

import asyncio
import os
import socket
import sys
from collections import deque
from typing import Self

from loguru import logger

from voice.asr.sphinx.forked_process import ForkedProcess
from voice.asr.sphinx.language_model import LanguageModel
from voice.asr.sphinx.process import SphinxWorker, WorkerDied, kill_process, start_process
from voice.asr.sphinx.template import REQUEST
from voice.asr.sphinx.worker_protocol import (
    Ended,
    Failed,
    Forked,
    Message,
    MessageReader,
    NotForked,
    ProtocolError,
    Ready,
)

CAN_FORK = sys.platform == "linux"
"""Whether workers are forked. On macOS, a system library may not bear a fork: each worker loads the models there."""

FORK_TIMEOUT = 5.0
"""Seconds after which a template that has not forked is replaced. It needs 4 ms, and more behind busy workers."""

_EXIT_TIMEOUT = 2.0


class Forks:
    """Forks workers from a template, which it starts for the first one, and again when it has ended or hung."""

    def __init__(self, language_model: LanguageModel) -> None:
        self._language_model = language_model
        self._template: Template | None = None
        self._one_at_a_time = asyncio.Lock()

    async def worker(self) -> SphinxWorker:
        """A new worker.

        Raises:
            OSError: The system starts no more processes, or opens no more pipes.
            TimeoutError: The template hangs, and so does the one in its place.
            WorkerDied: The template cannot load the models, or has ended, and so has the one in its place.
        """
        async with self._one_at_a_time:
            if self._template is not None and self._template.is_alive:
                try:
                    return await self._fork(self._template)
                except (WorkerDied, TimeoutError) as error:
                    logger.warning(f"Recognisers: {error or 'their template hangs'}; it is replaced.")
            await self.close()
            self._template = await Template.start(self._language_model)
            return await self._fork(self._template)

    async def close(self) -> None:
        """End the template, not its workers."""
        template, self._template = self._template, None
        if template is not None:
            await template.stop()

    async def _fork(self, template: "Template") -> SphinxWorker:
        async with asyncio.timeout(FORK_TIMEOUT):
            return SphinxWorker(await template.fork())


class Template:
    """The process from which workers are forked, made by `start`.

    Args:
        process: the process.
        control: our end of its socket.
    """

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._process, self._control = process, control
        self._requests: deque[ForkedProcess] = deque()
        self._workers: dict[int, ForkedProcess] = {}
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._listening = asyncio.create_task(self._listen(), name=f"replies of recogniser template {process.pid}")

    @classmethod
    async def start(cls, language_model: LanguageModel) -> Self:
        """Start a template, and return when its models are loaded.

        Raises:
            OSError: The system starts no more processes.
            WorkerDied: The template cannot load the models.
        """
        ours, its = socket.socketpair()
        ours.setblocking(False)
        try:
            with its:
                process = await start_process(
                    language_model, stdin=asyncio.subprocess.DEVNULL, stdout=None, template=its.fileno()
                )
        except BaseException:
            ours.close()
            raise
        template = cls(process, ours)
        try:
            await template._ready
        except BaseException:
            await template.stop()
            raise
        logger.debug(f"Recogniser process {process.pid}, from which the others are forked, is ready.")
        return template

    @property
    def is_alive(self) -> bool:
        """Whether it can fork, as far as the event loop knows."""
        return not self._listening.done()

    async def fork(self) -> ForkedProcess:
        """A new worker process.

        Raises:
            OSError: The system starts no more processes, or opens no more pipes.
            WorkerDied: The template has ended instead.
        """
        worker = ForkedProcess(lambda: self.is_alive)
        descriptors = await worker.connect()
        try:
            try:
                socket.send_fds(self._control, [REQUEST], descriptors)
            except (BrokenPipeError, BlockingIOError) as error:
                raise WorkerDied(f"recogniser process {self._process.pid} takes no requests") from error
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            self._requests.append(worker)
            await worker.forked
        except BaseException:
            # If it is forked all the same, it ends at once.
            worker.commands.close()
            raise
        return worker

    async def stop(self) -> None:
        """End the process, not its workers."""
        self._listening.cancel()
        await asyncio.wait([self._listening])
        self._control.close()
        try:
            async with asyncio.timeout(_EXIT_TIMEOUT):
                await self._process.wait()
        except TimeoutError:
            logger.warning(f"Recogniser process {self._process.pid} did not exit when its socket closed; it is killed.")
        finally:
            if self._process.returncode is None:
                kill_process(self._process.pid)
                await self._process.wait()

    async def _listen(self) -> None:
        reader = MessageReader()
        reason = "has ended"
        try:
            while data := await asyncio.get_running_loop().sock_recv(self._control, 1 << 16):
                for message in reader.feed(data):
                    if isinstance(message, Failed):
                        reason = f"has failed: {message.reason}"
                    else:
                        self._take(message)
        except (OSError, ProtocolError) as error:
            reason = f"cannot be heard: {error}"
        finally:
            died = WorkerDied(f"recogniser process {self._process.pid} {reason}")
            for future in [self._ready, *(worker.forked for worker in self._requests)]:
                if not future.done():
                    future.set_exception(died)
                    future.exception()  # or asyncio would report it where nobody waits any more

    def _take(self, message: Message) -> None:
        match message:
            case Ready():
                self._ready.set_result(None)
            case Forked(pid):
                worker = self._workers[pid] = self._requests.popleft()
                worker.pid = pid
                if not worker.forked.done():
                    worker.forked.set_result(None)
            case NotForked(reason):
                worker = self._requests.popleft()
                if not worker.forked.done():
                    worker.forked.set_exception(OSError(reason))
            case Ended(pid, code):
                self._workers.pop(pid).end(code)
            case _:
                raise ProtocolError(f"a template sends no {type(message).__name__}")
