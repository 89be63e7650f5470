"""Pulls from a hub on loopback."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.voice.fake_hub import Hub, run, unreachable
from voice.models.table import MODELS, named, names
from voice.tts.piper.voice import embedded_voice

WHISPER = "Systran/faster-whisper-base.en"
OFFLINE = (
    'set asr.model = "/path/to/folder" (or VOICE_WHISPER_DIR), or use the embedded pipeline, which needs no download.'
)
VOICE = "en_US-lessac-medium"
VOICE_FILE = f"en/en_US/lessac/medium/{VOICE}.onnx"
OTHER = "en_GB-alan-x_low"
OTHER_FILE = f"en/en_GB/alan/x_low/{OTHER}.onnx"
PROGRAM = """
import json, sys
from voice.errors import VoiceError
from voice.models.pulling import pull
from voice.models.store import find, found, remove
from voice.models.table import named
verb, *names = sys.argv[1:]
told = {}
try:
    if verb == "pull":
        told["path"] = str(list(pull([named(names[0])]))[0])
    elif verb == "remove":
        told["was_here"] = remove(named(names[0]))
except VoiceError as error:
    told = {"error": type(error).__name__, "sentence": str(error)}
told["found"] = {name: str(find(name)) for name in names}
print(json.dumps(told | {"voices": list(found("voice"))}))
"""
Told = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture
def whisper() -> Iterator[Hub]:
    files = {
        "README.md": b"not fetched",
        "config.json": b"{}",
        "tokenizer.json": b'{"version": "1.0"}',
        "vocabulary.txt": b"a\nb\n",
        "model.bin": bytes(range(256)) * 8000,
    }
    with Hub(WHISPER, files, {"model.bin"}).serving() as hub:
        yield hub


@pytest.fixture
def voices() -> Iterator[Hub]:
    """Has our embedded voice under the names of two published ones."""
    model, config = embedded_voice().read_bytes(), Path(f"{embedded_voice()}.json").read_bytes()
    files = {"README.md": b"not fetched", VOICE_FILE: model, f"{VOICE_FILE}.json": config}
    files |= {OTHER_FILE: model + b"\0", f"{OTHER_FILE}.json": config}
    with Hub("rhasspy/piper-voices", files, {VOICE_FILE, OTHER_FILE}).serving() as hub:
        yield hub


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """What a new process with caches of the test's own tells after it has pulled, removed or looked for models."""

    def told(verb: str, *models: str, at: str, **options: Any) -> tuple[dict[str, Any], str]:
        cache = str(tmp_path / "cache")
        return run(PROGRAM, verb, *models, endpoint=at, home=tmp_path / "hub", XDG_CACHE_HOME=cache, **options)

    return told


def kept(tmp_path: Path) -> set[str]:
    """Names of the files that the cache holds as parts of a snapshot."""
    return {path.name for path in (tmp_path / "hub").glob("hub/models--*/snapshots/**/*") if path.is_file()}


def test_a_model_is_downloaded_verified_and_found(whisper: Hub, told: Told) -> None:
    got, shown = told("pull", "base.en", at=whisper.url)
    folder = Path(got["path"])
    assert {path.name for path in folder.iterdir()} == {"config.json", "tokenizer.json", "vocabulary.txt", "model.bin"}
    assert (folder / "model.bin").read_bytes() == whisper.files["model.bin"]
    assert f"Downloading base.en (MIT) from the model hub at {whisper.url} ({WHISPER}, 148 MB)." in shown
    assert "Nothing is pinned for base.en: this first pull got model.bin with the SHA-256" in shown.replace("\n", " ")
    again, shown = told("pull", "base.en", at=unreachable())
    assert again["path"] == got["path"] == again["found"]["base.en"]
    assert "it is what the first pull got" in shown


def test_a_terminal_shows_a_bar_for_each_file(whisper: Hub, told: Told) -> None:
    _, shown = told("pull", "base.en", at=whisper.url, terminal=True)
    assert re.search(r"model\.bin.*100%", shown)


@pytest.mark.parametrize("damaged", ["model.bin", "tokenizer.json"])
def test_a_file_with_a_wrong_checksum_is_an_error_and_is_deleted(
    whisper: Hub, told: Told, tmp_path: Path, damaged: str
) -> None:
    whisper.announced[damaged] = "0" * (64 if damaged in whisper.large else 40)
    got, _ = told("pull", "base.en", at=whisper.url)
    assert got["error"] == "ComponentError"
    assert f"sent a {damaged} that does not have the announced checksum and was deleted" in got["sentence"]
    assert got["sentence"].endswith(OFFLINE)
    assert got["found"]["base.en"] == "None"
    assert damaged not in kept(tmp_path)
    assert not [path for path in (tmp_path / "hub").rglob("*") if path.name == whisper.announced[damaged]]


def test_a_failed_download_leaves_no_model_and_can_be_resumed(whisper: Hub, told: Told, tmp_path: Path) -> None:
    whisper.broken.add("model.bin")
    got, _ = told("pull", "base.en", at=whisper.url)
    assert got["error"] == "ComponentError"
    assert got["found"]["base.en"] == "None"
    assert "tokenizer.json" in kept(tmp_path)
    whisper.broken.clear()
    whisper.fetched.clear()
    got, _ = told("pull", "base.en", at=whisper.url)
    assert got["path"] == got["found"]["base.en"]
    assert whisper.fetched == ["model.bin"]


def test_unverified_files_do_not_count_as_a_model(whisper: Hub, told: Told) -> None:
    """As after a power failure between the download and the check."""
    got, _ = told("pull", "base.en", at=whisper.url)
    reference = Path(got["path"]).parents[1] / "refs" / "main"
    assert reference.read_text() == whisper.commit
    reference.unlink()
    (Path(got["path"]) / "model.bin").resolve().write_bytes(b"cut")
    got, _ = told("pull", "base.en", at=whisper.url)
    assert "sent a model.bin that does not have the announced checksum" in got["sentence"]


def test_a_model_that_changed_after_the_first_pull_is_refused(whisper: Hub, told: Told, tmp_path: Path) -> None:
    got, _ = told("pull", "base.en", at=whisper.url)
    (Path(got["path"]) / "model.bin").resolve().write_bytes(b"other")
    got, _ = told("pull", "base.en", at=whisper.url)
    assert "is not what was pulled first: run `voice models remove base.en`, then `voice models pull" in got["sentence"]
    (record,) = (tmp_path / "cache" / "turnaround" / "pulled").iterdir()
    record.write_text("{")
    got, _ = told("pull", "base.en", at=whisper.url)
    assert "is damaged: delete it" in got["sentence"]


def test_a_refused_connection_names_the_address_and_the_way_without_it(told: Told) -> None:
    address = unreachable()
    got, _ = told("pull", "base.en", at=address)
    assert got["error"] == "ComponentError"
    assert got["sentence"].startswith(
        f"The Whisper model base.en cannot be downloaded: the model hub does not answer at {address} ("
    )
    assert "refused" in got["sentence"]
    assert got["sentence"].endswith(OFFLINE)
    assert "\n" not in got["sentence"]


def test_an_unknown_repository_and_the_hubs_own_switch_are_named(whisper: Hub, told: Told) -> None:
    got, _ = told("pull", "nobody/nothing", at=whisper.url)
    assert "the model hub has no repository nobody/nothing, or it is private" in got["sentence"]
    got, _ = told("pull", "base.en", at=whisper.url, HF_HUB_OFFLINE="1")
    assert "the model hub is not asked, as HF_HUB_OFFLINE is set" in got["sentence"]
    assert whisper.fetched == []


def test_a_repository_of_another_kind_is_bad_usage(whisper: Hub, told: Told) -> None:
    del whisper.files["model.bin"]
    got, _ = told("pull", "base.en", at=whisper.url)
    assert got["error"] == "ConfigurationError"
    assert f"{WHISPER} on the hub has no model.bin, which base.en needs" in got["sentence"]


def test_a_file_that_is_not_the_pinned_one_is_refused_before_it_is_downloaded(told: Told) -> None:
    model = named("qwen3-0.6b-gguf")
    assert model
    assert model.hub
    hub = Hub(model.hub.repository, {model.needed[0]: b"GGUF, but another"}, {model.needed[0]})
    hub.commit = model.hub.revision
    with hub.serving():
        got, _ = told("pull", model.name, at=hub.url)
    assert f"and not the pinned {model.files[0].sha256}" in got["sentence"]
    assert hub.fetched == []


def test_one_verified_voice_does_not_vouch_for_another(voices: Hub, told: Told) -> None:
    """They share a repository and a commit; as after a power failure between the other's download and its check."""
    got, _ = told("pull", VOICE, at=voices.url)
    assert Path(got["path"]).read_bytes() == voices.files[VOICE_FILE]
    there = Path(got["path"]).parents[len(Path(VOICE_FILE).parents) - 1] / OTHER_FILE
    there.parent.mkdir(parents=True)
    there.write_bytes(b"cut")
    shutil.copy(f"{embedded_voice()}.json", f"{there}.json")
    got, _ = told("pull", OTHER, VOICE, at=voices.url)
    assert f"sent a {OTHER_FILE} that does not have the announced checksum" in got["sentence"]
    assert got["found"][OTHER] == "None"
    assert got["found"][VOICE] != "None"
    assert got["voices"] == [VOICE]


def test_one_voice_is_removed_and_the_other_stays_though_the_hub_moves_on(voices: Hub, told: Told) -> None:
    first, _ = told("pull", VOICE, at=voices.url)
    voices.commit = "f" * 40
    second, _ = told("pull", OTHER, at=voices.url)
    assert voices.commit in second["path"]
    assert told("find", VOICE, at=unreachable())[0]["found"][VOICE] == first["path"]
    gone, _ = told("remove", OTHER, VOICE, at=unreachable())
    assert gone["was_here"]
    assert gone["found"] == {OTHER: "None", VOICE: first["path"]}
    assert not Path(second["path"]).exists()


def test_a_whole_repository_is_removed(whisper: Hub, told: Told, tmp_path: Path) -> None:
    told("pull", "base.en", at=whisper.url)
    assert told("remove", "base.en", at=unreachable())[0]["was_here"]
    assert not list((tmp_path / "hub").glob("hub/models--*/blobs/*"))
    assert not told("remove", "base.en", at=unreachable())[0]["was_here"]


def test_a_voice_that_the_hub_lacks_is_answered_with_similar_names(voices: Hub, told: Told) -> None:
    got, _ = told("pull", "en_US-lesac-medium", at=voices.url)
    assert got["error"] == "ConfigurationError"
    assert f"which en_US-lesac-medium needs: pull {VOICE}; `voice models` lists some" in got["sentence"]
    assert voices.fetched == []


@pytest.mark.parametrize(
    "name", ["", "lessac", "en-us-lessac-medium", f"{VOICE}\n", "en_US-a/../b-low", "a/b/c", "../x"]
)
def test_names_of_other_forms_are_no_models(name: str) -> None:
    assert named(name) is None


def test_the_table_says_of_each_model_where_it_is_and_what_it_is_for() -> None:
    assert len({model.name for model in MODELS}) == len(MODELS)
    for model in MODELS:
        assert model.purpose
        assert model.size
        assert model.needed
        assert model.main in (None, *model.needed)
        taken = [name for wheel in model.wheels for name in wheel.members]
        assert not taken or set(taken) == set(model.needed), model.name
    recommended = [model for model in MODELS if model.is_recommended]
    assert [model.name for model in recommended] == [
        "tiny.en",
        "en_US-joe-medium",
        "qwen2.5-coder-0.5b",
        "smollm2-135m",
    ]
    assert all(model.wheels and model.hub for model in recommended)
    assert sum(wheel.size for model in recommended for wheel in model.wheels) == pytest.approx(700e6, rel=0.01)
    assert names("voice") == "en_US-joe-medium"
