"""A call becomes the entries of a run folder, however it ends."""

import asyncio
import threading
import time

import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection

from latency.record.marks import Mark
from latency.record.session import PlayoutSummary, ServerLoad
from pipelines.replaying.call_records import session_record, turn_records
from tests.voice.client.call.rig import SERVER_CLOCK, Bot, Notes, call, caller, fixture, onset_after, serving, tone
from voice.client.call.line import PacedLine
from voice.client.call.session import CallSession
from voice.client.caller.live_turns import with_live_turns
from voice.client.sound.device_line import DeviceLine
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE
from voice.client.sound.sound_card import DuplexCallback


class ThreadCard:
    """A sound card that calls back every 10 ms from a thread of its own; its microphone hears one tone."""

    latency = (0.01, 0.01)

    def __init__(self) -> None:
        self.closed = threading.Event()
        self.heard = np.zeros(60 * RATE, np.int16)
        self.heard[: RATE // 2] = np.random.default_rng(0).normal(0, 8, RATE // 2).astype(np.int16)
        self.heard[RATE // 2 : RATE] = tone(0.5)

    def open(self, callback: DuplexCallback) -> "ThreadCard":
        self.callback = callback
        return self

    def start(self) -> None:
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def close(self) -> None:
        self.closed.set()
        self.thread.join()

    def run(self) -> None:
        start = time.monotonic()
        for index in range(len(self.heard) // 160):
            if self.closed.wait(max(0.0, start + (index + 1) * 0.01 - time.monotonic())):
                return
            heard = self.heard[160 * index : 160 * (index + 1)].tobytes()
            self.callback(heard, memoryview(bytearray(320)), 160, None, False)


async def test_a_call_becomes_records_on_the_recordings_clock_and_a_session_entry() -> None:
    of = fixture(turns=2)
    result = await call(lambda socket: Bot(socket).answer_turns(delay=0.3), of)
    records = turn_records(result, of, "tone", cold=True)
    assert [record.turn for record in records] == [0, 1]
    assert [record.cold for record in records] == [True, False]
    for record, placed in zip(records, result.placed, strict=True):
        marks = {str(mark): at for mark, at in record.marks.items()}
        known = [marks[name] for name in ("speech_end", "vad_stop", "turn_commit", "first_received", "first_audible")]
        assert known == sorted(known)
        assert marks["speech_end"] == pytest.approx(placed.end)
        assert marks["turn_commit"] < placed.end + 1.3
        assert "llm_request" not in marks
        assert (record.heard, record.said) == ("what time is it", "It is noon.")
        assert record.ended_by == "smart_turn"
        assert record.attempts[0].request == marks["turn_commit"]
        assert record.attempts[0].end is None
        assert record.server_turns[0].marks[Mark.TURN_COMMIT] == marks["turn_commit"]
        assert record.failed is None
    entry = session_record(result, of, name="tone", wav="tone.wav", server=ServerLoad(cpu_cores=0.2, rss_mb=50.0))
    assert entry.clock is not None
    assert entry.pacing is not None
    assert entry.clock.offset == pytest.approx(SERVER_CLOCK, abs=0.5)
    assert entry.clock.pings >= 8
    assert 0 <= entry.clock.rtt < 1
    assert entry.pacing.frames == round(result.seconds * RATE / MESSAGE_SAMPLES)
    assert entry.pacing.late_max_ms >= 0
    assert entry.playout == PlayoutSummary(jitter_ms=60, underruns=0, rate=RATE)


async def test_a_live_call_is_recorded_on_the_cards_clock_and_its_turns_are_found() -> None:
    line = DeviceLine(open_stream=(card := ThreadCard()).open)
    async with serving(lambda socket: Bot(socket).answer_turns(delay=0.3)) as url:
        session = CallSession(url, line, listener=(notes := Notes()))
        running = asyncio.create_task(session.run())
        await notes.wait("turn", 0, True)
        await asyncio.sleep(1.0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert card.closed.is_set()
    stereo = session.result().stereo()
    assert np.array_equal(stereo[:, 0], card.heard[: len(stereo)])
    result, of = with_live_turns(session.result(), name="talk")
    (record,) = turn_records(result, of, "talk")
    assert record.truth == "estimated"
    assert list(record.speech) == [pytest.approx((0.5, 1.0), abs=0.02)]
    marks = {str(mark): at for mark, at in record.marks.items()}
    assert marks["speech_end"] + 0.3 <= marks["turn_commit"] <= marks["first_received"] + 0.03
    assert marks["first_audible"] == pytest.approx(onset_after(stereo[:, 1], 0.0), abs=0.01)
    assert record.heard == "what time is it"


async def test_a_call_that_the_server_closes_keeps_its_recording_and_the_reason() -> None:
    async def leave(socket: ServerConnection) -> None:
        bot = Bot(socket)
        async for _ in bot.frames():
            if len(bot.received) == 63 * MESSAGE_SAMPLES:
                await bot.audio(tone(0.1))
                await socket.close(1011, "the recogniser has failed")

    of = fixture(turns=3)
    result = await call(leave, of)
    assert result.closed == "the server closed the call (1011: the recogniser has failed)"
    assert 1.0 <= result.seconds < 5.0
    assert len(result.stereo()) == round(result.seconds * RATE)
    records = turn_records(result, of, "tone")
    assert records[-1].failed == result.closed
    assert session_record(result, of, name="tone", wav="tone.wav").never_sent == 3 - len(records)


async def test_without_an_aligned_clock_server_marks_are_unknown_and_turns_still_match() -> None:
    of = fixture(turns=2)
    result = await call(lambda socket: Bot(socket, has_clock=False).answer_turns(delay=0.2), of)
    assert result.alignment is None
    assert session_record(result, of, name="tone", wav="tone.wav").clock is None
    for record in turn_records(result, of, "tone"):
        assert record.heard == "what time is it"
        assert Mark.TURN_COMMIT not in record.marks
        assert Mark.FIRST_AUDIBLE in record.marks


async def test_a_cancelled_call_keeps_its_recording() -> None:
    left = asyncio.Event()

    async def talk(socket: ServerConnection) -> None:
        try:
            await Bot(socket).answer_turns(delay=0.1)
        finally:
            left.set()

    of = fixture(turns=50)
    async with serving(talk) as url:
        session = CallSession(url, PacedLine(caller(of)), listener=(notes := Notes()))
        running = asyncio.create_task(session.run())
        await notes.wait("placed", 1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        async with asyncio.timeout(30):
            await left.wait()
    result = session.result()
    assert len(result.placed) >= 2
    assert len(result.stereo()) == round(result.seconds * RATE) > 0
    assert len(turn_records(result, of, "tone")) >= 1
    assert result.closed is None
