"""Callers of one server at the same time, each holding one conversation after the other in real time."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from latency.record.load_test import PlacedCall
from latency.record.run_writer import RunWriter
from pipelines.replaying.run_folder import save, writing
from pipelines.server_process import Server
from voice.client.call.call_result import CallResult
from voice.client.call.line import PacedLine
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import Fixture
from voice.errors import CallRefused, ComponentError

RETRY_AFTER = 5.0
"""Seconds after a refusal until the caller goes on with its next conversation."""

Say = Callable[[str], None]


@dataclass(slots=True)
class Callers:
    """The callers of a load test, their calls and the folder that keeps them.

    Args:
        server: the server that they call.
        fixtures: the conversations; each caller begins with a different one.
        writer: writes the calls to the run folder.
        began: when the test began, on the monotonic clock.
        fresh: whether the server has had no call before.
        say: called with a line for each call.
    """

    server: Server
    fixtures: Sequence[Fixture]
    writer: RunWriter
    began: float
    fresh: bool
    say: Say
    calls: list[PlacedCall] = field(default_factory=list)
    under_way: int = 0
    _saving: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def all(self, count: int, *, ramp: float, repeat: int) -> None:
        """Start `count` callers within `ramp` seconds; returns when all have held all conversations."""
        async with asyncio.TaskGroup() as group:
            for caller in range(count):
                wait = ramp * caller / max(1, count - 1)
                group.create_task(self._caller(caller + 1, after=wait, repeat=repeat))

    async def _caller(self, caller: int, *, after: float, repeat: int) -> None:
        await asyncio.sleep(after)
        first = (caller - 1) % len(self.fixtures)
        conversations = [*self.fixtures[first:], *self.fixtures[:first]]
        for round_ in range(repeat):
            for number, fixture in enumerate(conversations):
                name = f"{fixture.name}-{round_ + 1}-{caller}"
                cold = self.fresh and caller == 1 and not (round_ or number)
                placed = await self._call(caller, fixture, name, cold=cold)
                self.calls.append(placed)
                if placed.refused:
                    await asyncio.sleep(RETRY_AFTER)

    async def _call(self, caller: int, fixture: Fixture, name: str, *, cold: bool) -> PlacedCall:
        """Hold one conversation; its recording so far is kept, however it ends."""
        line = PacedLine(ScriptedCaller(fixture.turns))
        session = CallSession(self.server.url, line)
        made = self._now()
        refused = failed = None
        self.under_way += 1
        try:
            await session.run()
        except CallRefused as error:
            refused = error.reason
        except ComponentError as error:
            failed = str(error)
        finally:
            self.under_way -= 1
            result = session.result()
            ended = self._now()
            await self._keep(result, fixture, name, cold=cold)
        failed = failed or result.closed
        outcome = f"refused: {refused}" if refused else f"failed: {failed}" if failed else "ended"
        self.say(f"{ended:6.1f} s  caller {caller}  {name}  {outcome}")
        began = line.origin - self.began if result.seconds else made
        return PlacedCall(
            caller=caller, session=name, began=round(began, 3), ended=round(ended, 3), refused=refused, failed=failed
        )

    async def _keep(self, result: CallResult, fixture: Fixture, name: str, *, cold: bool) -> None:
        # Writing a recording takes longer than audio may wait.
        async with self._saving:
            await asyncio.to_thread(self._save, result, fixture, name, cold)

    def _save(self, result: CallResult, fixture: Fixture, name: str, cold: bool) -> None:
        with writing(self.writer.folder):
            save(result, fixture, name, self.writer, cold=cold, load=None)

    def _now(self) -> float:
        return time.monotonic() - self.began
