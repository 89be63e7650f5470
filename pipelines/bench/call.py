"""One call of a benchmark, and what can be observed from outside: turn ends, requests, CPU time and memory."""

import asyncio
import json
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal

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
"""Seconds a caller waits for an answer; the slowest answers of a stock bot come after more than 4."""
LOOK_EVERY = 0.5
"""Seconds between two looks at a server's memory."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """A call, and what was seen beside it.

    Parameters:
        result: the call.
        turn_ends: when the agent took the user's turn to be over, seconds of the recording; None if it does not say.
        requests: the simulator's records of what it was asked meanwhile.
        load: the server's cpu_cores, rss_mb and rss_peak_mb; None when it has gone.
    """

    result: CallResult
    turn_ends: list[float] | None
    requests: list[dict[str, Any]]
    load: dict[str, float] | None

    @property
    def pacing(self) -> dict[str, Any]:
        """How the user's audio was fed, as run.json has it."""
        return asdict(self.result.pacing.summary())

    def beside(self, session: str) -> dict[str, Any]:
        """The line of calls.jsonl."""
        return {"session": session, "turn_ends": self.turn_ends, "requests": self.requests}


async def observe(server: Server, fixture: Fixture, simulator: str) -> Observed:
    """Make a call.

    Args:
        server: the agent.
        fixture: what the caller says.
        simulator: base URL of the language models' simulator, which has no other client during the call.

    Raises:
        ComponentError: The call could not begin, or the simulator has gone.
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
        load["rss_peak_mb"] = round(max(*peaks, after.resident_bytes) / 1e6, 1)
    asked = [request for request in await requests(simulator) if request["number"] > latest]
    return Observed(result=result, turn_ends=ends.at or None, requests=asked, load=load)


async def requests(simulator: str) -> list[dict[str, Any]]:
    """The latest requests to the simulator, in order.

    Raises:
        ComponentError: It does not answer.
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
        raise ComponentError(f"The simulator of language models does not answer ({error}).") from error


class TurnEnds(CallListener):
    """Notes when the agent says that the user's turn is over, seconds of the recording."""

    def __init__(self, line: PacedLine) -> None:
        self.at: list[float] = []
        self._line = line

    def on_speaking(self, who: Literal["user", "bot"], speaking: bool) -> None:
        """The end of the user's turn."""
        if who == "user" and not speaking:
            self.at.append(round(time.monotonic() - self._line.origin, 3))


@asynccontextmanager
async def _watching(server: Server) -> AsyncIterator[list[int]]:
    """Looks at the server's memory now and then; gives the bytes that were seen."""
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
