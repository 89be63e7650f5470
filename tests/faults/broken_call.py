"""One call of two turns; a part of it is broken in the first one, and mended when the second one begins."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from latency.record.marks import Mark
from latency.record.run import Run, RunHeader
from latency.record.run_writer import RunWriter
from latency.record.turn import ServerTurn, TurnRecord
from pipelines.replaying.call_records import turn_records
from pipelines.replaying.run_folder import PartialCallWriter, save
from tests.faults.breaking import DISK, Mend, breakage
from tests.faults.matrix import Cell, Moment, Outcome
from tests.faults.served import Served
from voice.client.call.call_result import CallResult
from voice.client.call.line import PacedLine
from voice.client.call.listener import CallListener
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import PlacedTurn, ScriptedCaller
from voice.client.fixtures.fixture import Fixture
from voice.client.playback.playout import Playout
from voice.client.sound.pcm import Pcm
from voice.errors import ComponentError
from voice.language.english.phrases import ENGLISH

APOLOGIES = (ENGLISH.not_answering, ENGLISH.broke_off, ENGLISH.unfinished, ENGLISH.went_wrong)
REPEATED = (ENGLISH.say_again, ENGLISH.cannot_hear)
CALL_WITHIN = 75.0
"""Seconds; the longest that was seen takes 40."""
WAITS = 9.0
"""Seconds that the caller waits for an answer or a reason; the watchdog waits for 2 s, and tools for 3."""
AWAY = 3.5
"""Seconds for which the caller has no connection: longer than the watchdog waits for a part."""
HEARD = 0.4
"""Seconds of the second answer that are enough."""


class Told(CallListener):
    """What the caller is told, and in which turn."""

    def __init__(self) -> None:
        self.said: list[tuple[int, str]] = []
        self.errors: list[str] = []
        self.lost = 0
        self.reports: list[ServerTurn] = []
        self.turn = -1
        self.placed: list[Callable[[PlacedTurn], None]] = []

    def on_said(self, text: str) -> None:
        self.said.append((self.turn, text))

    def on_placed(self, turn: PlacedTurn) -> None:
        self.turn = turn.index
        for tell in self.placed:
            tell(turn)

    def on_error(self, text: str) -> None:
        self.errors.append(text)

    def on_lost(self) -> None:
        self.lost += 1

    def on_turn(self, turn: ServerTurn) -> None:
        self.reports.append(turn)


class BreakingCaller(ScriptedCaller):
    """Says when the moment of the fault has come, and when it is over; hangs up once the second answer is heard."""

    def __init__(self, fixture: Fixture, cell: Cell, broken: Callable[[], None], mended: Callable[[], None]) -> None:
        # A recogniser that could not be started is tried again every 2 s.
        self._mend_ahead = cell.part == "recogniser process" and cell.failure == "refuses"
        self._away = cell.part == "client's socket"
        patient = cell.moment == "answering" or cell.part == "recording's disk" or self._mend_ahead
        super().__init__(
            fixture.turns, lead_in=0.6, reply_wait=WAITS, pending_wait=WAITS, hang_up_after=WAITS,
            after_reply=AWAY + 2.5 if self._away else 3.2 if patient else 1.4,
        )  # fmt: skip
        self._moment, self._part, self._broken, self._mended = cell.moment, cell.part, broken, mended
        self.began: float | None = None
        self._over = False

    def next_frame(self, at: float, playout: Playout) -> Pcm | None:
        if self.began is None and self._has_come(at, playout):
            self.began = at
            self._broken()
        if not self._over and self._is_over(at, playout):
            self._over = True
            self._mended()
        if len(self.placed) == 2:
            heard = [one for one in playout.utterances if one.start > self.placed[1].end]
            if heard and at - heard[0].start > HEARD:
                return None
        return super().next_frame(at, playout)

    def _is_over(self, at: float, playout: Playout) -> bool:
        if self._mend_ahead and len(self.placed) == 1:
            heard = [one for one in playout.utterances if one.start > self.placed[0].end]
            return bool(heard) and at >= heard[-1].end + 0.5
        if self._away:
            return self.began is not None and at >= self.began + AWAY
        if len(self.placed) < 2:
            return False
        # The first turn is written to the disk when the second one has begun.
        return at >= (self.placed[1].onset + 0.5 if self._part == "recording's disk" else self.placed[1].at)

    def _has_come(self, at: float, playout: Playout) -> bool:
        return _has_come(self._moment, at, self.placed, playout)


def _has_come(moment: Moment, at: float, placed: list[PlacedTurn], playout: Playout) -> bool:
    if moment == "before":
        return at >= 0.2
    if not placed:
        return False
    first = placed[0]
    if moment == "speaking":
        return at >= first.onset + 0.4
    if moment == "deciding":
        return at >= first.end + 0.1
    heard = [one for one in playout.utterances if one.start > first.end]
    if not heard:
        return False
    return at >= heard[0].start + 0.05 if moment == "answering" else at >= heard[-1].end + 0.5


@dataclass(frozen=True)
class BrokenCall:
    """What became of the call."""

    told: Told
    result: CallResult
    records: list[TurnRecord]
    began: float | None
    """When the fault began, seconds of the recording."""
    not_written: str | None
    """Why the record of the call under way could not be kept."""
    kept: Run | None
    """The run folder, as it is read; None when the call ended before its first turn."""

    @property
    def outcome(self) -> Outcome | Literal["silent"]:
        """What became of the first turn; see `tests.faults.matrix.Outcome`."""
        first = [text for turn, text in self.told.said if turn <= 0]
        record = self.records[0] if self.records else None
        if self.result.closed is not None:
            return "closed"
        # What is said instead of an answer is spoken sentence by sentence.
        if any(apology.startswith(text) for text in first for apology in APOLOGIES):
            return "apologised"
        if any(text in REPEATED for text in first):
            return "repeated"
        if record is None or not record.said:
            return "silent"
        words = record.said.lower()
        if not all(contained.lower() in words for contained in record.contains):
            return "told"
        return "rescued" if any(one.tier == "fast" for one in record.responses) else "answered"

    @property
    def reasons(self) -> str:
        """All reasons that were given, in the record or for the end of the call."""
        found = [self.result.closed, self.not_written, *self.told.errors]
        for record in self.records:
            found += [record.failed, str(record.hung) if record.hung else None]
            found += [attempt.failed for attempt in record.attempts]
        return "; ".join(dict.fromkeys(filter(None, found)))

    @property
    def second_answered(self) -> bool:
        """Whether the second turn was answered, and its answer heard."""
        if len(self.result.placed) < 2 or len(self.records) < 2:
            return False
        return bool(self.records[1].said) and Mark.FIRST_AUDIBLE in self.records[1].marks

    @property
    def spoken_over(self) -> list[float]:
        """When sound began while the caller spoke: nothing may be heard before their words are."""
        starts = [one.start for one in self.result.utterances]
        return [
            start for start in starts for placed in self.result.placed if placed.onset + 0.3 < start < placed.end - 0.05
        ]


def broken_call(
    served: Served, cell: Cell, fixture: Fixture, folder: Path, placed: Callable[[int], None]
) -> BrokenCall:
    """Make the call; `placed` is told which turn begins."""
    agent, proxy = served.server(cell.part)
    mends: list[Mend] = []

    async def begin() -> None:
        mends.append(breakage(cell, served.broken(agent, proxy)))

    async def end() -> None:
        while mends:
            mends.pop()()

    def later(what: Callable[[], object]) -> Callable[[], None]:
        return lambda: served.loop.call_soon_threadsafe(lambda: served.loop.create_task(what()))  # type: ignore[arg-type, return-value]

    try:
        told = Told()
        told.placed.append(lambda turn: placed(turn.index))
        url = f"ws://127.0.0.1:{proxy.port}/ws"
        return asyncio.run(_call(told, cell, fixture, url, folder, later(begin), later(end)))
    finally:
        served.run(end())


async def _call(
    told: Told,
    cell: Cell,
    fixture: Fixture,
    url: str,
    folder: Path,
    begin: Callable[[], None],
    end: Callable[[], None],
) -> BrokenCall:
    caller = BreakingCaller(fixture, cell, begin, end)
    session = CallSession(url, PacedLine(caller), listener=told)
    writer = RunWriter(
        folder, header=RunHeader(created="2026-01-01T00:00:00+00:00", command=[], pipeline={"name": "x"})
    )
    keep = writer.keep

    def failing(*args: object) -> None:
        DISK.write()
        keep(*args)  # type: ignore[arg-type]

    writer.keep = failing  # type: ignore[method-assign]
    under_way = PartialCallWriter(session, fixture, "call", writer, cold=False)
    told.placed.append(under_way.placed)
    not_written = None
    try:
        async with asyncio.timeout(CALL_WITHIN), under_way.during():
            await session.run()
    except ComponentError as error:
        not_written = str(error)
    result = session.result()
    save(result, fixture, "call", writer, cold=False, load=None)
    writer.finish("complete")
    records = turn_records(result, fixture, "call")
    kept = Run.load(folder) if records else None
    return BrokenCall(told, result, records, caller.began, not_written, kept)
