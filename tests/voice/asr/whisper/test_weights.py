import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.voice.fake_hub import Hub, run, unreachable
from voice.asr.whisper.weights import cached, from_folder, resolve
from voice.errors import ComponentError, ConfigurationError

REPOSITORY = "Systran/faster-whisper-tiny.en"
OFFLINE = (
    "copy its folder from another machine and set VOICE_WHISPER_DIR=/path/to/folder or "
    'asr.model = "/path/to/folder", or use the embedded pipeline, which needs no download.'
)
PROGRAM = """
import dataclasses, json, sys
from voice.asr.whisper.weights import cached, resolve
from voice.errors import VoiceError
try:
    found = dataclasses.asdict(resolve(sys.argv[1]))
except VoiceError as error:
    found = {"error": type(error).__name__, "sentence": str(error)}
print(json.dumps(found | {"cached": str(cached(sys.argv[1]))}, default=str))
"""


Resolve = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture
def hub() -> Iterator[Hub]:
    files = {
        "README.md": b"not fetched",
        "config.json": b"{}",
        "tokenizer.json": b'{"version": "1.0"}',
        "vocabulary.txt": b"a\nb\n",
        "model.bin": bytes(range(256)) * 8000,
    }
    with Hub(REPOSITORY, files, {"model.bin"}).serving() as hub:
        yield hub


@pytest.fixture
def resolve_at(tmp_path: Path) -> Resolve:
    """Resolves in a new process with a hub cache of the test's own; returns its output on stdout and stderr."""

    def resolve_at(endpoint: str, model: str = "tiny.en", **options: Any) -> tuple[dict[str, Any], str]:
        return run(PROGRAM, model, endpoint=endpoint, home=tmp_path / "hub", **options)

    return resolve_at


def kept(tmp_path: Path) -> set[str]:
    """Names of the files that the cache holds as parts of a snapshot."""
    return {path.name for path in (tmp_path / "hub").glob("hub/models--*/snapshots/*/*")}


def test_a_model_is_downloaded_verified_and_named_with_its_commit(hub: Hub, resolve_at: Resolve) -> None:
    found, _ = resolve_at(hub.url)
    folder = Path(found["path"])
    assert (found["name"], found["revision"]) == ("tiny.en", hub.commit)
    assert {path.name for path in folder.iterdir()} == {"config.json", "tokenizer.json", "vocabulary.txt", "model.bin"}
    assert (folder / "model.bin").read_bytes() == hub.files["model.bin"]


@pytest.mark.parametrize("terminal", [False, True])
def test_the_download_shows_its_source_size_and_progress_on_stderr(
    hub: Hub, resolve_at: Resolve, terminal: bool
) -> None:
    _, shown = resolve_at(hub.url, terminal=terminal)
    assert f"Downloading Whisper model tiny.en ({REPOSITORY}, 2.0 MB) from {hub.url}" in shown
    assert "checksums verified" in shown
    assert bool(re.search(r"model\.bin.*100%", shown)) == terminal


def test_a_copy_in_the_cache_needs_no_network(hub: Hub, resolve_at: Resolve) -> None:
    first, _ = resolve_at(hub.url)
    second, shown = resolve_at(unreachable())
    assert second == first
    assert second["cached"] == second["path"]
    assert "Downloading" not in shown


@pytest.mark.parametrize("damaged", ["model.bin", "tokenizer.json"])
def test_a_file_with_a_wrong_checksum_is_an_error_and_is_deleted(
    hub: Hub, resolve_at: Resolve, tmp_path: Path, damaged: str
) -> None:
    hub.announced[damaged] = "0" * (64 if damaged in hub.large else 40)
    found, _ = resolve_at(hub.url)
    assert found["error"] == "ComponentError"
    assert (
        f"arrived damaged: {damaged} does not have the hub's checksum and was deleted; {OFFLINE}" in found["sentence"]
    )
    assert found["cached"] == "None"
    assert damaged not in kept(tmp_path)
    assert not [path for path in (tmp_path / "hub").rglob("*") if path.name == hub.announced[damaged]]


def test_a_failed_download_leaves_no_model_and_can_be_resumed(hub: Hub, resolve_at: Resolve, tmp_path: Path) -> None:
    hub.broken.add("model.bin")
    found, _ = resolve_at(hub.url)
    assert found["error"] == "ComponentError"
    assert OFFLINE in found["sentence"]
    assert found["cached"] == "None"
    assert "tokenizer.json" in kept(tmp_path)
    hub.broken.clear()
    hub.fetched.clear()
    found, _ = resolve_at(hub.url)
    assert found["cached"] == found["path"]
    assert hub.fetched == ["model.bin"]


def test_unverified_files_do_not_count_as_a_model(hub: Hub, resolve_at: Resolve, tmp_path: Path) -> None:
    """As after a power failure between the download and the check."""
    found, _ = resolve_at(hub.url)
    reference = Path(found["path"]).parents[1] / "refs" / "main"
    assert reference.read_text() == hub.commit
    reference.unlink()
    assert kept(tmp_path) >= {"model.bin", "tokenizer.json"}
    (Path(found["path"]) / "model.bin").resolve().write_bytes(b"cut")
    found, _ = resolve_at(hub.url)
    assert "arrived damaged: model.bin" in found["sentence"]


def test_a_refused_connection_names_the_host_and_the_ways_without_it(resolve_at: Resolve) -> None:
    address = unreachable()
    found, _ = resolve_at(address)
    assert found["error"] == "ComponentError"
    assert found["sentence"].startswith(f"Whisper model tiny.en cannot be downloaded from {address}: ")
    assert "refused" in found["sentence"]
    assert found["sentence"].endswith(OFFLINE)
    assert "\n" not in found["sentence"]


def test_an_unknown_repository_is_reported_as_unknown(hub: Hub, resolve_at: Resolve) -> None:
    found, _ = resolve_at(hub.url, "nobody/nothing")
    assert found["error"] == "ComponentError"
    assert "there is no such repository, or it is private; " + OFFLINE in found["sentence"]


def test_the_hubs_own_offline_switch_is_named(hub: Hub, resolve_at: Resolve) -> None:
    found, _ = resolve_at(hub.url, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE is set; " + OFFLINE in found["sentence"]


def test_a_repository_of_another_kind_is_a_configuration_error(hub: Hub, resolve_at: Resolve) -> None:
    del hub.files["model.bin"]
    found, _ = resolve_at(hub.url)
    assert found["error"] == "ConfigurationError"
    assert "as it lacks model.bin" in found["sentence"]


def model_folder(path: Path, config: str = "{}") -> Path:
    path.mkdir()
    for name in ("tokenizer.json", "vocabulary.json", "model.bin"):
        (path / name).write_bytes(b"x")
    (path / "config.json").write_text(config)
    return path


def test_a_local_folder_is_used_as_it_is(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "mine")
    found = resolve(str(folder))
    assert (found.name, found.revision, found.path) == ("mine", None, folder)


def test_a_folder_that_names_itself_keeps_its_name(tmp_path: Path) -> None:
    assert from_folder(model_folder(tmp_path / "mine", '{"name": "scripted:whisper"}')).name == "scripted:whisper"


def test_the_error_names_what_a_folder_lacks(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "mine")
    (folder / "model.bin").unlink()
    (folder / "vocabulary.json").unlink()
    with pytest.raises(ComponentError, match="it lacks model.bin, vocabulary.json or vocabulary.txt; copy"):
        resolve(str(folder))


def test_a_damaged_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match=r"config\.json is not JSON"):
        resolve(str(model_folder(tmp_path / "mine", "{")))


def test_a_path_without_a_folder_is_not_searched_on_the_hub(tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="There is no folder"):
        resolve(str(tmp_path / "absent"))


@pytest.mark.parametrize("name", ["enormous", "a/b/c", ""])
def test_the_error_for_a_wrong_name_lists_the_known_names(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"names no Whisper model: use tiny\.en, tiny, base\.en"):
        resolve(name, cache_dir=tmp_path)


def test_an_empty_cache_holds_no_model(tmp_path: Path) -> None:
    assert cached("tiny.en", cache_dir=tmp_path) is None


def test_errors_carry_the_exit_codes_of_their_remedies() -> None:
    assert (ConfigurationError.exit_code, ComponentError.exit_code) == (2, 4)
