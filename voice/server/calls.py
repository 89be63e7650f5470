"""The calls under way on an agent: how they begin, resume and end."""

import asyncio
import logging
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Protocol

from fastapi import WebSocket
from fastapi.responses import JSONResponse
from pipecat.pipeline.worker import PipelineWorker
from pipecat.workers.runner import WorkerRunner

from voice.errors import VoiceError
from voice.server.admission import AdmissionRefusal, Headroom
from voice.server.authentication import is_local_address
from voice.server.closing import end_when_idle, shortened
from voice.server.garbage_collection import RELEASE_AFTER, GarbageCollection
from voice.server.limits import IDLE, LONGEST_CALL, MOST_CALLS, MOST_FROM_ONE, RESUME_WITHIN
from voice.server.metrics import ServerMetrics
from voice.server.resumption import ResumableSocket
from voice.server.transport import Caller, CallTransport
from voice.wire.endpoint import (
    NATIVE,
    OUT_RATES,
    RATE_PARAMETER,
    out_rate,
)
from voice.wire.resumption import GONE, RESUME_PARAMETER

MOST_BEGINNING = 16
"""Calls that may wait to begin; each takes 40 ms of the event loop."""
NO_SUCH_CALL = "There is no such call to take up again: it has ended, waited too long, or lost too much; call anew."
BEGIN_EVERY = 0.1
"""The least seconds between the beginnings of two calls; leaves most of the event loop to the calls under way."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BuiltCall:
    """One call's pipeline, ready to run."""

    worker: PipelineWorker
    transport: CallTransport
    """The part that exchanges audio and messages with the client."""


class ServableAgent(Protocol):
    """An agent that the application can serve once its models are loaded."""

    @property
    def native_rate(self) -> int:
        """The sample rate of the agent's voice, in Hz."""

    def status(self) -> dict[str, Any]:
        """The rest of the `/healthz` report, besides readiness."""

    def build_call(self, caller: Caller) -> BuiltCall:
        """The pipeline of one call."""


class Calls:
    """The calls under way on one agent; refused until `ready` is set.

    Args:
        agent: builds the pipeline of each call.
        garbage: collected when calls have ended; None leaves that to Python.
        most: how many calls may be under way.
        metrics: the metrics of the calls.
        resume_within: seconds for which a call waits for a client whose connection broke; 0 ends it at once.
        from_one: how many calls may come from one other machine; None for any number.
        longest: seconds after which a call is closed.
        idle: seconds without a message from the client after which a call is closed; 0 for never.
    """

    def __init__(
        self,
        agent: ServableAgent,
        garbage: GarbageCollection | None = None,
        *,
        most: int = MOST_CALLS,
        metrics: ServerMetrics | None = None,
        resume_within: float = RESUME_WITHIN,
        from_one: int | None = MOST_FROM_ONE,
        longest: float = LONGEST_CALL,
        idle: float = IDLE,
    ) -> None:
        self.agent = agent
        self.metrics = metrics
        self.headroom: Headroom | None = None
        """The server's spare capacity; None if it is not measured."""
        self.active: dict[asyncio.Task[None], float] = {}
        """The calls under way, with the start of each in seconds on the monotonic clock."""
        self.ready = False
        self.closing = False
        """Whether the server is shutting down: calls go on, but none begins."""
        self._garbage = garbage
        self._most = most
        self._begins = asyncio.Lock()
        self._beginning = 0
        self._next_begins = 0.0
        self._from_one, self._longest, self._idle = from_one, longest, idle
        self._callers: Counter[str] = Counter()
        """The calls under way by address."""
        self._resume_within = resume_within
        self._resumable: set[ResumableSocket] = set()

    def why_not(self) -> AdmissionRefusal | None:
        """Why a call would be refused now; None if it would be taken."""
        if not self.ready:
            return AdmissionRefusal(
                kind="loading", reason="the models are still loading; try again when /readyz says so"
            )
        if self.closing:
            return AdmissionRefusal(
                kind="ending", reason="this server is about to end and takes no more calls; call again"
            )
        if len(self.active) >= self._most:
            reason = f"the server is full ({len(self.active)} of {self._most} calls); call later"
            return AdmissionRefusal(kind="full", reason=reason)
        if self._beginning >= MOST_BEGINNING:
            reason = f"{self._beginning} other calls are about to begin; call again in a second"
            return AdmissionRefusal(kind="beginning", reason=reason, retry_after=1)
        if self.headroom is None:
            return None
        now = time.monotonic()
        return self.headroom.refusal(now, ages=[now - began for began in self.active.values()])

    def too_many_from(self, address: str) -> AdmissionRefusal | None:
        """Why another call from this address is refused; None if it is taken. This machine's own calls do not count."""
        if self._from_one is None or is_local_address(address) or self._callers[address] < self._from_one:
            return None
        reason = f"{self._callers[address]} calls from your address are under way, the most for one; call later"
        return AdmissionRefusal(kind="address", reason=reason)

    def end_waiting(self) -> None:
        """End the calls that wait for their clients, as the server shuts down."""
        for socket in self._resumable:
            socket.abandon()

    async def resume(self, websocket: WebSocket, token: str, received: str) -> None:
        """Resume the call with this token on a new connection; `received` is the client's count of messages."""
        count = int(received) if received.isascii() and received.isdigit() and len(received) < 12 else -1
        # All are compared, so that the time does not reveal which one matches.
        found = [one for one in self._resumable if one.is_for(token, count)]
        if not found and RESUME_PARAMETER not in websocket.query_params:
            await websocket.send_denial_response(JSONResponse({"error": NO_SUCH_CALL}, 410))
            return
        await websocket.accept()
        if not found:
            await websocket.close(GONE, NO_SUCH_CALL)
            return
        await found[0].attach(websocket, count)
        await found[0].until_left(websocket)

    async def take(
        self,
        websocket: WebSocket,
        sample_rate: str,
        *,
        ducks: bool = False,
        resumes: bool = False,
        evals: bool = False,
    ) -> None:
        """Run one call to its end; a call that cannot start or breaks the protocol is closed with a reason.

        Args:
            websocket: the client's connection.
            sample_rate: what the client asks for; see `out_rate`.
            ducks: whether it can lower its own playback volume.
            resumes: whether it can resume the call after its connection breaks.
            evals: whether it may be pipecat's eval harness.
        """
        await websocket.accept()
        address = websocket.client.host if websocket.client else ""
        if refusal := self.why_not() or self.too_many_from(address):
            if self.metrics:
                self.metrics.refused(refusal.kind)
            await websocket.close(1013, refusal.reason)
            return
        rate = out_rate(sample_rate, native=self.agent.native_rate)
        if rate is None:
            allowed = f"{NATIVE} or a number from {OUT_RATES[0]} to {OUT_RATES[-1]}"
            await websocket.close(1008, f"{RATE_PARAMETER} must be {allowed}, not {sample_rate[:10]}")
            return
        task = asyncio.current_task()
        assert task is not None
        self.active[task] = time.monotonic()
        self._callers[address] += 1
        try:
            socket = await self._resumable_socket(websocket) if resumes else websocket
            await self._run(Caller(socket=socket, sample_rate=rate, ducks=ducks, takes_harness=evals))
        except VoiceError as error:
            log.warning("a call could not begin: %s", error)
            await websocket.close(1011, shortened(str(error)))
        except asyncio.CancelledError:
            # The server is shutting down and this call took too long to end; uvicorn would print a traceback.
            log.warning("a call was cut off")
        finally:
            self.active.pop(task, None)
            self._callers[address] -= 1
            if not self._callers[address]:
                del self._callers[address]

    async def _begin(self, caller: Caller) -> BuiltCall:
        """Wait for this call's turn, and build its pipeline: building many at once would delay the calls under way."""
        self._beginning += 1
        try:
            async with self._begins:
                # Ended calls count, too: clients may call and hang up over and over.
                await asyncio.sleep(self._next_begins - time.monotonic())
                self._next_begins = time.monotonic() + BEGIN_EVERY
                return self.agent.build_call(caller)
        finally:
            self._beginning -= 1

    async def _resumable_socket(self, websocket: WebSocket) -> ResumableSocket | WebSocket:
        """A connection that the client can resume after it breaks."""
        if not self._resume_within:
            return websocket
        # Otherwise calls whose clients have vanished could fill the server while they wait.
        most = max(1, self._most // 2)
        socket = ResumableSocket(
            within=self._resume_within, may_wait=lambda: sum(one.away for one in self._resumable) < most
        )
        await socket.attach(websocket)
        return socket

    async def _run(self, caller: Caller) -> None:
        """Run a call to its end; it is counted, and resumable if its connection is."""
        socket, counted = caller.socket, self.metrics.began() if self.metrics else None
        if isinstance(socket, ResumableSocket):
            self._resumable.add(socket)
        why = "it could not begin"
        try:
            why = await self._converse(replace(caller, metrics=counted))
        except asyncio.CancelledError:
            why = "cut off by the server's end"
            raise
        finally:
            if self.metrics and counted:
                self.metrics.ended(counted, why)
            if isinstance(socket, ResumableSocket):
                self._resumable.discard(socket)
                socket.end()

    async def _converse(self, caller: Caller) -> str:
        """Run a call's pipeline to its end; returns the reason, a clause."""
        call = await self._begin(caller)
        worker, transport = call.worker, call.transport
        why = "the agent ended it"

        @transport.event_handler("on_client_disconnected")  # type: ignore[untyped-decorator]
        async def hang_up(_transport: CallTransport, _websocket: WebSocket) -> None:
            nonlocal why
            why = transport.gone
            try:
                if ending := transport.ending:
                    why = f"{ending.kind}: {ending.reason}"
                    log.warning("call closed: %s", ending.reason)
                    await transport.close(ending)
            finally:
                await worker.cancel()

        runner = WorkerRunner(handle_sigint=False)
        limits = [
            asyncio.create_task(self._end_in_time(transport)),
            asyncio.create_task(end_when_idle(transport, self._idle)),
        ]
        try:
            await runner.add_workers(worker)
            await runner.run()
        finally:
            for limit in limits:
                limit.cancel()
            asyncio.get_running_loop().call_later(RELEASE_AFTER, self._release, worker)
        return why

    async def _end_in_time(self, transport: CallTransport) -> None:
        await asyncio.sleep(self._longest)
        await transport.end(f"it has lasted {self._longest / 60:g} minutes, the longest for this server")

    def _release(self, worker: PipelineWorker) -> None:
        if self._garbage:
            self._garbage.call_ended(worker, others=len(self.active))
