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
from pipelines.serving.child import Server
from voice.client.call.call_result import CallResult
from voice.client.call.line import PacedLine
from voice.client.call.listener import CallListener
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import Fixture
from voice.errors import ComponentError

REPLY_WAIT = 6.0
"""Seconds a caller waits for an answer; a stock bot's slowest answers take more than 4."""
LOOK_EVERY = 0.5
"""Seconds between two readings of a server's memory."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """A call, and what was observed during it.

    Parameters:
        result: the call.
        turn_ends: when the agent reported the end of a user's turn, in seconds of the recording; None: it reports none.
        requests: the simulator's records of the requests it received during the call.
        load: the server's cpu_cores, rss_mb and rss_peak_mb; None when its process has ended.
    """

    result: CallResult
    turn_ends: list[float] | None
    requests: list[dict[str, Any]]
    load: ServerLoad | None

    @property
    def pacing(self) -> Pacing:
        """How the user's audio was paced."""
        return self.result.pacing.summary()

    def beside(self, session: str) -> dict[str, Any]:
        """The call's line in calls.jsonl."""
        return {"session": session, "turn_ends": self.turn_ends, "requests": self.requests}


async def observe(server: Server, fixture: Fixture, simulator: str) -> Observed:
    """Make a call.

    Args:
        server: the agent.
        fixture: what the caller says.
        simulator: base URL of the language model simulator, which no other call uses at the same time.

    Raises:
        ComponentError: the call could not begin, or the simulator has ended.
    """
    line = PacedLine(ScriptedCaller(fixture.turns, reply_wait=REPLY_WAIT))
    ends = TurnEnds(line)
    known = await requests(simulator)
    latest = known[-1]["number"] if known else 0
    before = server.load()
    async with _watching(server) as peaks:
        result = await CallSession(server.url, line, listener=ends).run()
    after = server.load()
    load = load_between(before, after, result.seconds)
    if load and after:
        load = replace(load, rss_peak_mb=round(max(*peaks, after.resident_bytes) / 1e6, 1))
    asked = [request for request in await requests(simulator) if request["number"] > latest]
    return Observed(result=result, turn_ends=ends.at or None, requests=asked, load=load)


async def requests(simulator: str) -> list[dict[str, Any]]:
    """The latest requests to the simulator, in order.

    Raises:
        ComponentError: the simulator does not answer.
    """
    address = simulator.removesuffix("/v1") + "/sim/requests"

    def fetch() -> list[dict[str, Any]]:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(address, timeout=5) as answer:
            found: list[dict[str, Any]] = json.load(answer)
        return found

    try:
        return await asyncio.to_thread(fetch)
    except OSError as error:
        raise ComponentError(f"The language model simulator does not answer ({error}).") from error


class TurnEnds(CallListener):
    """Notes when the agent reports the end of the user's turn, in seconds of the recording."""

    def __init__(self, line: PacedLine) -> None:
        self.at: list[float] = []
        self._line = line

    def on_speaking(self, who: Literal["user", "bot"], speaking: bool) -> None:
        """The user starts or stops speaking; a stop ends the turn."""
        if who == "user" and not speaking:
            self.at.append(round(time.monotonic() - self._line.origin, 3))


@asynccontextmanager
async def _watching(server: Server) -> AsyncIterator[list[int]]:
    """Reads the server's memory every `LOOK_EVERY` seconds; yields the readings, in bytes."""
    seen = [0]

    async def watch() -> None:
        while load := server.load():
            seen.append(load.resident_bytes)
            await asyncio.sleep(LOOK_EVERY)

    watching = asyncio.create_task(watch())
    try:
        yield seen
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
