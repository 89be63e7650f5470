"""`latency measure`: agents that are not ours, over real sockets, and all that can go wrong with them."""

import asyncio
import base64
import json
import sys
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection

from latency.audio.recording import RATE
from latency.cli import main
from latency.record.run import Run
from latency.record.turn import TurnRecord
from latency.report.turn_figures import PacingFigures
from pipelines.measuring import measure
from tests.pipelines.measuring.rig import Listening, RealtimeServer, answer, decoded, objects, serving, twilio_bot
from tests.voice.client.call import rig as pipecat_rig
from voice.client.call import connection
from voice.client.call.agent_call import PROTOCOLS
from voice.client.protocols import realtime
from voice.client.protocols.rate_converter import RateConverter
from voice.client.protocols.realtime import RealtimeCall
from voice.client.sound.pcm import Pcm, resample
from voice.errors import WireError

SAMPLE = Path(__file__).parents[3] / "samples" / "commands" / "01.wav"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("OPENAI_API_KEY", "VOICE_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    # A busy machine sends audio late, which is not to decide these tests.
    monkeypatch.setattr(PacingFigures, "refusal", None)
    # What it does to the process is not to outlive the test.
    monkeypatch.setattr("pipelines.measuring.command.prepare_process", lambda **_: None)


def measured(url: str, *options: str) -> int:
    return main(["measure", url, str(SAMPLE), "--out", "run", *options])


def the_turn() -> TurnRecord:
    (turn,) = Run.load(Path("run")).turns
    return turn


def heard() -> tuple[Pcm, Pcm]:
    """Both channels of the recording: the caller as sent, the agent as played."""
    run = Run.load(Path("run"))
    stereo = run.recording(run.sessions[0])
    assert stereo is not None
    return stereo[:, 0], stereo[:, 1]


def alike(one: Pcm, other: Pcm) -> float:
    """The correlation of two sounds where they are most alike, 0 to 1."""
    a, b = (sound.astype(float) / max(1.0, float(np.linalg.norm(sound))) for sound in (one, other))
    size = 1 << (len(a) + len(b)).bit_length()
    return float(np.abs(np.fft.irfft(np.fft.rfft(a, size) * np.fft.rfft(b, size).conj())).max())


def alike_in_pieces(heard: Pcm, said: Pcm) -> float:
    """The median correlation of each 0.1 s of a sound with what was heard: gaps of a busy machine move the pieces."""
    pieces = [said[at : at + RATE // 10].astype(float) for at in range(0, len(said) - RATE // 10 + 1, RATE // 10)]
    found = []
    for piece in pieces:
        crossed = np.correlate(heard.astype(float), piece)
        energy = np.convolve(heard.astype(float) ** 2, np.ones(len(piece)), "valid")
        found.append(np.max(np.abs(crossed) / np.sqrt(np.maximum(energy, 1.0) * np.dot(piece, piece))))
    return float(np.median(found))


def test_a_pipecat_agent_is_judged_by_the_recording_alone(capsys: pytest.CaptureFixture[str]) -> None:
    async def bot(socket: ServerConnection) -> None:
        pipecat_bot = pipecat_rig.Bot(socket)
        await pipecat_bot.answer_turns(delay=0.5)

    with pytest.MonkeyPatch.context() as patch, serving(bot) as url:
        patch.setattr(pipecat_rig, "tone", lambda _seconds, rate=RATE: answer(rate))
        assert measured(url) == 0
    assert "1 of 1 answered" in capsys.readouterr().out
    # The agent reported its turns and its clock.
    assert the_turn().server_turns == ()
    assert the_turn().heard is None
    assert Run.load(Path("run")).sessions[0].clock is None
    assert alike(heard()[1], answer(RATE)) > 0.99


def test_a_pipecat_bot_is_called_as_twilio_calls_it(capsys: pytest.CaptureFixture[str]) -> None:
    listening = Listening(16000)
    with twilio_bot(listening) as url:
        assert measured(url, "--protocol", "twilio", "--check", "answered == 1") == 0
    assert "1 of 1 answered" in capsys.readouterr().out
    caller, agent = heard()
    # The telephone takes what is above 3.4 kHz, and µ-law adds noise.
    assert alike(caller, listening.heard) > 0.9
    assert alike_in_pieces(agent, answer(RATE)) > 0.7
    assert Run.load(Path("run")).sessions[0].playout.rate == 8000


def test_an_interrupted_telephone_agent_falls_silent() -> None:
    with twilio_bot(Listening(16000), interrupt=True) as url:
        assert measured(url, "--protocol", "twilio") == 0
    assert len(Run.load(Path("run")).sessions[0].flushes) == 1


def test_marks_come_back_when_their_audio_has_been_played_or_dropped() -> None:
    """Time is counted in the caller's packets of 20 ms."""
    returned: dict[str, int] = {}
    events: list[str] = []

    async def bot(socket: ServerConnection) -> None:
        packets = 0
        async for message in objects(socket):
            events.append(message["event"])
            if message["event"] == "start":
                stream = message["streamSid"]
                assert message["start"]["mediaFormat"] == {
                    "encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1
                }  # fmt: skip
            elif message["event"] == "mark":
                returned[message["mark"]["name"]] = packets
            elif message["event"] == "media":
                packets += 1
                assert len(decoded(message["media"]["payload"])) == 160
                assert message["media"]["timestamp"] == str((packets - 1) * 20)
                for at, name, seconds in ((10, "played", 0.4), (60, "dropped", 5.0)):
                    if packets == at:
                        payload = base64.b64encode(bytes(round(8000 * seconds))).decode()
                        for event in ("media", "mark"):
                            content = {"payload": payload} if event == "media" else {"name": name}
                            await socket.send(json.dumps({"event": event, "streamSid": stream, event: content}))
                if packets == 70:
                    await socket.send(json.dumps({"event": "clear", "streamSid": stream}))

    with serving(bot) as url:
        measured(url, "--protocol", "twilio")
    assert events[:2] == ["connected", "start"]
    assert events[-1] == "stop"
    assert returned["played"] >= 10 + 20
    assert 70 <= returned["dropped"] < 70 + 5 * 50


@pytest.mark.parametrize(
    "how",
    [{}, {"rate": 16000}, {"rate": None}, {"first": True}],
    ids=["usual", "16 kHz", "no formats", "first version"],
)
def test_a_realtime_agent_is_measured(how: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    server = RealtimeServer(**how)
    with serving(server) as url:
        assert measured(f"{url}?model=x", "--protocol", "realtime") == 0
    assert "1 of 1 answered" in capsys.readouterr().out
    rate = how.get("rate") or 24000
    caller, agent = heard()
    assert alike(caller, resample(server.listening.heard, rate, RATE)) > 0.98
    assert alike(agent, resample(answer(rate), rate, RATE)) > 0.98


def test_a_realtime_agent_that_hears_speech_is_silenced_and_its_errors_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    also = (
        {"type": "input_audio_buffer.speech_started"},
        {"type": "error", "error": {"message": "there is no response to cancel"}},
        {"type": "rate_limits.updated"},
    )
    with serving(RealtimeServer(also=also)) as url:
        assert measured(url, "--protocol", "realtime") == 4
    assert len(Run.load(Path("run")).sessions[0].flushes) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "latency: no turn of run was answered: there is no response to cancel"


def test_a_realtime_agent_that_answers_in_spite_of_an_error_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(RealtimeServer(also=({"type": "error", "error": {"message": "no such option"}},))) as url:
        assert measured(url, "--protocol", "realtime") == 0
    assert "no such option" in capsys.readouterr().err
    assert the_turn().failed is None


@pytest.mark.parametrize(
    ("form", "rate"),
    [
        ({"rate": "16000"}, 16000),
        ({"rate": None}, 24000),
        ({"rate": 11025}, "is PCM of 11025 Hz; only 8000, 16000, 24000, 48000 Hz are understood."),
        ({"rate": "fast"}, "is PCM of fast Hz; only 8000, 16000, 24000, 48000 Hz are understood."),
        ({"type": "audio/pcmu"}, "is audio/pcmu; only audio/pcm is understood."),
    ],
)
def test_the_rate_of_a_realtime_session_is_read_or_refused(form: dict[str, Any], rate: int | str) -> None:
    created = {"session": {"audio": {"input": {"format": {"type": "audio/pcm"} | form}}}}
    if isinstance(rate, int):
        assert realtime._rate(created, "input") == rate
    else:
        with pytest.raises(WireError, match=f"The session's input audio {rate}"):
            realtime._rate(created, "input")


def test_a_run_whose_latencies_are_refused_has_no_data(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PacingFigures, "refusal", "its clock drifted")
    with serving(RealtimeServer()) as url:
        assert measured(url, "--protocol", "realtime") == 3
    assert "are no data: " in capsys.readouterr().err.splitlines()[-1]


def test_without_words_the_turns_own_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(RealtimeServer()) as url:
        assert measured(url, "--protocol", "realtime") == 0
    err = capsys.readouterr().err
    assert "(nothing)" not in err
    assert " ms  01.wav" in err


def test_no_other_host_gets_the_key_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-for-openai-alone")
    server = RealtimeServer()
    with serving(server) as url:
        assert measured(url, "--protocol", "realtime") == 0
        assert "Authorization" not in server.headers
        monkeypatch.setenv("VOICE_TOKEN", "of this server")
        main(["measure", url, str(SAMPLE), "--protocol", "realtime", "--out", "again"])
    assert server.headers["Authorization"] == "Bearer of this server"


Sent = Callable[[ServerConnection], Awaitable[Any]]
READY = {
    "pipecat": lambda socket: pipecat_rig.Bot(socket).message("bot-ready", {"version": "2.0.0"}),
    "twilio": lambda socket: asyncio.sleep(0),
    "realtime": lambda socket: socket.send('{"type": "session.created"}'),
}


def breaking(protocol: str, sent: Sent) -> Callable[[ServerConnection], Awaitable[None]]:
    """An agent that takes the call, and does something wrong after a hundred messages, in the caller's first turn."""

    async def handler(socket: ServerConnection) -> None:
        await READY[protocol](socket)
        messages = 0
        async for _ in socket:
            messages += 1
            if messages == 100:
                await sent(socket)

    return handler


PAYLOAD = base64.b64encode(bytes(3)).decode()
BREAKS: list[tuple[str, Sent, str]] = [
    ("pipecat", lambda socket: socket.close(1011, "out of memory"), "the server closed the call (1011: out of memory)"),
    ("pipecat", lambda socket: socket.send("hello"), "not JSON"),
    ("pipecat", lambda socket: pipecat_rig.Bot(socket).audio(answer(8000), rate=3), "the agent sends audio of 3 Hz"),
    ("twilio", lambda socket: socket.close(1011), "the server closed the call (1011"),
    ("twilio", lambda socket: socket.send("hello"), "5 bytes that are not JSON; is this its protocol?"),
    ("twilio", lambda socket: socket.send(b"\x00\xff"), "2 bytes that are not JSON; is this its protocol?"),
    ("twilio", lambda socket: socket.send("[1]"), "JSON that is not an object"),
    ("twilio", lambda socket: socket.send("{}"), "a message without an event"),
    ("twilio", lambda socket: socket.send('{"event": "media", "media": {"payload": "?"}}'), "audio that is not base64"),
    ("twilio", lambda socket: socket.send('{"event": "media", "media": {"payload": 5}}'), "audio without a payload"),
    ("twilio", lambda socket: socket.send('{"event": "media"}'), "audio without a payload of text"),
    ("realtime", lambda socket: socket.close(), "the agent ended the call"),
    ("realtime", lambda socket: socket.send("hello"), "5 bytes that are not JSON"),
    ("realtime", lambda socket: socket.send("{}"), "a message without a type"),
    (
        "realtime",
        lambda socket: socket.send(json.dumps({"type": "response.audio.delta", "delta": PAYLOAD})),
        "audio that is not 16-bit samples in base64",
    ),
]


@pytest.mark.parametrize(("protocol", "sent", "reason"), BREAKS, ids=[f"{one[0]}: {one[2]}" for one in BREAKS])
def test_an_agent_that_breaks_off_is_told_in_a_sentence_and_the_recording_is_kept(
    protocol: str, sent: Sent, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(breaking(protocol, sent)) as url:
        assert measured(url, "--protocol", protocol) == 4
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("latency: The call ended early: ")
    assert last.endswith((".", "?"))
    assert not last.endswith(("..", "?."))
    assert reason in last
    assert Run.load(Path("run")).sessions[0].closed is not None
    assert len(heard()[0]) > 0


async def never(socket: ServerConnection) -> None:
    await socket.wait_closed()


async def at_once(socket: ServerConnection) -> None:
    await socket.close(1008, "who are you?")


async def refusing(socket: ServerConnection) -> None:
    await socket.send('{"type": "error", "error": {"message": "The model does not exist."}}')


async def other_form(socket: ServerConnection) -> None:
    await socket.send('{"type": "session.created", "session": {"output_audio_format": "g711_ulaw"}}')


@pytest.mark.parametrize(
    ("protocol", "handler", "reason"),
    [
        ("pipecat", never, "its bot was not ready within 0.3 s; does it speak pipecat's protocol?"),
        (
            "pipecat",
            at_once,
            "before its bot was ready: the server closed the call (1008: who are you?).",
        ),
        ("realtime", never, "created no Realtime session within 0.3 s; see --protocol."),
        ("realtime", at_once, "ended the call before it began: the server closed the call (1008: who are you?)."),
        ("realtime", refusing, "refused the call: The model does not exist."),
        ("realtime", other_form, "output audio is g711_ulaw; only audio/pcm is understood."),
        ("twilio", at_once, ": the server closed the call (1008: who are you?)"),
    ],
)
def test_an_agent_that_takes_no_call_is_told_in_a_sentence(
    protocol: str, handler: Any, reason: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "READY_WITHIN", 0.3)
    monkeypatch.setattr(realtime, "READY_WITHIN", 0.3)
    with serving(handler) as url:
        assert measured(url, "--protocol", protocol) == 4
    assert reason in capsys.readouterr().err.splitlines()[-1]


def test_an_agent_that_never_speaks_has_no_data(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(never) as url:
        assert measured(url, "--protocol", "twilio") == 3
    assert "was answered: no speech from the bot (1)" in capsys.readouterr().err


def test_a_refusal_is_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(connection: ServerConnection, _request: Any) -> Any:
        return connection.respond(HTTPStatus.UNAUTHORIZED, '{"error": {"message": "Incorrect key provided."}}')

    with serving(never, process_request=refuse) as url:
        assert measured(url, "--protocol", "realtime") == 4
    assert "refused the call with HTTP 401: Incorrect key provided." in capsys.readouterr().err
    assert not Path("run").exists()


OPENAI = "wss://api.openai.com/v1/realtime"


@pytest.mark.parametrize(
    ("url", "options", "status", "sentence"),
    [
        ("http://127.0.0.1/ws", "", 2, "is not a WebSocket address"),
        ("ws://127.0.0.1:1/ws", "", 4, "cannot be reached"),
        ("ws://127.0.0.1:1/ws", "--protocol twillio", 2, 'There is no protocol "twillio"; did you mean "twilio"?\n'),
        ("ws://127.0.0.1:1/ws", "--protocol sip", 2, "; the protocols are pipecat, realtime, twilio."),
        (OPENAI, "--protocol realtime", 2, "OpenAI's address names a model"),
        (f"{OPENAI.replace('wss', 'ws')}?model=x", "--protocol realtime", 2, "OpenAI's address names a model"),
        (f"{OPENAI}?model=x", "--protocol realtime", 2, "put it into the environment variable OPENAI_API_KEY."),
        ("ws://127.0.0.1:1/ws", "--check cheap", 2, '"cheap" is no threshold'),
        ("ws://127.0.0.1:1/ws nowhere.wav", "", 2, "there is no such file"),
    ],
)
def test_bad_arguments_are_refused(
    url: str, options: str, status: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", *url.split(), *options.split()]) == status
    assert sentence in capsys.readouterr().err.splitlines(keepends=True)[-1]
    assert not list(Path("runs").glob("*"))


def test_prices_are_shown_before_a_billed_call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-no-such-key-as-this")
    monkeypatch.setattr(measure, "record", None)
    assert measured(f"{OPENAI}?model=gpt-realtime", "--protocol", "realtime", "--repeat", "10") == 2
    printed = capsys.readouterr()
    assert "10 calls, billed by the agent's provider: about $0.13" in printed.out
    assert "add --yes" in printed.err
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert measured(f"{OPENAI}?model=gpt-realtime", "--protocol", "realtime") == 0
    assert "Nothing was measured." in capsys.readouterr().out


def test_later_turns_and_larger_models_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-no-such-key-as-this")
    large, small = (RealtimeCall(f"{OPENAI}?model={model}") for model in ("gpt-realtime", "gpt-realtime-2.1-mini"))
    one = large.cost(seconds=3, turns=1)
    assert one == pytest.approx(30 * 32e-6 + 200 * 64e-6)
    assert large.cost(seconds=6, turns=2) == pytest.approx(2 * one + 230 * 0.4e-6)
    assert (small.cost(seconds=3, turns=1) or 0) < one / 3


@pytest.mark.parametrize(("name", "said"), [("OwnCall", ""), ("BilledCall", "an unknown price")])
def test_a_package_can_add_a_protocol(
    name: str, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("own", f"tests.pipelines.measuring.rig:{name}", PROTOCOLS)
    monkeypatch.setattr(measure, "entry_points", lambda group: [entry] if group == PROTOCOLS else [])
    assert measured("anything", "--protocol", "own", "--yes") == 0
    out = capsys.readouterr().out
    assert "1 of 1 answered" in out
    assert said in out
    assert alike(heard()[1], resample(answer(22050), 22050, RATE)) > 0.98


def test_a_protocol_that_cannot_be_loaded_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "entry_points", lambda group: [EntryPoint("own", "no_such_module:Call", group)])
    assert measured("ws://127.0.0.1:1", "--protocol", "own") == 2
    assert "The protocol own cannot be loaded: No module named 'no_such_module'." in capsys.readouterr().err


@pytest.mark.parametrize("to_rate", [8000, 16000, 24000, 48000])
def test_the_callers_audio_is_converted_without_a_joint(to_rate: int) -> None:
    sound = answer(RATE)
    converter = RateConverter(to_rate)
    parts = [converter.push(sound[at : at + 256]) for at in range(0, len(sound), 256)]
    whole = RateConverter(to_rate).push(sound)
    assert np.array_equal(np.concatenate(parts), whole)
    assert len(whole) == round(len(sound) * to_rate / RATE)
    assert alike(whole, resample(sound, RATE, to_rate)) > 0.98
