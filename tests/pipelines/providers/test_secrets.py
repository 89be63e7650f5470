"""A key that a provider quotes is read nowhere: not in the log, the report, the run folder or a repr."""

import base64
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from loguru import logger

from pipelines import settings
from pipelines.agent import Agent
from pipelines.process import SafeFormatter, _show_safely, log_pipecat
from pipelines.replaying.run_folder import run_header
from pipelines.server_process import Server
from tests.pipelines.conversations import write_conversation
from voice.errors import ConfigurationError
from voice.redaction import HIDDEN, hide, printable, quoted, redacted, without_secrets

CANARY = "canary/9f8e7d6c+5b4a"


class Refusing(BaseHTTPRequestHandler):
    """Refuses every key, and quotes it."""

    def do_POST(self) -> None:
        sent = self.headers.get("Authorization") or self.headers.get("x-api-key", "")
        words = {"error": {"message": f"Incorrect API key provided: {sent}.", "code": "invalid_api_key"}}
        body = json.dumps(words).encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def refusing() -> Iterator[str]:
    """The URL of a server that refuses every key."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def test_a_refused_key_is_shown_nowhere(refusing: str, tmp_path: Path) -> None:
    pipeline = tmp_path / "mine.toml"
    pipeline.write_text(
        '[asr]\nengine = "sphinx"\n[llm]\npolicy = "single"\n[llm.large]\nprovider = "openai"\nmodel = "gpt-4.1"\n'
        f'base_url = "{refusing}"\napi_key_env = "MY_KEY"\n'
    )
    fixture = write_conversation(tmp_path / "one", ("commands/02", "o"))
    run = tmp_path / "run"
    command = [sys.executable, "-m", "pipelines.cli", "-v", "replay", str(fixture), "--pipeline", str(pipeline)]
    environment = os.environ | {"MY_KEY": CANARY}
    replay = subprocess.run([*command, "--out", str(run)], env=environment, capture_output=True, text=True, timeout=120)
    said = replay.stdout + replay.stderr
    assert "answered HTTP 401: Incorrect API key provided" in " ".join(said.split())
    assert "hidden" in said
    kept = b"".join(file.read_bytes() for file in run.iterdir())
    assert b"Incorrect API key" in kept
    for written in (said.encode(), kept):
        assert CANARY.encode() not in written


def test_settings_show_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", CANARY)
    tts = {
        "engine": "pipecat",
        "service": "pipecat.services.cartesia.tts.CartesiaTTSService",
        "parameters": {"auth_token": CANARY, "voice_id": "x"},
    }
    loaded = settings.load("embedded").model_dump() | {"tts": tts}
    resolved = settings.Settings.model_validate(loaded)
    assert resolved.model_dump()["tts"]["parameters"] == {"auth_token": HIDDEN, "voice_id": "x"}
    assert CANARY not in repr(resolved)


def test_an_address_with_a_password_is_refused_without_quoting_it() -> None:
    large = ["llm.large.provider=openai", "llm.large.model=m", "llm.large.base_url=http://me:hunter2-and-more@h/v1"]
    with pytest.raises(ConfigurationError, match="must hold no user and password") as refused:
        Agent(pipeline="local", overrides=large)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcdefghijklmnop1234.",
        "Authorization: Bearer abcdef0123456789ABCDEF==",
        f"key {CANARY} is wrong",
        "key canary%2F9f8e7d6c%2B5b4a is wrong",
    ],
)
def test_what_looks_like_a_key_is_hidden(text: str) -> None:
    hide(CANARY)
    assert HIDDEN in redacted(text)
    assert not {"abcdef", "9f8e7d6c"} & {part[:8].lower()[:6] for part in redacted(text).split()}


def test_ordinary_words_are_not() -> None:
    hide("short")
    for text in ("a short answer", "The bearer of good news", "sk-short", "task-force-of-twenty-people"):
        assert redacted(text) == text


def test_control_characters_are_escaped() -> None:
    assert printable("a\x1b[2Jb\x00c\nd é") == r"a\x1b[2Jb\x00c\nd é"


PIPELINE = (
    '[asr]\nengine = "sphinx"\n[llm]\npolicy = "single"\n[llm.large]\nprovider = "{provider}"\nmodel = "m"\n'
    'base_url = "{url}"\napi_key_env = "{variable}"\n{more}'
)


def said_by(command: str, *options: str, key: str, pipeline: Path) -> tuple[int, str]:
    """The exit code of a command, and all that it prints, as one line."""
    where = [str(pipeline)] if "serve" not in options else ["--pipeline", str(pipeline)]
    program = {"voice": "pipelines.cli", "latency": "latency"}[command]
    done = subprocess.run(
        [sys.executable, "-m", program, *options, *where],
        env=os.environ | {"MY_KEY": key},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("command", "options"), [("voice", ("check", "--ask")), ("latency", ("probe", "--yes", "--requests", "1"))]
)
def test_commands_hide_a_key_that_a_server_quotes(
    command: str, options: tuple[str, ...], provider: str, refusing: str, tmp_path: Path
) -> None:
    pipeline = tmp_path / "mine.toml"
    url = refusing if provider == "openai" else refusing.removesuffix("/v1")
    pipeline.write_text(PIPELINE.format(provider=provider, url=url, variable="MY_KEY", more=""))
    code, said = said_by(command, *options, key=f"{CANARY}\n", pipeline=pipeline)
    assert code == 4
    assert "HTTP 401: Incorrect API key provided" in said
    assert "[key hidden]" in said
    assert CANARY not in said


@pytest.mark.parametrize("key", ["   ", "canary/9f8e7d6c ü", f"{CANARY}\n{CANARY}"])
@pytest.mark.parametrize(
    ("command", "options"),
    [("voice", ("check",)), ("voice", ("-v", "serve", "--port", "0")), ("latency", ("probe", "--yes"))],
)
def test_a_key_that_is_none_ends_a_command_with_one_sentence(
    command: str, options: tuple[str, ...], key: str, refusing: str, tmp_path: Path
) -> None:
    pipeline = tmp_path / "mine.toml"
    pipeline.write_text(PIPELINE.format(provider="openai", url=refusing, variable="MY_KEY", more=""))
    code, said = said_by(command, *options, key=key, pipeline=pipeline)
    assert code == 2
    assert f"{command}: The environment variable MY_KEY " in said
    assert "Traceback" not in said
    assert "9f8e7d6c" not in said


@pytest.mark.parametrize(
    ("variable", "more", "url"),
    [
        ("sk-canary9f8e7d6c5b4a32100", "", ""),
        ("canary9f8e7d6c5b4a32100", "", ""),
        ("MY_KEY", 'api_key = "canary9f8e7d6c"\n', ""),
        ("MY_KEY", "", "?key=canary9f8e7d6c"),
        ("MY_KEY", "", "#canary9f8e7d6c"),
        ("MY_KEY", 'max_tokens = "canary9f8e7d6c"\n', ""),
    ],
)
def test_a_key_in_the_wrong_place_of_a_pipeline_is_refused_without_quoting_it(
    variable: str, more: str, url: str, tmp_path: Path
) -> None:
    pipeline = tmp_path / "mine.toml"
    pipeline.write_text(
        PIPELINE.format(provider="openai", url=f"http://127.0.0.1:9/v1{url}", variable=variable, more=more)
    )
    with pytest.raises(ConfigurationError) as refused:
        settings.load(str(pipeline))
    assert "canary9f8e7d6c" not in str(refused.value)


def test_nested_parameters_show_no_secret() -> None:
    parameters = {"settings": {"headers": {"Authorization": CANARY, "x": "y"}}, "credentials": {"a": CANARY}}
    assert without_secrets(parameters) == {
        "settings": {"headers": {"Authorization": HIDDEN, "x": "y"}},
        "credentials": HIDDEN,
    }


def test_logs_and_tracebacks_show_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    hide(CANARY)
    try:
        raise ValueError(f"Illegal header value b'Bearer {CANARY}'")
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, "", 1, "failed: %s", (error,), sys.exc_info())
        shown = SafeFormatter().format(record)
        _show_safely(type(error), error, error.__traceback__)
        number = len(logger._core.handlers)
        log_pipecat(level="ERROR")
        logger.exception("failed with {}", error)
    handlers = list(logger._core.handlers)
    assert len(handlers) == number + 1
    logger.remove(handlers[-1])
    printed = shown + capsys.readouterr().err
    # Another test may have left a handler that prints it, too.
    assert printed.count("Traceback") >= 3
    assert CANARY not in printed


def test_no_part_of_a_long_key_is_quoted() -> None:
    long = "canary" + "9f8e" * 100
    hide(long)
    assert quoted(f"{'word ' * 20}{long} is wrong.") == f"{'word ' * 20}{HIDDEN} is wrong"


LONG = "canary/9f8e7d6c+5b4a=Zq_71-xW"


@pytest.mark.parametrize(
    "written",
    [
        LONG.lower(),
        LONG.upper(),
        f"{LONG[:9]}\n{LONG[9:]}",
        " ".join(LONG),
        "\u200b".join(LONG),
        LONG[:-3],
        LONG[3:],
        f"x{LONG}x",
        LONG.replace("/", "\\/"),
        LONG.replace("/", "%2f").replace("+", "%2b"),
        LONG.replace("/", "%252f"),
        LONG.replace("/", "&#x2F;").replace("+", "&#43;"),
        LONG.replace("/", "\\u002f"),
        LONG.replace("-", "‑"),
        base64.b64encode(LONG.encode()).decode(),
        base64.b64encode(f"user:{LONG}".encode()).decode(),
        base64.b64encode(f"u:{LONG}".encode()).decode(),
        base64.b64encode(f"ab:{LONG}".encode()).decode(),
        LONG.encode().hex(),
    ],
)
def test_a_key_that_is_quoted_with_changes_is_hidden(written: str) -> None:
    hide(LONG)
    shown = redacted(f"The server said: bad key {written}, try another one.")
    assert shown.startswith("The server said: bad key ")
    assert shown.endswith(", try another one.")
    left = "".join(filter(str.isalnum, shown.removesuffix(", try another one.").rpartition("key ")[2]))
    assert HIDDEN in shown
    assert len(left.replace("keyhidden", "").replace("hidden", "")) < 12


def test_words_beside_a_key_stay() -> None:
    hide(LONG)
    text = "The canary sings 9 songs; see http://127.0.0.1:8000/v1 and write to bob@example.org at 10:30."
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://bob:PW-1@127.0.0.1:1", f"http://{HIDDEN}@127.0.0.1:1"),
        ("ws://TOKEN@h/ws", f"ws://{HIDDEN}@h/ws"),
        ("bob:PW-1@h", f"{HIDDEN}@h"),
        ("bob:PW-1@h/v1", f"{HIDDEN}@h/v1"),
        ("http:/bob:PW-1@h/v1", f"http:/{HIDDEN}@h/v1"),
        ("http:///bob:PW-1@h/v1", f"http:///{HIDDEN}@h/v1"),
        ("http://bob:P/W@1@h/v1", f"http://{HIDDEN}@h/v1"),
        ("--url=ws://bob:PW-1@[::1]:1/ws", f"--url=ws://{HIDDEN}@[::1]:1/ws"),
        ("llm.large.base_url=bob:PW-1@h/v1", f"llm.large.base_url={HIDDEN}@h/v1"),
        ("ws://h/ws?a=1&token=x", f"ws://h/ws?a=1&token={HIDDEN}"),
        ("ws://h/ws?API_KEY=x&b=2", f"ws://h/ws?API_KEY={HIDDEN}&b=2"),
        ("ws://h/ws?password=x#y", f"ws://h/ws?password={HIDDEN}"),
    ],
)
def test_an_address_is_shown_without_what_lets_somebody_in(address: str, shown: str) -> None:
    assert redacted(f'"{address}" is wrong') == f'"{shown}" is wrong'
    assert redacted(address) == shown
    assert redacted(shown) == shown


def test_a_run_keeps_its_command_without_the_token_in_an_address() -> None:
    header = run_header(Server("ws://h/ws", {}), ["voice", "replay", "--url", "ws://h/ws?token=x"])
    assert header.command == ["voice", "replay", "--url", f"ws://h/ws?token={HIDDEN}"]
