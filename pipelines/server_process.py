"""Runs the server as a child process: a client in the same interpreter would disturb its own measurements."""

import asyncio
import http.client
import json
import sys
import urllib.request
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import IO, Any
from urllib.parse import urlsplit

import psutil
from loguru import logger

from voice.client.call.connection import credentials
from voice.errors import AlreadyReported, ComponentError, ConfigurationError, VoiceError
from voice.server.authentication import is_local
from voice.wire.endpoint import health_url

ENDS_WITHIN = 10.0
"""Seconds in which a server that is no longer needed may close its models, send its last traces and end."""
STOPS_WITHIN = 0.6
"""The same after Ctrl-C or a failure, when the user waits for the prompt."""
LISTENING = "Listening on "


@dataclass(frozen=True, slots=True)
class Load:
    """The CPU seconds used so far by a process and its children, and their memory."""

    cpu_seconds: float
    resident_bytes: int
    """On Linux, shared memory counts once; elsewhere it counts in each process."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that accepts calls: its URL, its report on /healthz, and its process if it can be seen."""

    url: str
    status: dict[str, Any]
    process: psutil.Process | None = None

    def load(self) -> Load | None:
        """The load of the server and its workers; None if it is not our child process or has ended.

        The simulator is excluded, because it stands for servers on other machines.
        """
        if self.process is None:
            return None
        cpu, rss = 0.0, 0
        try:
            for process in [self.process, *self.process.children(recursive=True)]:
                if "simulate" in process.cmdline():
                    continue
                times = process.cpu_times()
                # The CPU time of ended children counts with their parent's.
                cpu += times.user + times.system + times.children_user + times.children_system
                rss += _resident(process)
        except psutil.NoSuchProcess:
            return None
        return Load(cpu, rss)


def _resident(process: psutil.Process) -> int:
    if not sys.platform.startswith("linux"):
        return int(process.memory_info().rss)
    try:
        return int(process.memory_full_info().pss)
    except psutil.AccessDenied:  # another user's
        return int(process.memory_info().rss)


def seen_here(server: Server) -> Server:
    """The server with its process, if it listens on this machine's loopback and reports its process id."""
    parts, pid = urlsplit(server.url), server.status.get("pid")
    if server.process is not None or not isinstance(pid, int) or not is_local(parts.netloc.rpartition("@")[2]):
        return server
    try:
        process = psutil.Process(pid)
        # Behind a forwarded port, the id may be that of a process on another machine or in a container.
        ports = {one.laddr.port for one in process.net_connections("tcp") if one.status == psutil.CONN_LISTEN}
    except psutil.Error:
        return server
    return replace(server, process=process) if parts.port in ports else server


@asynccontextmanager
async def own_server(pipeline: str, overrides: Sequence[str]) -> AsyncIterator[Server]:
    """Start `voice serve` on a free loopback port and stop it when the context ends; it writes to our standard error.

    Raises:
        AlreadyReported: the server could not start and has printed the reason.
        ComponentError: the server ended before it was ready, without giving a reason.
    """
    options = [part for override in overrides for part in ("--set", override)]
    async with announced("serve", "--pipeline", pipeline, *options) as (url, process):
        yield Server(url, await health(url), process)


@asynccontextmanager
async def announced(command: str, *arguments: str) -> AsyncIterator[tuple[str, psutil.Process]]:
    """Run a `voice` command that serves on a free loopback port, until the context ends.

    Yields the announced URL and the process.

    Raises:
        AlreadyReported, ComponentError: see `own_server`.
    """
    options = ("--port", "0", "--until-stdin-closes", *arguments)
    async with listening("pipelines.cli", command, *options) as (url, process):
        if url is None:
            raise _failure(command, await process.wait())
        yield url, psutil.Process(process.pid)


@asynccontextmanager
async def listening(
    module: str, *arguments: str, environment: Mapping[str, str] | None = None, log: IO[bytes] | None = None
) -> AsyncIterator[tuple[str | None, asyncio.subprocess.Process]]:
    """Run a module that announces its address, until the context ends; it exits when its standard input closes.

    Yields the URL (None if the process ended before it announced one) and the process.

    Args:
        module: the module, as `python -m` takes it.
        arguments: its command-line arguments.
        environment: its environment variables; None for ours.
        log: the file for its standard error; None for ours.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        env=environment,
        # Ctrl-C must reach only this process, which ends the call, saves the run and then stops the child.
        start_new_session=True,
    )
    within = STOPS_WITHIN
    try:
        assert process.stdout is not None
        url = None
        while url is None and (line := (await process.stdout.readline()).decode()):
            if line.startswith(LISTENING):
                url = line.removeprefix(LISTENING).split()[0]
        yield url, process
        within = ENDS_WITHIN
    finally:
        await _stop(process, within)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Makes a redirect an error, because the token is only for the named server."""

    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect."""


async def health(url: str) -> dict[str, Any]:
    """The report of the server at `url` (ws://host:port/ws) on /healthz; empty for a server without that page."""

    def fetch() -> dict[str, Any]:
        try:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)
            request = urllib.request.Request(health_url(url), headers=credentials())
            with opener.open(request, timeout=3) as answer:
                found = json.load(answer)
            return found if isinstance(found, dict) else {}
        except (OSError, ValueError, RecursionError, http.client.HTTPException):
            return {}

    return await asyncio.to_thread(fetch)


def _failure(command: str, code: int) -> VoiceError:
    if code in (ConfigurationError.exit_code, ComponentError.exit_code):
        return AlreadyReported(code)
    how = f"was ended by signal {-code}" if code < 0 else f"exited with status {code}"
    return ComponentError(f"`voice {command}` {how} before it was ready; `voice -v {command}` shows how far it gets.")


async def _stop(process: asyncio.subprocess.Process, within: float) -> None:
    if process.stdin:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), within)
    except TimeoutError:
        logger.warning(
            f"Process {process.pid} did not end within {within:g} s and was killed; its last traces may be lost."
        )
    finally:
        if process.returncode is None:
            # It may have ended in the meantime.
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
