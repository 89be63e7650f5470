"""`voice models` lists and pulls, against a hub on loopback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.voice.fake_hub import Hub, unreachable
from tests.voice.llm.local.scripted_model import build

ROOT = Path(__file__).resolve().parents[3]
REPOSITORY = "jncraton/Qwen2.5-0.5B-Instruct-ct2-int8"
PINNED = "Qwen/Qwen3-0.6B-GGUF"


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
    folder = build(tmp_path_factory.mktemp("published") / "model")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_pulled_model_is_recorded_listed_and_compared(files: dict[str, bytes], tmp_path: Path) -> None:
    with Hub(REPOSITORY, dict(files), {"model.bin"}).serving() as hub:
        listed = voice("models", hub=hub.url, home=tmp_path)
        assert listed.returncode == 0, listed.stderr
        assert "not here: `voice models pull qwen2.5-0.5b`" in " ".join(listed.stdout.split())
        assert "pinned to SHA-256 9465e63a22ad" in " ".join(listed.stdout.split())
        assert hub.fetched == []

        first = voice("models", "pull", "qwen2.5-0.5b", hub=hub.url, home=tmp_path)
        assert first.returncode == 0, first.stderr
        assert f"this first pull got commit {hub.commit}" in first.stderr
        assert sorted(set(hub.fetched)) == sorted(name for name in files if name != "vocabulary.txt")
        before = list(hub.fetched)
        again = voice("models", "pull", "qwen2.5-0.5b", hub=hub.url, home=tmp_path)
        assert "model.bin is what the first pull got" in again.stderr
        assert hub.fetched == before, "nothing is downloaded twice"
        assert f"here, not pinned; first pulled at commit {hub.commit[:12]}" in " ".join(
            voice("models", hub=hub.url, home=tmp_path).stdout.split()
        )
        checked = voice("check", "auto", hub=hub.url, home=tmp_path)
        assert "scripted:own in this process" in checked.stdout + checked.stderr

    (record,) = (tmp_path / "cache" / "turnaround" / "pulled").iterdir()
    table = json.loads(record.read_text())
    table["sha256"]["model.bin"] = "0" * 64
    record.write_text(json.dumps(table))
    other = voice("models", "pull", "qwen2.5-0.5b", hub=unreachable(), home=tmp_path)
    assert other.returncode == 4
    assert "is not what was pulled first: delete" in other.stderr
    record.write_text("{")
    damaged = voice("models", hub=unreachable(), home=tmp_path)
    assert damaged.returncode == 4
    assert "is damaged: delete it" in damaged.stderr


def test_a_file_that_is_not_the_pinned_one_is_refused_before_it_is_downloaded(tmp_path: Path) -> None:
    commit = "23749fefcc72300e3a2ad315e1317431b06b590a"
    name = "Qwen3-0.6B-Q8_0.gguf"
    with Hub(PINNED, {name: b"GGUF, but another"}, {name}, commit=commit).serving() as hub:
        done = voice("models", "pull", "qwen3-0.6b-gguf", hub=hub.url, home=tmp_path)
    assert done.returncode == 4
    assert "and not the pinned 9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031" in done.stderr
    assert 'set model = "/path/to/it"' in done.stderr
    assert hub.fetched == []


def test_without_a_hub_the_sentence_names_the_way_without_one(tmp_path: Path) -> None:
    done = voice("models", "pull", "qwen2.5-0.5b", hub=unreachable(), home=tmp_path)
    assert done.returncode == 4
    sentence = done.stderr.splitlines()[-1]
    assert "cannot be downloaded from http://127.0.0.1" in sentence
    assert "copy a folder with model.bin, config.json, tokenizer.json and tokenizer_config.json here" in sentence
    assert 'set model = "/path/to/it"' in sentence
    assert "Traceback" not in done.stderr


def test_an_unknown_or_missing_name_is_refused(tmp_path: Path) -> None:
    for arguments, words in (
        (("pull", "gpt-9"), "There is no model gpt-9 to pull; there is"),
        (("pull",), "takes the name"),
    ):
        done = voice("models", *arguments, hub=unreachable(), home=tmp_path)
        assert done.returncode == 2
        assert words in done.stderr
