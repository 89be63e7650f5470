"""A paced line sends its frames in real time, tried on a manual clock."""

import asyncio

import numpy as np
import pytest

from voice.client.call.line import PacedLine, PacingLog
from voice.client.playback.playout import Playout
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE

SECONDS = MESSAGE_SAMPLES / RATE


class Numbers:
    """A source of `count` numbered frames that notes what it was asked for."""

    placed = ()
    answer_pending = False

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: list[float] = []
        self.positions: list[float] = []

    def next_frame(self, at: float, playout: Playout) -> np.ndarray | None:
        self.asked.append(at)
        self.positions.append(playout.position)
        return np.full(MESSAGE_SAMPLES, len(self.asked), np.int16) if len(self.asked) <= self.count else None


class ManualClock:
    """Time passes only when something sleeps, a little too long each time."""

    def __init__(self, late: float) -> None:
        self.now = 1000.0
        self.late = late
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if seconds:
            self.now += seconds + self.late


@pytest.fixture
def clock(monkeypatch):
    """The loop's sleep, made to take no time."""
    clock = ManualClock(late=0.003)
    monkeypatch.setattr(asyncio, "sleep", clock.sleep)
    return clock


async def play(line: PacedLine) -> list[int]:
    line.open(keep=True)
    return [int(frame[0]) async for frame in line.frames()]


async def test_frames_are_sent_on_absolute_deadlines_so_that_lateness_does_not_add_up(clock):
    source = Numbers(500)
    line = PacedLine(source, clock=clock)
    assert await play(line) == list(range(1, 501))
    assert line.origin == 1000.0
    assert clock.now == pytest.approx(1000.0 + 501 * SECONDS + 0.003)
    assert source.asked[:3] == [0.0, SECONDS, 2 * SECONDS]
    pacing = line.pacing.summary()
    assert (pacing.frames, pacing.late_over_20ms) == (500, 0)
    assert pacing.late_max_ms == pytest.approx(3.0, abs=0.01)
    assert pacing.clock_ratio == pytest.approx(1.0, abs=1e-6)


async def test_after_a_stall_the_frames_catch_up_and_the_stall_is_reported(clock):
    source = Numbers(100)
    line = PacedLine(source, clock=clock)
    line.open(keep=True)
    async for frame in line.frames():
        if frame[0] == 50:
            clock.now += 0.2
    pacing = line.pacing.summary()
    assert pacing.late_max_ms == pytest.approx(187.0, abs=0.1)
    assert pacing.late_over_20ms == 11
    assert clock.now == pytest.approx(1000.0 + 101 * SECONDS + 0.003)


async def test_the_source_is_asked_with_a_loudspeaker_that_has_played_up_to_now(clock):
    source = Numbers(10)
    await play(PacedLine(source, clock=clock))
    for at, position in zip(source.asked, source.positions, strict=True):
        assert position >= at + SECONDS


async def test_taps_hear_both_sides(clock):
    heard, said = [], []
    line = PacedLine(Numbers(10), tap=lambda pcm, rate: heard.append(len(pcm)), user_tap=said.append, clock=clock)
    playout = line.open(keep=False)
    playout.push(clock.now, np.ones(1600, np.int16), 16000)
    async for _ in line.frames():
        pass
    assert heard[:2] == [160, 160]
    assert [int(frame[0]) for frame in said] == list(range(1, 11))


def test_no_frames_have_no_figures():
    log = PacingLog()
    summary = log.summary()
    assert (summary.frames, summary.late_max_ms, summary.clock_ratio) == (0, None, None)
    assert log.late_max(0.0, 10.0) is None
