"""A call against a small server that speaks the wire: what is recorded, and what remains when something goes wrong.

The server's delays are counted in samples it has received, so that a slow machine moves no expectation.
"""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path

import numpy as np
import pytest
from pipecat.frames.protobufs import frames_pb2
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from voice.client.call import session as session_module
from voice.client.call.call_result import CallResult
from voice.client.call.line import PacedLine
from voice.client.call.listener import CallListener
from voice.client.call.session import CallSession
from voice.client.call.turn_records import session_entry, turn_records
from voice.client.caller.live_turns import with_live_turns
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import Fixture, FixtureTurn
from voice.client.sound.device import DeviceLine
from voice.client.sound.pcm import FRAME, RATE
from voice.errors import ComponentError, ConfigurationError
from voice.wire.requests import Custom

SERVER_CLOCK = 5000.0
"""Seconds the server's clock is ahead of the client's."""


def tone(seconds: float, rate: int = RATE) -> np.ndarray:
    return (8000 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)).astype(np.int16)


def fixture(*, turns: int = 1, seconds: float = 0.3) -> Fixture:
    """Turns of a tone with 0.1 s of silence on both sides."""
    silence = np.zeros(RATE // 10, np.int16)
    samples = np.concatenate([silence, tone(seconds), silence])
    one = FixtureTurn(
        name="01.wav",
        wav=Path("01.wav"),
        text="what time is it",
        samples=samples,
        speech=((0.1, 0.1 + seconds),),
        labels=(),
        send_after=None,
        wants_answer=True,
        contains=("it is",),
        truth="labelled",
        sha256="abc",
    )
    return Fixture(name="sim:tone/short", source=Path("x"), group="sim:tone", turns=(one,) * turns, notices=())


def caller(of: Fixture) -> ScriptedCaller:
    return ScriptedCaller(of.turns, reply_wait=1.5, after_reply=0.4, lead_in=0.2, hang_up_after=0.3)


class Bot:
    """One connection of the server: handshake and clock are done; `audio` and `message` send."""

    def __init__(self, socket: ServerConnection, *, has_clock: bool = True, rate: int = RATE) -> None:
        self.socket = socket
        self.rate = rate
        self.received = np.zeros(0, np.int16)
        self.asked: list[object] = []
        self._has_clock = has_clock

    def now(self) -> float:
        return time.monotonic() + SERVER_CLOCK

    async def frames(self) -> AsyncIterator[np.ndarray]:
        """The user's audio, frame by frame."""
        async for data in self.socket:
            frame = frames_pb2.Frame.FromString(data)
            if frame.WhichOneof("frame") == "audio":
                self.received = np.append(self.received, np.frombuffer(frame.audio.audio, np.int16))
                yield self.received[-FRAME:]
            else:
                await self._answer(json.loads(frame.message.data))

    async def _answer(self, message: dict) -> None:
        if message["type"] == "client-ready":
            await self.message("bot-ready", {"version": "2.0.0"}, id=message["id"])
        elif self._has_clock and message["data"].get("t") == "clock":
            clock = {"client": message["data"]["d"]["client"], "server": self.now()}
            await self.message("server-response", {"t": "clock", "d": clock}, id=message["id"])
        elif message["data"].get("t") == "echo":
            self.asked.append(message["data"]["d"])
            await self.message("server-response", {"t": "echo", "d": message["data"]["d"]}, id=message["id"])
        elif message["data"].get("t") == "refuse":
            await self.message("error-response", {"error": "There is no such thing."}, id=message["id"])

    async def message(self, type: str, data: dict, id: str = "") -> None:
        frame = frames_pb2.Frame()
        frame.message.data = json.dumps({"label": "rtvi-ai", "type": type, "id": id, "data": data})
        await self.socket.send(frame.SerializeToString())

    async def audio(self, pcm: np.ndarray, rate: int | None = None) -> None:
        for at in range(0, len(pcm), 480):
            frame = frames_pb2.Frame()
            frame.audio.audio = pcm[at : at + 480].tobytes()
            frame.audio.sample_rate, frame.audio.num_channels = rate or self.rate, 1
            await self.socket.send(frame.SerializeToString())

    async def interrupt(self) -> None:
        frame = frames_pb2.Frame()
        frame.interruption.SetInParent()
        await self.socket.send(frame.SerializeToString())

    async def answer_turns(self, *, delay: float, report: bool = True) -> None:
        """Answer each turn with 0.5 s of tone, `delay` seconds of received audio after its last loud sample."""
        turn, heard_at = 0, None
        async for frame in self.frames():
            if np.abs(frame).max() > 1000:
                heard_at = len(self.received)
            elif heard_at is not None and len(self.received) - heard_at >= delay * RATE:
                heard_at = None
                committed = self.now()
                await self.message("user-transcription", {"text": "what time is it", "final": True})
                marks = {"vad_stop": committed - 0.01, "turn_commit": committed}
                state = {"type": "turn", "turn": turn, "final": False, "marks": marks, "heard": "what time is it"}
                if report:
                    await self.message("server-message", state)
                await self.message("bot-output", {"text": "It is noon.", "segment_id": turn, "will_be_spoken": True})
                await self.audio(tone(0.5, self.rate))
                marks = marks | {"first_sent": self.now()}
                attempt = {"tier": "responder", "request": committed, "end": None, "outcome": "spoken"}
                told = {"said": "It is noon.", "ended_by": "smart_turn", "attempts": [attempt], "marks": marks}
                if report:
                    await self.message("server-message", state | told | {"final": True})
                turn += 1


Behaviour = Callable[[ServerConnection], Awaitable[None]]


@asynccontextmanager
async def serving(behaviour: Behaviour, **how) -> AsyncIterator[str]:
    """A server on a free port; its address."""

    async def handle(socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            await behaviour(socket)

    async with serve(handle, "127.0.0.1", 0, compression=None, max_size=None, **how) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"ws://127.0.0.1:{port}/ws"


async def call(behaviour: Behaviour, of: Fixture, **how) -> CallResult:
    async with serving(behaviour) as url:
        return await CallSession(url, PacedLine(caller(of)), **how).run()


def onset_after(channel: np.ndarray, at: float) -> float:
    loud = np.flatnonzero(np.abs(channel[round(at * RATE) :].astype(int)) > 1000)
    return at + int(loud[0]) / RATE


@pytest.mark.parametrize("rate", [16000, 24000])
async def test_the_recording_shows_the_delay_of_the_answer(rate):
    of = fixture(turns=2)
    result = await call(lambda socket: Bot(socket, rate=rate).answer_turns(delay=0.3), of)
    stereo = result.stereo()
    assert stereo.shape == (round(result.seconds * RATE), 2)
    assert result.rate == rate
    assert [placed.turn.name for placed in result.placed] == ["01.wav", "01.wav"]
    for placed in result.placed:
        assert onset_after(stereo[:, 0], placed.at) == pytest.approx(placed.onset, abs=0.002)
        onset = onset_after(stereo[:, 1], placed.end)
        assert placed.end + 0.3 <= onset < placed.end + 1.3
    assert [utterance.end - utterance.start for utterance in result.utterances] == [pytest.approx(0.5, abs=0.01)] * 2
    assert result.closed is None


async def test_what_the_bot_hears_is_the_recordings_left_side():
    heard = []

    async def listen(socket: ServerConnection) -> None:
        bot = Bot(socket)
        heard.append(bot)
        async for _ in bot.frames():
            pass

    result = await call(listen, fixture())
    assert np.array_equal(heard[0].received, result.stereo()[:, 0])
    assert result.pacing.summary().frames == len(heard[0].received) // FRAME


async def test_a_call_becomes_records_on_the_recordings_clock_and_a_session_entry():
    of = fixture(turns=2)
    result = await call(lambda socket: Bot(socket).answer_turns(delay=0.3), of)
    records = turn_records(result, of, "tone", cold=True)
    assert [record["turn"] for record in records] == [0, 1]
    assert [record["cold"] for record in records] == [True, False]
    for record, placed in zip(records, result.placed, strict=True):
        marks = record["marks"]
        known = [marks[name] for name in ("speech_end", "vad_stop", "turn_commit", "first_received", "first_audible")]
        assert known == sorted(known)
        assert marks["speech_end"] == pytest.approx(placed.end)
        assert marks["turn_commit"] < placed.end + 1.3
        assert marks["llm_request"] is None
        assert (record["heard"], record["said"]) == ("what time is it", "It is noon.")
        assert record["ended_by"] == "smart_turn"
        assert record["attempts"][0]["request"] == marks["turn_commit"]
        assert record["attempts"][0]["end"] is None
        assert record["server_turns"][0]["marks"]["turn_commit"] == marks["turn_commit"]
        assert record["failed"] is None
    entry = session_entry(result, of, name="tone", wav="tone.wav", server={"cpu_cores": 0.2, "rss_mb": 50.0})
    assert entry["clock"]["offset"] == pytest.approx(SERVER_CLOCK, abs=0.5)
    assert entry["clock"]["pings"] >= 8
    assert 0 <= entry["clock"]["rtt"] < 1
    assert entry["pacing"]["frames"] == round(result.seconds * RATE / FRAME)
    assert entry["pacing"]["late_max_ms"] >= 0
    assert entry["playout"] == {"jitter_ms": 60, "underruns": 0, "rate": RATE}
    assert json.loads(json.dumps([records, entry])) == [records, entry]


class ThreadCard:
    """A sound card that calls back every 10 ms from a thread of its own; its microphone hears one tone."""

    latency = (0.01, 0.01)

    def __init__(self) -> None:
        self.closed = threading.Event()
        self.heard = np.zeros(60 * RATE, np.int16)
        self.heard[: RATE // 2] = np.random.default_rng(0).normal(0, 8, RATE // 2).astype(np.int16)
        self.heard[RATE // 2 : RATE] = tone(0.5)

    def open(self, callback) -> "ThreadCard":
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


async def test_a_live_call_is_recorded_on_the_cards_clock_and_its_turns_are_found():
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
    assert record["truth"] == "estimated"
    assert record["speech"] == [[pytest.approx(0.5, abs=0.02), pytest.approx(1.0, abs=0.02)]]
    marks = record["marks"]
    assert marks["speech_end"] + 0.3 <= marks["turn_commit"] <= marks["first_received"] + 0.03
    assert marks["first_audible"] == pytest.approx(onset_after(stereo[:, 1], 0.0), abs=0.01)
    assert record["heard"] == "what time is it"


class Notes(CallListener):
    """Writes down what it is told; `wait` waits until it was told something."""

    def __init__(self) -> None:
        self.seen: list[tuple] = []
        self._news = asyncio.Event()

    def note(self, *event: object) -> None:
        self.seen.append(event)
        self._news.set()

    async def wait(self, *event: object) -> None:
        async with asyncio.timeout(30):
            while event not in self.seen:
                self._news.clear()
                await self._news.wait()

    def on_ready(self) -> None:
        self.note("ready")

    def on_placed(self, turn) -> None:
        self.note("placed", turn.index)

    def on_heard(self, text) -> None:
        self.note("heard", text)

    def on_said(self, text) -> None:
        self.note("said", text)

    def on_turn(self, report) -> None:
        self.note("turn", report["turn"], report["final"])

    def on_answer(self, asked, reply) -> None:
        self.note("answer", asked.id, reply.topic, reply.to_json())

    def on_refusal(self, asked, reason) -> None:
        self.note("refusal", asked.id, asked.request.topic, reason)


async def test_a_listener_is_told_in_order():
    notes = Notes()
    await call(lambda socket: Bot(socket).answer_turns(delay=0.2), fixture(), listener=notes)
    assert notes.seen == [
        ("ready",),
        ("placed", 0),
        ("heard", "what time is it"),
        ("turn", 0, False),
        ("said", "It is noon."),
        ("turn", 0, True),
    ]


async def test_a_message_is_answered_or_refused_in_mid_call_and_the_call_goes_on():
    bots = []

    async def answer(socket: ServerConnection) -> None:
        bots.append(Bot(socket))
        await bots[0].answer_turns(delay=0.2)

    async with serving(answer) as url:
        session = CallSession(url, PacedLine(caller(fixture())), listener=(notes := Notes()))
        early = session.send(Custom("echo", {"early": True}))
        running = asyncio.create_task(session.run())
        await notes.wait("answer", early.id, "echo", {"early": True})
        await notes.wait("placed", 0)
        late = session.send(Custom("echo", [1, None]))
        refused = session.send(Custom("refuse", {}))
        session.send(Custom("ignored", {}))
        await notes.wait("answer", late.id, "echo", [1, None])
        await notes.wait("refusal", refused.id, "refuse", "There is no such thing.")
        result = await running
    assert bots[0].asked == [{"early": True}, [1, None]]
    assert len({early.id, late.id, refused.id}) == 3
    assert len(result.turns) == 1
    assert result.alignment is not None
    session.send(Custom("echo", "after the end"))
    assert result.closed is None


async def test_a_message_that_is_no_json_is_the_callers_mistake():
    session = CallSession("ws://127.0.0.1:1/ws", PacedLine(caller(fixture())))
    with pytest.raises(TypeError):
        session.send(Custom("echo", {1, 2}))


async def test_answers_to_nobody_are_let_pass():
    async def chatter(socket: ServerConnection) -> None:
        bot = Bot(socket)
        await bot.message("error-response", {"error": "Client version unknown."}, id="ready")
        await bot.message("server-response", {"t": "other", "d": {}}, id="message-0")
        await bot.answer_turns(delay=0.2)

    result = await call(chatter, fixture(), listener=(notes := Notes()))
    assert not [event for event in notes.seen if event[0] in ("answer", "refusal")]
    assert len(result.turns) == 1


async def test_an_interruption_silences_the_bot_at_once():
    async def interrupted(socket: ServerConnection) -> None:
        bot = Bot(socket)
        async for _ in bot.frames():
            if len(bot.received) == 32 * FRAME:
                await bot.audio(tone(5.0))
            elif len(bot.received) == 63 * FRAME:
                await bot.interrupt()

    result = await call(interrupted, fixture())
    (flush,) = result.flushes
    (utterance,) = result.utterances
    assert utterance.cut
    assert utterance.end == pytest.approx(flush, abs=0.011)
    assert not np.any(np.abs(result.stereo()[round((flush + 0.02) * RATE) :, 1]) > 100)


async def test_audio_sent_before_the_bot_is_ready_is_played_from_the_start():
    async def greet(socket: ServerConnection) -> None:
        bot = Bot(socket)
        await bot.audio(tone(0.4))
        async for _ in bot.frames():
            pass

    result = await call(greet, fixture())
    assert result.utterances[0].start < 0.1


async def test_when_the_server_closes_what_was_recorded_is_kept_with_the_reason():
    async def leave(socket: ServerConnection) -> None:
        bot = Bot(socket)
        async for _ in bot.frames():
            if len(bot.received) == 63 * FRAME:
                await bot.audio(tone(0.1))
                await socket.close(1011, "the recogniser has failed")

    of = fixture(turns=3)
    result = await call(leave, of)
    assert result.closed == "the server closed the call (1011: the recogniser has failed)"
    assert 1.0 <= result.seconds < 5.0
    assert len(result.stereo()) == round(result.seconds * RATE)
    records = turn_records(result, of, "tone")
    assert records[-1]["failed"] == result.closed
    assert session_entry(result, of, name="tone", wav="tone.wav")["never_sent"] == 3 - len(records)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (lambda bot: bot.socket.transport.abort(), "the connection to the server was lost"),
        (lambda bot: bot.socket.send(b"\xff\xff\xff"), "not a pipecat protobuf frame"),
        (lambda bot: bot.socket.send("hello"), "not JSON"),
        (lambda bot: bot.audio(tone(0.1, 8000), rate=8000), "changed its sample rate from 16000 to 8000 Hz"),
        (lambda bot: bot.message("server-message", {"type": "turn", "turn": "one"}), "without its number or marks"),
    ],
)
async def test_a_server_that_vanishes_or_breaks_the_protocol_ends_the_call_with_the_reason(sent, reason):
    async def garble(socket: ServerConnection) -> None:
        bot = Bot(socket)
        async for _ in bot.frames():
            if len(bot.received) == 12 * FRAME:
                await bot.audio(tone(0.1))
            elif len(bot.received) == 32 * FRAME and (sending := sent(bot)):
                await sending

    result = await call(garble, fixture())
    assert reason in result.closed
    assert 0.4 < result.seconds < 3.0


async def test_without_clock_answers_server_marks_are_unknown_and_turns_still_match():
    of = fixture(turns=2)
    result = await call(lambda socket: Bot(socket, has_clock=False).answer_turns(delay=0.2), of)
    assert result.alignment is None
    assert session_entry(result, of, name="tone", wav="tone.wav")["clock"] is None
    for record in turn_records(result, of, "tone"):
        assert record["heard"] == "what time is it"
        assert record["marks"]["turn_commit"] is None
        assert record["marks"]["first_audible"] is not None


async def test_hanging_up_does_not_wait_for_a_server_that_is_stuck():
    stuck = asyncio.Event()

    async def talk(socket: ServerConnection) -> None:
        bot = Bot(socket)
        async for _ in bot.frames():
            if len(bot.received) == 32 * FRAME:
                # It neither reads nor says goodbye any more.
                socket.transport.pause_reading()
                await stuck.wait()

    async with serving(talk, close_timeout=0.1) as url:
        session = CallSession(url, PacedLine(caller(fixture(turns=50))), listener=(notes := Notes()))
        running = asyncio.create_task(session.run())
        await notes.wait("placed", 0)
        await asyncio.sleep(1.0)
        begin = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        took = time.monotonic() - begin
        stuck.set()
    assert took < 1.5


async def test_cancelling_keeps_what_was_recorded():
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


@pytest.mark.parametrize(
    ("suffix", "how", "asked"),
    [
        ("", {}, "/ws?sample_rate=native"),
        ("", {"sample_rate": 48000}, "/ws?sample_rate=48000"),
        ("?key=a", {}, "/ws?key=a&sample_rate=native"),
        ("?sample_rate=8000", {}, "/ws?sample_rate=8000"),
    ],
)
async def test_the_voices_own_rate_is_asked_for(suffix, how, asked):
    paths = []

    async def note(socket: ServerConnection) -> None:
        paths.append(socket.request.path)
        await Bot(socket).answer_turns(delay=0.1)

    async with serving(note) as url:
        silent = Fixture(name="x", source=Path("x"), group="", turns=(), notices=())
        line = PacedLine(ScriptedCaller(silent.turns, lead_in=0.0, hang_up_after=0.0, reply_wait=0.0))
        await CallSession(url + suffix, line, **how).run()
    assert paths == [asked]


async def test_a_server_that_is_not_there_is_named_in_one_sentence():
    async with serving(lambda socket: Bot(socket).answer_turns(delay=0.1)) as url:
        pass
    with pytest.raises(ComponentError, match="cannot be reached") as refused:
        await CallSession(url, PacedLine(caller(fixture()))).run()
    assert url in str(refused.value)


async def test_an_address_that_is_no_websocket_is_a_configuration_error():
    with pytest.raises(ConfigurationError, match="is not a WebSocket address"):
        await CallSession("http://127.0.0.1:1/ws", PacedLine(caller(fixture()))).run()


async def test_a_server_that_refuses_the_call_is_quoted():
    async def refuse(connection, request):
        return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "all 4 lines are taken\n")

    async with serving(lambda socket: Bot(socket).answer_turns(delay=0.1), process_request=refuse) as url:
        with pytest.raises(ComponentError, match="refused the call with HTTP 503: all 4 lines are taken"):
            await CallSession(url, PacedLine(caller(fixture()))).run()


async def test_a_bot_that_is_never_ready_is_given_up(monkeypatch):
    monkeypatch.setattr(session_module, "READY_WITHIN", 0.2)

    async def sleep(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with serving(sleep) as url:
        with pytest.raises(ComponentError, match="not ready within 0.2 s"):
            await CallSession(url, PacedLine(caller(fixture()))).run()


async def test_a_server_that_hangs_up_before_it_is_ready_is_quoted():
    async def leave(socket: ServerConnection) -> None:
        await socket.close(1013, "no model")

    async with serving(leave) as url:
        with pytest.raises(ComponentError, match=r"its bot was ready: the server closed the call \(1013: no model"):
            await CallSession(url, PacedLine(caller(fixture()))).run()


async def test_an_unrecorded_call_keeps_the_figures_without_the_audio_and_prints_nothing(capfd):
    result = await call(lambda socket: Bot(socket).answer_turns(delay=0.2), fixture(), record=False)
    assert len(result.utterances) == 1
    with pytest.raises(ValueError, match="not recorded"):
        result.stereo()
    assert capfd.readouterr().out == ""
