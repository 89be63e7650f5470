"""What outsiders can send or hand over, as functions that may only return or refuse in one sentence."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipecat.frames.protobufs import frames_pb2

from latency.record.json_form import TurnError
from latency.record.run import Run, RunError
from latency.record.run_writer import RunWriter
from latency.record.session import Session
from latency.record.turn import TurnReport
from pipelines import settings
from pipelines.lab.simulator.chat import read_request as read_chat
from pipelines.lab.simulator.messages import read_request as read_messages
from pipelines.lab.simulator.responses import read_create
from tests.latency.conversations import HEADER, SESSION, first_turn, unanswered_turn
from voice.client.fixtures.audio_file import read_audio
from voice.client.fixtures.fixture import load_fixtures, parse_labels
from voice.errors import ConfigurationError, FixtureError, WireError
from voice.llm.catalog.catalog import read_catalog
from voice.server.transport import StrictSerializer
from voice.wire import framing
from voice.wire.messages import read_rtvi
from voice.wire.requests import read_request

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Target:
    """Something that reads what strangers write."""

    name: str
    corpus: Sequence[bytes]
    read: Callable[[bytes, Path], object]
    """Reads it; may use a folder for files."""
    refuses: tuple[type[Exception], ...]
    cost: int = 1
    """How many times fewer inputs it gets, because one takes long."""


def frame(**fields: object) -> bytes:
    made = frames_pb2.Frame()
    for kind, values in fields.items():
        part = getattr(made, kind)
        part.SetInParent()
        for name, value in dict(values).items():  # type: ignore[call-overload]
            setattr(part, name, value)
    return bytes(made.SerializeToString())


def rtvi(kind: str, data: object) -> bytes:
    return json.dumps({"label": "rtvi-ai", "type": kind, "id": "1", "data": data}).encode()


RTVI = (
    rtvi("client-ready", {"version": "2.0.0", "about": {"library": "x"}}),
    rtvi("client-message", {"t": "llm", "d": {"policy": "race"}}),
    rtvi("client-message", {"t": "clock", "d": {"client": 1.5}}),
    rtvi("send-text", {"content": "what time is it", "options": {"run_immediately": True}}),
    rtvi("server-message", {"type": "turn", "turn": 1, "final": True, "marks": {"turn_commit": 1.5}, "heard": "hello"}),
    rtvi("server-message", {"type": "duck", "gain": 0.2}),
    rtvi("user-transcription", {"text": "hello", "final": True}),
    rtvi("bot-output", {"text": "hello", "segment_id": 3, "will_be_spoken": True}),
)
FRAMES = (
    frame(audio={"audio": bytes(640), "sample_rate": 16000, "num_channels": 1}),
    frame(audio={"audio": bytes(range(256)), "sample_rate": 48000, "num_channels": 1}),
    frame(audio={"audio": b"RIFF" + bytes(40), "sample_rate": 16000, "num_channels": 1}),
    frame(interruption={}),
    frame(text={"text": "hello"}),
    frame(transcription={"text": "hello", "user_id": "x", "timestamp": "y"}),
    *(frame(message={"data": text.decode()}) for text in RTVI),
)
TURN = (
    b'{"turn": 1, "final": true, "marks": {"turn_commit": 1.5}, "heard": "hello", "attempts": [{"tier": "large", '
    b'"outcome": "spoken", "usd": 0.1}]}',
    b'{"turn": 0, "final": false, "marks": {}, "stalls": [{"at": 1.0, "ms": 30.0}], "overlaps": []}',
)
PIPELINES = tuple(path.read_bytes() for path in sorted((ROOT / "pipelines" / "presets").glob("*.toml")))
SCENARIOS = tuple((ROOT / "samples" / name / "scenario.yaml").read_bytes() for name in ("tour", "barge_in", "pauses"))
WAVS = ((ROOT / "samples" / "tour" / "11.wav").read_bytes()[:4000],)
CATALOG = (
    b"""[tiers.mine]
provider = "openai"
model = "m"
wire = "chat"
rate = { tokens_per_second = 65, source = "mine" }
field = { p50_ms = 1000, p95_ms = 2400, max_ms = 9600, source = "mine" }
price = { input = 4, output = 20, cached_input = 0.20, speeds = { fast = 2 }, source = "mine" }

[tiers."mine@fast"]
same_as = "mine"
speed = "fast"
fallback = "mine"
""",
)


def _run() -> tuple[bytes, bytes]:
    """The two files of a run, as our own writer writes them."""
    with tempfile.TemporaryDirectory() as folder:
        writer = RunWriter(Path(folder) / "run", header=HEADER)
        writer.add_turns([first_turn(), unanswered_turn()])
        writer.add_session(Session(name="commands", **SESSION))
        written = writer.finish("complete")
        return (written / "run.json").read_bytes(), (written / "turns.jsonl").read_bytes()


RUN, TURNS = _run()
CHAT = (
    b'{"model": "sim:sonnet", "messages": [{"role": "user", "content": "hello"}], "stream": true, "max_tokens": 5}',
)
MESSAGES = (
    b'{"model": "m", "max_tokens": 9, "system": [{"type": "text", "text": "x"}], "messages": [{"role": "user", '
    b'"content": [{"type": "text", "text": "hi"}]}], "tools": [{"name": "t", "input_schema": {}}], "stream": true}',
)
RESPONSES = (
    b'{"type": "response.create", "model": "sim:sonnet", "input": [{"role": "user", "content": "hi"}], "stream_id": '
    b'"a", "tools": [{"name": "t", "parameters": {}}], "max_output_tokens": 9, "previous_response_id": "r"}',
)
HEADERS = {"x-api-key": "none", "anthropic-version": "2023-06-01"}
REQUESTS = (b'{"policy": "race"}', b'{"tier": "fast"}', b"{}")
LABELS = (b"0.300000\t1.210000\tspeech\n1.210000\t1.400000\tpause\n",)


def _deserialized(data: bytes, _: Path) -> object:
    return asyncio.run(StrictSerializer().deserialize(data))


def _scenario(data: bytes, folder: Path) -> object:
    (folder / "scenario.yaml").write_bytes(data)
    for number in range(1, 15):
        if not (folder / f"{number:02}.wav").exists():
            (folder / f"{number:02}.wav").symlink_to(ROOT / "samples" / "tour" / "01.wav")
            (folder / f"{number:02}.txt").symlink_to(ROOT / "samples" / "tour" / "01.txt")
    return load_fixtures([folder])


def _audio(data: bytes, folder: Path) -> object:
    (folder / "one.wav").write_bytes(data)
    return read_audio(folder / "one.wav")


def _pipeline(data: bytes, folder: Path) -> object:
    (folder / "one.toml").write_bytes(data)
    return settings.load(str(folder / "one.toml"))


def _run_header(data: bytes, folder: Path) -> object:
    (folder / "turns.jsonl").write_bytes(TURNS)
    (folder / "run.json").write_bytes(data)
    return Run.load(folder)


def _run_turns(data: bytes, folder: Path) -> object:
    (folder / "run.json").write_bytes(RUN)
    (folder / "turns.jsonl").write_bytes(data)
    return Run.load(folder)


def _catalog(data: bytes, _: Path) -> object:
    return read_catalog(_text(data), source="x")


def _labels(data: bytes, _: Path) -> object:
    return parse_labels(_text(data), source="x", duration=3.0)


def _responses(data: bytes, _: Path) -> object:
    event = _json(data)
    return read_create(event) if isinstance(event, dict) else None


def _messages(data: bytes, _: Path) -> object:
    return read_messages(_json(data), HEADERS, fast_beta=None)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


TARGETS = (
    Target("frames that a client sends", FRAMES, _deserialized, (WireError,), cost=4),
    Target("frames that a server sends", FRAMES, lambda data, _: framing.decode(data), (WireError,)),
    Target("messages that a server sends", RTVI, lambda data, _: read_rtvi(_text(data)), (WireError,)),
    Target("requests of a client", REQUESTS, lambda data, _: read_request("llm", _json(data)), (WireError,)),
    Target("reports of turns", TURN, lambda data, _: TurnReport.from_json(_json(data)), (TurnError,)),
    Target("labels", LABELS, _labels, (FixtureError,)),
    Target(
        "catalogues", CATALOG, lambda data, _: read_catalog(_text(data), source="x"), (ConfigurationError,), cost=10
    ),
    Target("scenarios", SCENARIOS, _scenario, (FixtureError,), cost=100),
    Target("recordings", WAVS, _audio, (FixtureError,), cost=20),
    Target("pipelines", PIPELINES, _pipeline, (ConfigurationError,), cost=100),
    Target("run.json", (RUN,), _run_header, (RunError,), cost=10),
    Target("turns.jsonl", (TURNS,), _run_turns, (RunError,), cost=10),
    Target("chat requests", CHAT, lambda data, _: read_chat(_json(data)), (ConfigurationError,)),
    Target("responses requests", RESPONSES, _responses, (ConfigurationError,)),
    Target("messages requests", MESSAGES, _messages, (ConfigurationError,)),
)
