"""Injects the scheduled faults into a call, each at its moment of its turn."""

import asyncio
import urllib.request
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from urllib.error import URLError
from urllib.parse import quote

import psutil

from latency.record.session import InjectedFault
from pipelines.replaying.chaos import STOPPED_FOR, Fault
from voice.client.caller.scripted_caller import PlacedTurn
from voice.errors import ComponentError

WORKER = "voice.asr.sphinx.worker"
ANSWER_WITHIN = 3.0
"""Seconds that the simulator may take to break or mend a model."""


class Injector:
    """Breaks the parts of one server during one call.

    Args:
        faults: the fault of each turn, or None.
        server: the server's process, our child.
        cut: breaks the client's connection.
        now: seconds since the recording of the call began.
        announce: called with each fault as it happens.
    """

    def __init__(
        self,
        faults: Sequence[Fault | None],
        *,
        server: psutil.Process,
        cut: Callable[[], None],
        now: Callable[[], float],
        announce: Callable[[str], None],
    ) -> None:
        self._faults, self._server = faults, server
        self._cut, self._now, self._announce = cut, now, announce
        self._tasks: list[asyncio.Task[None]] = []
        self._broken: tuple[str, ...] = ()
        self._latest = 0
        # One turn's models are mended before the next one's are broken.
        self._telling = asyncio.Lock()
        self.injected: list[InjectedFault] = []
        """The faults so far."""

    def placed(self, turn: PlacedTurn) -> None:
        """Start a turn: mend the parts that the previous one broke, and schedule the turn's own fault."""
        self._latest = turn.index
        self._tasks.append(asyncio.create_task(self._turn(turn)))

    @asynccontextmanager
    async def during(self) -> AsyncIterator[None]:
        """The context of the call; at its end everything is mended.

        Raises:
            ComponentError: a fault could not be injected.
        """
        try:
            yield
        finally:
            for task in self._tasks:
                task.cancel()
            results = await asyncio.gather(*self._tasks, return_exceptions=True)
            # A simulator that has ended needs no mending.
            with suppress(ComponentError):
                await self._mend()
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _turn(self, turn: PlacedTurn) -> None:
        async with self._telling:
            await self._mend()
        fault = self._faults[turn.index]
        if fault is None:
            return
        await asyncio.sleep(fault.at(start=turn.at, onset=turn.onset, end=turn.end) - self._now())
        self._announce(fault.what)
        self.injected.append(InjectedFault(turn=self._latest, at=round(max(0.0, self._now()), 3), what=fault.what))
        if fault.part == "connection":
            self._cut()
        elif fault.part == "recogniser":
            await self._break_recogniser(fault.kind)
        else:
            async with self._telling:
                self._broken = fault.models
                await self._set_fault(fault.kind)

    async def _break_recogniser(self, kind: str) -> None:
        workers = await asyncio.to_thread(self._children, WORKER)
        if not workers:
            raise ComponentError("No process of the recogniser was found, so none could be broken.")
        try:
            for worker in workers:
                with suppress(psutil.NoSuchProcess):
                    worker.kill() if kind == "killed" else worker.suspend()
            if kind == "stopped":
                await asyncio.sleep(STOPPED_FOR)
        finally:
            if kind == "stopped":
                for worker in workers:
                    with suppress(psutil.NoSuchProcess):
                        worker.resume()

    async def _mend(self) -> None:
        if self._broken:
            await self._set_fault("")
            self._broken = ()

    async def _set_fault(self, kind: str) -> None:
        await asyncio.to_thread(self._tell_simulator, self._broken, kind)

    def _tell_simulator(self, models: Sequence[str], kind: str) -> None:
        simulators = self._children("simulate")
        ports = [one.laddr.port for sim in simulators for one in sim.net_connections("tcp") if one.status == "LISTEN"]
        if not ports:
            raise ComponentError("The simulator was not found, so its models could not be broken.")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for model in models:
            url = f"http://127.0.0.1:{ports[0]}/sim/fault?model={quote(model)}&fault={kind}"
            try:
                opener.open(urllib.request.Request(url, method="POST"), timeout=ANSWER_WITHIN).close()
            except (URLError, TimeoutError, ConnectionError) as error:
                raise ComponentError(f"The simulator did not take the fault {kind or 'back'}: {error}.") from error

    def _children(self, word: str) -> list[psutil.Process]:
        """The server's child processes whose command line has this word."""
        found = []
        with suppress(psutil.NoSuchProcess):
            for process in self._server.children(recursive=True):
                with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                    if word in process.cmdline():
                        found.append(process)
        return found
