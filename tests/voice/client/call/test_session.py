"""A call against a small server: what is recorded, and what the listener is called with."""

import asyncio

import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection

from tests.voice.client.call.rig import Bot, Notes, call, caller, fixture, onset_after, serving, tone
from voice.client.call.line import PacedLine
from voice.client.call.session import CallSession, ClockExchange, aligned
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE
from voice.wire.requests import Custom


def test_the_shortest_round_trip_decides():
    slow = ClockExchange(sent=10.0, received=10.5, server=1010.4)
    fast = ClockExchange(sent=11.0, received=11.002, server=1011.001)
    alignment = aligned([slow, fast, slow])
    assert alignment.offset == pytest.approx(1000.0)
    assert alignment.rtt == pytest.approx(0.002)
    assert alignment.pings == 3
    assert alignment.to_client(1020.0) == pytest.approx(20.0)


def test_without_an_answer_there_is_no_alignment():
    assert aligned([]) is None


def test_eight_exchanges_over_a_jittery_way_find_the_offset_within_half_the_best_round_trip():
    for seed in range(50):
        random = np.random.default_rng(seed)
        exchanges = []
        for index in range(8):
            out, back = random.exponential(0.005, 2)
            exchanges.append(ClockExchange(sent=index, received=index + out + back, server=index + out + 77.0))
        alignment = aligned(exchanges)
        assert abs(alignment.offset - 77.0) <= alignment.rtt / 2


def test_an_answer_before_its_ping_is_refused():
    with pytest.raises(ValueError, match="before it was sent"):
        ClockExchange(sent=2.0, received=1.0, server=5.0)


@pytest.mark.parametrize("rate", [16000, 24000])
async def test_the_recording_shows_the_delay_of_the_answer(rate: int) -> None:
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


async def test_the_recordings_left_channel_is_what_the_server_received() -> None:
    heard: list[Bot] = []

    async def listen(socket: ServerConnection) -> None:
        bot = Bot(socket)
        heard.append(bot)
        async for _ in bot.frames():
            pass

    result = await call(listen, fixture())
    assert np.array_equal(heard[0].received, result.stereo()[:, 0])
    assert result.pacing.summary().frames == len(heard[0].received) // MESSAGE_SAMPLES


async def test_the_listener_is_called_in_order() -> None:
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


async def test_a_request_is_answered_or_refused_in_mid_call_and_the_call_goes_on() -> None:
    bots: list[Bot] = []

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


async def test_a_request_whose_data_is_not_json_is_a_type_error() -> None:
    session = CallSession("ws://127.0.0.1:1/ws", PacedLine(caller(fixture())))
    with pytest.raises(TypeError):
        session.send(Custom("echo", {1, 2}))


async def test_answers_to_no_request_are_ignored() -> None:
    async def chatter(socket: ServerConnection) -> None:
        bot = Bot(socket)
        await bot.message("error-response", {"error": "Client version unknown."}, id="ready")
        await bot.message("server-response", {"t": "other", "d": {}}, id="message-0")
        await bot.answer_turns(delay=0.2)

    result = await call(chatter, fixture(), listener=(notes := Notes()))
    assert not [event for event in notes.seen if event[0] in ("answer", "refusal")]
    assert len(result.turns) == 1


async def test_an_interruption_silences_the_bot_at_once() -> None:
    async def interrupted(socket: ServerConnection) -> None:
        bot = Bot(socket)
        async for _ in bot.frames():
            if len(bot.received) == 32 * MESSAGE_SAMPLES:
                await bot.audio(tone(5.0))
            elif len(bot.received) == 63 * MESSAGE_SAMPLES:
                await bot.interrupt()

    result = await call(interrupted, fixture())
    (flush,) = result.flushes
    (utterance,) = result.utterances
    assert utterance.cut
    assert utterance.end == pytest.approx(flush, abs=0.011)
    assert not np.any(np.abs(result.stereo()[round((flush + 0.02) * RATE) :, 1]) > 100)


async def test_audio_sent_before_the_bot_is_ready_is_played_from_the_start() -> None:
    async def greet(socket: ServerConnection) -> None:
        bot = Bot(socket)
        await bot.audio(tone(0.4))
        async for _ in bot.frames():
            pass

    result = await call(greet, fixture())
    assert result.utterances[0].start < 0.1


async def test_a_call_that_is_not_recorded_keeps_its_figures_and_prints_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    result = await call(lambda socket: Bot(socket).answer_turns(delay=0.2), fixture(), record=False)
    assert len(result.utterances) == 1
    with pytest.raises(ValueError, match="not recorded"):
        result.stereo()
    assert capfd.readouterr().out == ""
