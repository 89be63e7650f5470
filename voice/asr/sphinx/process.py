"""One PocketSphinx worker process as seen from the event loop: commands, replies, and how it ends."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from loguru import logger

from voice.asr.sphinx.language_model import LanguageModel
from voice.asr.sphinx.worker_protocol import Command, Failed, MessageReader, ProtocolError, Ready, Reply, encode
from voice.priority import put_behind

_EXIT_TIMEOUT = 2.0
_UNREAD_LIMIT = 1 << 19  # bytes a worker may lag behind, 16 s of audio; a worker that lags further has hung


class WorkerDied(Exception):
    """The worker process has ended, or can no longer be used."""


def kill_process(pid: int) -> None:
    """Kill a process, if it is there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class SphinxWorker:
    """One worker process, made by `spawn`; belongs to one call at a time.

    Args:
        process: the process, which may still be loading its models; with pipes for input and output.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._commands, self._output = process.stdin.transport, process.stdout
        self._reader = MessageReader()
        self._replies: list[Reply] = []
        self.models = ""
        self.stands_behind = False
        """Whether other processes come first where the processor is scarce."""

    @classmethod
    async def spawn(cls, language_model: LanguageModel) -> "SphinxWorker":
        """Start a process; its models are loaded when `wait_ready` returns.

        Raises:
            OSError: The system starts no more processes.
        """
        arguments = ["--name", language_model.name]
        if language_model.path is not None:
            arguments += ["--language-model", str(language_model.path)]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "voice.asr.sphinx.worker",
            *arguments,
            stdin=pipe,
            stdout=pipe,
            env=_environment(),
            # Ctrl-C is for this process: it would end a worker that starts and does not ignore it yet. A session of
            # its own would do too, but Linux shares the processor among sessions, whatever their priority: eight
            # workers would leave this process, which sends the audio of all calls, a tenth of it.
            process_group=0,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs, as far as the event loop knows."""
        return self._process.returncode is None

    def send(self, command: Command) -> None:
        """Send a command to the worker; does not wait.

        Raises:
            WorkerDied: The process has ended, or has stopped reading and so has hung.
        """
        pipe = self._commands
        if not self.is_alive or pipe.is_closing():
            raise WorkerDied(self._obituary())
        if pipe.get_write_buffer_size() > _UNREAD_LIMIT:
            raise WorkerDied(f"recogniser process {self.pid} no longer reads its input")
        pipe.write(encode(command))

    async def receive(self) -> Reply:
        """The next reply; a cancelled wait loses none.

        Raises:
            WorkerDied: The process has ended, has failed, or has written something other than replies.
        """
        while not self._replies:
            data = await self._output.read(1 << 16)
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
        """Wait until the worker has loaded, or has carried out a reset.

        Raises:
            WorkerDied: The worker ended instead.
        """
        while not isinstance(reply := await self.receive(), Ready):
            pass
        self.models = reply.models

    async def stop(self) -> None:
        """End the process: close its input, and kill it if it does not exit."""
        try:
            self._commands.close()
            async with asyncio.timeout(_EXIT_TIMEOUT):
                await self._process.wait()
        except TimeoutError:
            logger.warning(f"Recogniser process {self.pid} did not exit when its input closed; it is killed.")
        finally:
            if self.is_alive:
                self.kill()
                await self._process.wait()

    async def wait_end(self) -> None:
        """Wait for the end of the process."""
        await self._process.wait()

    def lower_thread_priority(self) -> None:
        """Let other processes come first where the processor is scarce, from now on."""
        if self.is_alive and not self.stands_behind:
            self.stands_behind = True
            put_behind(self.pid)

    def kill(self) -> None:
        """Kill the process, if it runs."""
        if self.is_alive:
            # Process.kill() first polls the process, and if it has ended, takes its exit status away from the task that
            # waits for it: how it ended would be lost.
            kill_process(self.pid)

    def _obituary(self) -> str:
        code = self._process.returncode
        if code is None:
            return f"recogniser process {self.pid} has closed its input"
        how = f"was ended by signal {-code}" if code < 0 else f"exited with {code}"
        return f"recogniser process {self.pid} {how}"


def _environment() -> dict[str, str]:
    """This process's environment, with the folder of the `voice` package added to PYTHONPATH."""
    root = str(Path(__file__).resolve().parents[3])
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{path}" if path else root}
