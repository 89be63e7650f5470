"""A call of the embedded pipeline whose connection is cut in mid-answer: it goes on where it was, and is one call."""

import asyncio
import random
from pathlib import Path

import pytest

from latency.audio.onset import estimated_speech
from pipelines.replaying.call_records import session_record, turn_records
from tests.pipelines.server_process import ServerProcess
from tests.voice.server.resumption.cutting_proxy import CuttingProxy, proxy_to
from voice.client.call.line import PacedLine
from voice.client.call.listener import CallListener
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import load_fixtures
from voice.client.sound.pcm import RATE

SAMPLES = Path(__file__).resolve().parents[3] / "samples"


class Cutter(CallListener):
    """Cuts the connection while the answer is spoken."""

    def __init__(self, proxy: CuttingProxy, *, times: int, seconds: float) -> None:
        self.proxy, self.times, self.seconds = proxy, times, seconds
        self.away: list[float] = []
        self.said: list[str] = []
        self._cutting: asyncio.Task[None] | None = None

    def on_said(self, text: str) -> None:
        self.said.append(text)
        self._cutting = self._cutting or asyncio.create_task(self._cut())

    def on_resumed(self, seconds: float) -> None:
        self.away.append(seconds)

    async def _cut(self) -> None:
        rng = random.Random(3)
        for _ in range(self.times):
            await asyncio.sleep(rng.uniform(0.4, 0.9))
            self.proxy.closed = self.seconds > 0
            self.proxy.cut()
            await asyncio.sleep(self.seconds)
            self.proxy.closed = False


@pytest.mark.parametrize(("times", "seconds"), [(4, 0.0), (1, 1.5)])
async def test_an_answer_goes_on_where_it_was_cut(server: ServerProcess, times: int, seconds: float) -> None:
    (fixture,) = load_fixtures([str(SAMPLES / "commands" / "03.wav")])
    async with proxy_to(int(server.url.rsplit(":", 1)[1].removesuffix("/ws"))) as proxy:
        cutter = Cutter(proxy, times=times, seconds=seconds)
        # A cut is no end of the answer: the caller is patient.
        line = PacedLine(ScriptedCaller(fixture.turns, hang_up_after=4.0, reply_wait=15.0))
        session = CallSession(f"ws://127.0.0.1:{proxy.port}/ws", line, listener=cutter)
        result = await session.run()
    assert result.closed is None
    assert len(cutter.away) == times
    assert min(cutter.away) >= seconds
    assert max(cutter.away) < seconds + 2
    assert proxy.connections == times + 1
    (record,) = turn_records(result, fixture, "call")
    assert record.heard == "spell giraffe"
    assert len(record.server_turns) == 1
    (turn,) = result.turns
    assert turn.turn.final
    assert not turn.turn.interrupted
    assert turn.turn.played == turn.turn.said == " ".join(cutter.said)
    kept = session_record(result, fixture, name="call", wav="call.wav")
    assert len(kept.outages) == times
    assert all(start < end for start, end in kept.outages)
    heard = sum(span.end - span.start for span in estimated_speech(result.stereo()[:, 1], RATE))
    assert 2.5 < heard < 5, "seven letters and two words, once"
