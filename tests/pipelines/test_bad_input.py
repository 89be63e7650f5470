"""Bad input: the command line, what comes of it, and the one sentence that says what is wrong and what to do.

All command lines run in one process: loading the libraries takes longer than any of them.
"""

import json
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import soxr

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "commands" / "01.wav"
RATE = 16000

RUN_ALL = """
import contextlib, io, json, sys
from latency.cli import main as latency
from pipelines.cli import main as voice

def run(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = {"voice": voice, "latency": latency}[arguments[0]](arguments[1:])
        except SystemExit as stopped:
            code = stopped.code
    return code, out.getvalue(), err.getvalue()

found = [run(arguments) for arguments in json.load(sys.stdin)]
json.dump(found, sys.stdout)
"""

CASES: list[tuple[str, int, str]] = [
    ("voice replay not.wav", 2, "not.wav: not audio that libsndfile can read"),
    ("voice replay empty.wav", 2, "empty.wav: not audio that libsndfile can read"),
    (
        "voice replay no_samples.wav",
        2,
        "no_samples.wav: the recording is empty, or was cut off before its first samples.",
    ),
    ("voice replay silence.wav", 2, "silence.wav: no speech was found in it; label it in silence.txt"),
    ("voice replay nowhere.wav", 2, "nowhere.wav: there is no such file or folder."),
    ("voice replay nothing", 2, "nothing: there is no scenario.yaml and no recording in this folder"),
    ("voice replay no_turns", 2, "'turns:' must be a list of at least one turn."),
    ("voice replay no_yaml", 2, "not valid YAML"),
    ("voice replay no_recording", 2, "nowhere.wav: there is no such recording."),
    ("voice replay good.wav good.wav", 2, "good.wav is named twice; use --repeat N"),
    ("voice replay good.wav --check cheap", 2, '"cheap" is no threshold; write one like "turn p95 < 800"'),
    ("voice replay good.wav --repeat none", 2, '--repeat takes a whole number of 1 or more, not "none"'),
    ("voice replay good.wav --repeat 0", 2, '--repeat takes a whole number of 1 or more, not "0"'),
    ("voice replay good.wav --out a_run", 2, "a_run already holds a run; name another folder with --out."),
    ("voice replay good.wav --out good.wav", 2, "good.wav; name another folder with --out."),
    ("voice replay good.wav --out good.wav/run", 2, "good.wav/run; name another folder with --out."),
    ("voice replay good.wav --url http://127.0.0.1:1/ws", 2, "is not a WebSocket address; use ws://host:port/ws."),
    ("voice replay good.wav --url ws://[::1", 2, "is not a WebSocket address; use ws://host:port/ws."),
    ("voice replay good.wav --url ws://127.0.0.1:99999/ws", 2, "is not a WebSocket address; use ws://host:port/ws."),
    ("voice replay good.wav --url ws://a/ws --set llm.x=1", 2, "--pipeline and --set cannot be used with --url"),
    ("voice replay good.wav --url ws://127.0.0.1:{closed}/ws", 4, "cannot be reached"),
    ("voice replay good.wav --url ws://127.0.0.1:{http}/ws", 4, "refused the call with HTTP 404: nothing here"),
    ("voice replay good.wav --url ws://127.0.0.1:{other}/ws", 4, "cannot be reached (did not receive a valid HTTP"),
    ("voice serve --pipeline nope", 2, 'There is no pipeline "nope"; use one of auto, anthropic,'),
    ("voice serve --pipeline broken.toml", 2, "broken.toml cannot be read as a pipeline file"),
    ("voice serve --pipeline wrong_key.toml", 2, "wrong_key.toml: turns.patience is not a setting; known here: "),
    ("voice serve --set turns.patience=1", 2, "turns.patience is not a setting; known here: "),
    ("voice serve --set turns.fallback_ms=soon", 2, "turns.fallback_ms = 'soon' is not allowed"),
    ("voice serve --set turns", 2, "--set takes key=value, for example turns.fallback_ms=600"),
    ("voice serve --port 99999", 2, '--port takes a port from 0 to 65535, not "99999"'),
    ("voice serve --port http", 2, '--port takes a port from 0 to 65535, not "http"'),
    ("voice serve --pipeline embedded --port {http}", 2, "another port (--port, or port= in Python), or 0"),
    (
        "voice serve --pipeline embedded --host 192.0.2.1",
        2,
        "192.0.2.1 could call: set VOICE_TOKEN",
    ),
    ("voice serve --pipeline embedded --host nowhere.invalid", 2, "set VOICE_TOKEN"),
    # `voice check` gives the same faults the same status.
    (
        "voice serve --port 0 --pipeline embedded --set asr={{engine='whisper',model='/no/model'}}",
        4,
        "no folder /no/model",
    ),
    (
        "voice serve --port 0 --pipeline embedded --set tts.voice=/no/voice.onnx",
        4,
        "voice file /no/voice.onnx does not exist",
    ),
    (
        "voice serve --port 0 --pipeline openai --set llm.large.api_key_env=NO_KEY",
        4,
        "variable NO_KEY, which is not set",
    ),
    ("latency report nowhere", 2, "nowhere does not exist"),
    ("latency report good.wav", 2, "good.wav is not a folder"),
    ("latency report nothing", 2, "nothing is not a run: it has no run.json"),
    ("latency report", 3, "there is no run in runs; run `voice replay` first"),
    ("latency report a_run", 3, "a_run holds no turns yet; replay again"),
    ("latency report half", 2, "run.json cannot be read: it was cut short or changed ("),
    ("latency report older", 2, "make the run again with `voice replay good.wav`"),
    ("latency report mono", 2, "call.wav has 1 channel(s), 16 bit, 16000 Hz; the recording of a run has 2, 16, 16000"),
    (
        "latency report disorder",
        2,
        "turns.jsonl is damaged in line 1 (turn 0 of session 'call': llm_first_token (1.000 s) lies before",
    ),
    (
        "latency report two_runs",
        2,
        "line 2: there is another turn 0 of session 'call': two runs are mixed in this folder",
    ),
    ("latency report two_runs --check cheap", 2, '"cheap" is no threshold; write one like "turn p95 < 800"'),
    ("voice replay good.wav --check p95<800", 2, 'there is no figure "p95"; say of what, as in "turn p95"'),
    ("voice relpay good.wav", 2, 'there is no command "relpay"; did you mean "replay"?'),
    ("voice replay good.wav --repaet=2", 2, 'there is no option --repaet; did you mean "--repeat"?'),
    ("latency review", 2, 'there is no command "review"; the commands are report, turn, fixtures, selftest'),
]

CONVERTED = {
    "8k.wav": "8k.wav: 8 kHz mono converted to 16 kHz mono",
    "44k.wav": "44k.wav: 44.1 kHz mono converted to 16 kHz mono",
    "48k.wav": "48k.wav: 48 kHz stereo converted to 16 kHz mono",
}


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


class Nothing(BaseHTTPRequestHandler):
    """HTTP, but not a server of ours."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("Content-Length", "12")
        self.end_headers()
        self.wfile.write(b"nothing here")

    def log_message(self, *_arguments: Any) -> None:
        pass


def greet_as_ssh(listening: socket.socket) -> None:
    while True:
        try:
            client, _ = listening.accept()
        except OSError:
            return
        with client:
            client.sendall(b"SSH-2.0-OpenSSH_9\r\n")
            client.recv(1024)


@pytest.fixture(scope="module")
def ports() -> Iterator[dict[str, int]]:
    """Ports on loopback: one where nothing listens, one of a web server, and one of another server."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        with HTTPServer(("127.0.0.1", 0), Nothing) as web, socket.create_server(("127.0.0.1", 0)) as other:
            threading.Thread(target=web.serve_forever, daemon=True).start()
            threading.Thread(target=greet_as_ssh, args=(other,), daemon=True).start()
            yield {
                "closed": nobody.getsockname()[1],
                "http": web.server_address[1],
                "other": other.getsockname()[1],
            }
            web.shutdown()
            other.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    shutil.copy(SAMPLE, folder / "good.wav")
    speech, _ = soundfile.read(SAMPLE, dtype="float32")
    soundfile.write(folder / "8k.wav", soxr.resample(speech, RATE, 8000), 8000)
    soundfile.write(folder / "44k.wav", soxr.resample(speech, RATE, 44100), 44100)
    soundfile.write(folder / "48k.wav", np.stack([soxr.resample(speech, RATE, 48000)] * 2, axis=1), 48000)
    soundfile.write(folder / "silence.wav", np.zeros(2 * RATE, np.int16), RATE)
    soundfile.write(folder / "no_samples.wav", np.zeros(0, np.int16), RATE)
    (folder / "not.wav").write_text("what time is it")
    (folder / "empty.wav").touch()
    (folder / "broken.toml").write_text("[asr\n")
    embedded = (ROOT / "pipelines" / "presets" / "embedded.toml").read_text()
    (folder / "wrong_key.toml").write_text(embedded.replace("fallback_ms =", "patience ="))
    write_scenario(folder / "no_turns", "scenarios: [{name: short, turns: []}]")
    write_scenario(folder / "no_yaml", "scenarios: [: {")
    write_scenario(
        folder / "no_recording",
        "scenarios: [{name: short, turns: [{user: hi, audio: nowhere.wav, expect: [{event: response}]}]}]",
    )
    (folder / "nothing").mkdir()
    (folder / "a_run").mkdir()
    run = {"schema": 1, "status": "running", "created": "2026-11-20T17:00:00", "sessions": []}
    (folder / "a_run" / "run.json").write_text(json.dumps(run))
    write_run(folder / "half", cut=60)
    write_run(folder / "older", schema=0, command=["voice", "replay", "good.wav"])
    write_run(folder / "mono")
    shutil.copy(SAMPLE, folder / "mono" / "call.wav")
    write_run(folder / "disorder", {"marks": {"llm_request": 2.0, "llm_first_token": 1.0}})
    write_run(folder / "two_runs", {"heard": "one"}, {"heard": "another"})
    return folder


def write_run(folder: Path, *turns: dict[str, Any], cut: int | None = None, **values: Any) -> None:
    folder.mkdir()
    run = {"schema": 1, "status": "complete", "created": "2026-11-20T17:00:00", **values}
    run["sessions"] = [{"name": "call", "wav": "call.wav"}]
    (folder / "run.json").write_text(json.dumps(run)[:cut])
    turn = {"schema": 1, "session": "call", "turn": 0, "wants_answer": True, "speech": [[1, 2]]}
    lines = [json.dumps({**turn, **values}) + "\n" for values in turns or ({},)]
    (folder / "turns.jsonl").write_text("".join(lines))


def write_scenario(folder: Path, rest: str) -> None:
    folder.mkdir()
    (folder / "scenario.yaml").write_text(f"name: {folder.name}\nuser: {{modality: audio}}\n{rest}\n")


@pytest.fixture(scope="module")
def outcome(folder: Path, ports: dict[str, int]) -> Callable[[str], Outcome]:
    """What a command line came to."""
    lines = [line for line, _, _ in CASES] + [conversion(name) for name in CONVERTED]
    arguments = [line.format(**ports).split() for line in lines]
    command = [sys.executable, "-c", RUN_ALL]
    done = subprocess.run(command, cwd=folder, input=json.dumps(arguments), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = {line: Outcome(*result) for line, result in zip(lines, json.loads(done.stdout), strict=True)}
    return found.__getitem__


def conversion(name: str) -> str:
    """Reports a conversion and ends at once, as no server takes the call."""
    return f"voice replay {name} --url ws://127.0.0.1:{{closed}}/ws"


@pytest.mark.parametrize(("line", "code", "sentence"), CASES, ids=[line for line, _, _ in CASES])
def test_bad_input_gets_its_exit_status_and_a_sentence(
    line: str, code: int, sentence: str, outcome: Callable[[str], Outcome]
) -> None:
    found = outcome(line)
    said = [text for text in found.err.splitlines() if text.startswith(("voice", "latency"))]
    assert found.code == code
    assert len(said) == 1, found.err
    assert sentence in said[0]
    assert "Traceback" not in found.err
    assert found.out == ""


@pytest.mark.parametrize(("name", "notice"), CONVERTED.items())
def test_a_converted_recording_is_reported(name: str, notice: str, outcome: Callable[[str], Outcome]) -> None:
    assert f"note  {notice}" in outcome(conversion(name)).err


def test_a_failed_command_leaves_no_run_behind_and_overwrites_none(
    folder: Path, outcome: Callable[[str], Outcome]
) -> None:
    assert outcome("latency report").code == 3
    assert not [path.name for path in folder.glob("runs/*")]
    assert json.loads((folder / "a_run" / "run.json").read_text())["status"] == "running"


def test_our_own_server_says_once_why_it_cannot_start(folder: Path) -> None:
    command = [sys.executable, "-m", "pipelines.cli", "replay", str(SAMPLE), "--set", "turns.patience=1"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout == ""
    loading, line = done.stderr.splitlines()
    assert loading == "Starting the agent: loading models…"
    assert line.startswith("voice: auto: turns.patience is not a setting; known here: ")


@pytest.mark.parametrize(
    ("name", "content", "command"),
    [
        ("scenario.yaml", "[" * 100_000, ["voice", "replay", "{folder}"]),
        ("scenario.yaml", "a: !include scenario.yaml", ["voice", "replay", "{folder}"]),
        ("mine.toml", "a = " + "[" * 100_000, ["voice", "check", "{folder}/mine.toml"]),
        ("run.json", "[" * 100_000, ["latency", "report", "{folder}"]),
    ],
)
def test_what_is_nested_without_end_is_refused_in_a_sentence(
    name: str, content: str, command: list[str], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    package, *arguments = command
    module = {"voice": "pipelines.cli", "latency": "latency"}[package]
    whole = [sys.executable, "-m", module, *(argument.format(folder=tmp_path) for argument in arguments)]
    done = subprocess.run(whole, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) <= 2, done.stderr
