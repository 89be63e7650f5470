"""Makes one call of a benchmark and observes it from outside: turn ends, requests, CPU time and memory."""

import asyncio
import json
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from latency.record.session import Pacing, ServerLoad
from pipelines.replaying.run_folder import load_between
from pipelines.server_process import Server
from voice.client.call.call_result import CallResult
from voice.client.call.line import PacedLine
from voice.client.call.listener import CallListener
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import Fixture
from voice.errors import ComponentError

REPLY_WAIT = 6.0
"""Seconds that a caller waits for an answer; a stock bot's slowest answers take more than 4."""
LOOK_EVERY = 0.5
"""Seconds between two readings of a server's memory; each of several callers at once reads it less often."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ObservedCall:
    """A call and its observations.

    Parameters:
        result: the call.
        turn_ends: when the agent reported the end of a user's turn, in seconds of the recording; None: it reports none.
        requests: the simulator's records of the requests it received during the call; if calls overlap, of those
            since the last of them that ended.
        load: the server's cpu_cores, rss_mb and rss_peak_mb; None when its process has ended.
    """

    result: CallResult
    turn_ends: list[float] | None
    requests: list[dict[str, Any]]
    load: ServerLoad | None

    @property
    def pacing(self) -> Pacing:
        """The pacing of the user's audio."""
        return self.result.pacing.summary()

    def beside(self, session: str) -> dict[str, Any]:
        """The call's line in calls.jsonl."""
        return {"session": session, "turn_ends": self.turn_ends, "requests": self.requests}


class Journal:
    """The requests to the language model simulator, each of them read once.

    Args:
        simulator: its base URL.
    """

    def __init__(self, simulator: str) -> None:
        self._address = simulator.removesuffix("/v1") + "/sim/requests"
        self._latest = 0

    async def fresh(self) -> list[dict[str, Any]]:
        """The new requests, in order.

        Raises:
            ComponentError: the simulator does not answer.
        """
        try:
            known = await asyncio.to_thread(self._fetch)
        except OSError as error:
            raise ComponentError(f"The language model simulator does not answer ({error}).") from error
        found = [request for request in known if request["number"] > self._latest]
        self._latest = max((request["number"] for request in found), default=self._latest)
        return found

    def _fetch(self) -> list[dict[str, Any]]:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self._address, timeout=5) as answer:
            found: list[dict[str, Any]] = json.load(answer)
        return found


async def observe(server: Server, fixture: Fixture, journal: Journal, *, at_once: int = 1) -> ObservedCall:
    """Make a call.

    Args:
        server: the agent.
        fixture: the caller's recordings.
        journal: the requests to the language model simulator, which no other call uses at the same time.
        at_once: how many calls the server has at the same time; each is charged with its share of the CPU time.

    Raises:
        ComponentError: the call could not begin, or the simulator has ended.
    """
    line = PacedLine(ScriptedCaller(fixture.turns, reply_wait=REPLY_WAIT))
    ends = TurnEnds(line)
    if at_once == 1:
        await journal.fresh()  # what came between two calls belongs to none
    before = server.load()
    async with _watching(server, every=LOOK_EVERY * at_once) as peaks:
        result = await CallSession(server.url, line, listener=ends).run()
    after = server.load()
    load = load_between(before, after, result.seconds)
    if load and after:
        share = None if load.cpu_cores is None else round(load.cpu_cores / at_once, 3)
        load = replace(load, cpu_cores=share, rss_peak_mb=round(max(*peaks, after.resident_bytes) / 1e6, 1))
    return ObservedCall(result=result, turn_ends=ends.at or None, requests=await journal.fresh(), load=load)


class TurnEnds(CallListener):
    """Records when the agent reports the end of the user's turn, in seconds of the recording."""

    def __init__(self, line: PacedLine) -> None:
        self.at: list[float] = []
        self._line = line

    def on_speaking(self, who: Literal["user", "bot"], speaking: bool) -> None:
        """The user starts or stops speaking; a stop ends the turn."""
        if who == "user" and not speaking:
            self.at.append(round(time.monotonic() - self._line.origin, 3))


@asynccontextmanager
async def _watching(server: Server, *, every: float) -> AsyncIterator[list[int]]:
    """Reads the server's memory every so many seconds; yields the readings, in bytes."""
    seen = [0]

    async def watch() -> None:
        while load := await asyncio.to_thread(server.load):
            seen.append(load.resident_bytes)
            await asyncio.sleep(every)

    watching = asyncio.create_task(watch())
    try:
        yield seen
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
