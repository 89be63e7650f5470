"""Each part of a call fails in each way at each moment of a turn, and the caller is never left without an answer.

.venv/bin/pytest tests/faults -m slow -s     the whole matrix, with a table at its end

For every cell: the turn ends as the table says; the call ends with a reason, or the next turn is answered; each turn is
accounted for in the record; nothing is heard while the caller speaks; no task, process, thread or descriptor is left;
and the reason is named wherever something was lost.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest
import soundfile
import yaml

from pipelines.process import log_pipecat
from tests.faults.broken_call import BrokenCall, broken_call
from tests.faults.expectations import EXPECTED, NAMED
from tests.faults.matrix import CELLS, Cell
from tests.faults.served import Served
from voice.client.fixtures.fixture import Fixture, load_fixtures
from voice.tts.piper.voice import Voice, embedded_voice

COUNT, LONG, TIMES, ORDER = "count to five", "count to twenty", "what is seven times eight", "what is my order status"
WORDS = {COUNT: "5", LONG: "20", TIMES: "56", ORDER: "left the warehouse"}
"""What callers say, and what a right answer contains."""
QUICK = (Cell("voice detector", "dies", "speaking"), Cell("client's socket", "garbage", "deciding"))
"""Cells that are tried with every run of the tests: the shortest calls."""
STREAMING = ("large model", "provider's socket")
"""What is still at work while the answer sounds, if that is long."""
LET_GO_WITHIN = 15.0
"""Seconds after a call; pipecat waits twice for a part that hangs before it is taken apart, 3 s each."""
SPARE = 8
"""Descriptors and threads that pools may have more than at the beginning: of a connection to a model that is kept open,
three are in this process, with the proxy's."""


class Conversations:
    """The calls' fixtures, in our own voice."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._made = folder, dict[tuple[str, ...], Fixture]()
        self.now: tuple[str, ...] = (COUNT,)

    def of(self, cell: Cell) -> Fixture:
        """What is said in the call of a cell."""
        first, then = (LONG if cell.moment == "answering" and cell.part in STREAMING else COUNT), TIMES
        if cell.part == "tool":
            first = then = ORDER
        elif cell.part == "Whisper service":
            # The scripted model always hears the same.
            first = then = COUNT
        self.now = (first, then)
        if self.now not in self._made:
            self._made[self.now] = self._make(self.now)
        return self._made[self.now]

    def _make(self, texts: tuple[str, ...]) -> Fixture:
        folder = self._folder / f"conversation-{len(self._made)}"
        folder.mkdir()
        voice, turns = Voice(embedded_voice()), []
        for number, text in enumerate(texts):
            speech = voice.synthesize(f"{text}?") / 32768
            quiet = np.zeros(voice.sample_rate // 3)
            samples = np.concatenate([quiet, 0.7 * speech / abs(speech).max(), quiet])
            soundfile.write(folder / f"{number}.wav", samples, voice.sample_rate)
            expect = [{"event": "response", "text_contains": WORDS[text]}]
            turns.append({"user": text, "audio": f"{number}.wav", "expect": expect})
        voice.close()
        scenario = {"name": folder.name, "user": {"modality": "audio"}, "scenarios": [{"name": "call", "turns": turns}]}
        (folder / "scenario.yaml").write_text(yaml.safe_dump(scenario))
        (fixture,) = load_fixtures([folder])
        return fixture


@dataclass(frozen=True)
class Held:
    """What a process holds."""

    tasks: int
    threads: int
    descriptors: int
    processes: int

    def exceeds(self, other: "Held") -> bool:
        return (
            self.tasks > other.tasks
            or self.threads > other.threads + SPARE
            or self.descriptors > other.descriptors + SPARE
            or self.processes > other.processes
        )


class Room:
    """The servers, and what they held when no call was under way."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.conversations = Conversations(folder)
        self.turn = 0
        self.served = Served(folder, self._words, whisper=COUNT)
        self._held: dict[str, Held] = {}
        self._number = 0

    def _words(self) -> str:
        return self.conversations.now[min(self.turn, 1)]

    def held(self) -> Held:
        process = psutil.Process()
        # Threads of the default executor stay for the next work.
        threads = [one for one in threading.enumerate() if not one.name.startswith("asyncio_")]
        children = [one for one in process.children(recursive=True) if one.status() != psutil.STATUS_ZOMBIE]
        return Held(self.served.tasks, len(threads), process.num_fds(), len(children))

    def call(self, cell: Cell) -> BrokenCall:
        self._number += 1
        self.turn = 0
        fixture = self.conversations.of(cell)
        return broken_call(self.served, cell, fixture, self.folder / f"run-{self._number}", self._placed)

    def _placed(self, turn: int) -> None:
        self.turn = turn

    def before(self, cell: Cell) -> Held:
        """What is held without a call, after a whole one on the same server."""
        self.served.server(cell.part)
        key = "".join(sorted(self.served.running))
        if key not in self._held:
            time.sleep(1)
            self._held = {key: self.held()}
        return self._held[key]

    def after(self, before: Held) -> Held:
        """What is held when the call has ended, and its parts have had time to end."""
        end = time.monotonic() + LET_GO_WITHIN
        while (found := self.held()).exceeds(before) and time.monotonic() < end:
            time.sleep(0.1)
        return found


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    log_pipecat(level="WARNING")
    room = Room(tmp_path_factory.mktemp("faults"))
    room.served.open()
    yield room
    room.served.close()


def _marked(cell: Cell) -> object:
    return pytest.param(cell, id=str(cell), marks=[] if cell in QUICK else [pytest.mark.slow])


@pytest.mark.parametrize("cell", [_marked(cell) for cell in CELLS])
def test_the_caller_is_never_left_alone(
    room: Room, cell: Cell, record_property: Callable[[str, object], None], caplog: pytest.LogCaptureFixture
) -> None:
    before = room.before(cell)
    began = time.monotonic()
    made = room.call(cell)
    lasted = time.monotonic() - began
    after = room.after(before)
    record_property("cell", f"{cell}: {made.outcome}")
    print(f"\n{cell}: {made.outcome} after {lasted:.0f} s and {time.monotonic() - began - lasted:.0f} s")
    print(f"  said {made.told.said}\n  {made.reasons}\n  {made.second_answered} {before} {after}")

    assert made.began is not None, "the moment of the fault has come"
    assert made.outcome in EXPECTED[cell]
    if made.result.closed is None:
        assert made.second_answered, "the call goes on, so the next turn is answered"
    kept = made.kept.turns if made.kept else ()
    assert len(made.records) == len(made.result.placed) == len(kept), "every turn is accounted for"
    if cell.part != "client's socket":
        # What was sent before the connection broke is heard when it is back, whatever the caller does then.
        assert made.spoken_over == []
    assert not after.exceeds(before), (before, after)
    if made.outcome in ("apologised", "repeated", "closed") or made.not_written:
        assert NAMED[cell.part].search(made.reasons), made.reasons
