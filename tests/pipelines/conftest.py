"""A real server in a process of its own, as users start it, shared by the tests that call it; and what these call."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipelines.bench.scripted.model_folder import build

ROOT = Path(__file__).resolve().parents[2]
LISTENING = "Listening on "


@dataclass(frozen=True)
class ServerProcess:
    """`voice serve` and where it takes calls."""

    process: subprocess.Popen[str]
    url: str

    @property
    def health(self) -> str:
        return self.url.replace("ws", "http", 1).removesuffix("/ws") + "/healthz"


def start_server(*options: str) -> ServerProcess:
    """Start `voice serve` on a free port and wait until it takes calls."""
    command = [sys.executable, "-m", "pipelines.cli", "serve", "--port", "0", "--until-stdin-closes", *options]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith(LISTENING), f"the server said {line!r}"
    return ServerProcess(process, line.removeprefix(LISTENING).strip())


def stop_server(server: ServerProcess) -> int:
    """End it as a parent does, by closing its standard input; returns its exit status."""
    assert server.process.stdin is not None
    server.process.stdin.close()
    return server.process.wait(10)


@contextmanager
def running_server(*options: str) -> Iterator[ServerProcess]:
    """`voice serve` while the context lasts."""
    running = start_server(*options)
    try:
        yield running
    finally:
        stop_server(running)


@pytest.fixture(scope="session")
def serve() -> Callable[..., AbstractContextManager[ServerProcess]]:
    """Starts servers of other pipelines: `with serve("--pipeline", "local") as running`."""
    return running_server


@pytest.fixture(scope="session")
def server() -> Iterator[ServerProcess]:
    with running_server("--pipeline", "embedded") as running:
        yield running


@pytest.fixture(scope="module")
def openai_server() -> Iterator[Any]:
    """An OpenAI-compatible server on loopback whose model is `sim:echo`; see openai_server.py."""
    from tests.pipelines.openai_server import serving

    with serving() as running:
        yield running


@pytest.fixture(scope="session")
def scripted_whisper(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes the folder of a Whisper model that hears a given text."""
    return lambda text: build(tmp_path_factory.mktemp("whisper") / "model", text=text)


@pytest.fixture
def conversation(tmp_path: Path) -> Callable[..., Path]:
    """Makes a fixture folder from turns of the samples: ("commands/01", "it is") is a clip and what answers it."""

    def make(name: str, *turns: tuple[str, str]) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        entries = [_turn(clip, contains, folder) for clip, contains in turns]
        scenario = {"name": name, "user": {"modality": "audio"}, "scenarios": [{"name": "call", "turns": entries}]}
        (folder / "scenario.yaml").write_text(yaml.safe_dump(scenario))
        return folder

    return make


def _turn(clip: str, contains: str, folder: Path) -> dict[str, Any]:
    """Copies a clip with its label and finds what is said in it."""
    sample = ROOT / "samples" / clip
    name = clip.replace("/", "-") + ".wav"
    shutil.copy(sample.with_suffix(".wav"), folder / name)
    shutil.copy(sample.with_suffix(".txt"), (folder / name).with_suffix(".txt"))
    of_sample: Sequence[Any] = yaml.safe_load((sample.parent / "scenario.yaml").read_text())["scenarios"][0]["turns"]
    text = next(turn["user"] for turn in of_sample if turn["audio"] == sample.with_suffix(".wav").name)
    return {"user": text, "audio": name, "expect": [{"event": "response", "text_contains": contains}]}
