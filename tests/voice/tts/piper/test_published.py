import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from voice.tts.piper.published import cached_voice, published_voice

from tests.voice.fake_hub import Hub, run, unreachable
from voice.errors import ConfigurationError
from voice.tts.piper.voice import Voice, embedded_voice

NAME = "en_US-lessac-medium"
MODEL = f"en/en_US/lessac/medium/{NAME}.onnx"
OTHER = "en_GB-alan-x_low"
OTHER_MODEL = f"en/en_GB/alan/x_low/{OTHER}.onnx"
OFFLINE = (
    f'copy {NAME}.onnx and {NAME}.onnx.json here and set tts.voice = "/path/to/{NAME}.onnx", or use '
    'tts.voice = "embedded", which needs no download.'
)
PROGRAM = """
import json, sys
from voice.errors import VoiceError
from voice.tts.piper.published import cached_voice, published_voice
found = {}
try:
    found["path"] = str(published_voice(sys.argv[1]))
except VoiceError as error:
    found = {"error": type(error).__name__, "sentence": str(error)}
print(json.dumps(found | {"cached": {name: str(cached_voice(name)) for name in sys.argv[1:]}}))
"""
Fetch = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture
def hub() -> Iterator[Hub]:
    """Has our embedded voice under the names of two published ones."""
    model = embedded_voice().read_bytes()
    config = Path(f"{embedded_voice()}.json").read_bytes()
    files = {"README.md": b"not fetched", MODEL: model, f"{MODEL}.json": config}
    files |= {OTHER_MODEL: model + b"\0", f"{OTHER_MODEL}.json": config}
    with Hub("rhasspy/piper-voices", files, {MODEL, OTHER_MODEL}).serving() as hub:
        yield hub


@pytest.fixture
def fetch(tmp_path: Path) -> Fetch:
    """Asks for a voice in a new process, then for what the cache has of it and of others."""

    def fetch(endpoint: str, *names: str, **options: Any) -> tuple[dict[str, Any], str]:
        return run(PROGRAM, *(names or [NAME]), endpoint=endpoint, home=tmp_path / "hub", **options)

    return fetch


def test_a_published_voice_is_downloaded_and_speaks(hub: Hub, fetch: Fetch) -> None:
    found, shown = fetch(hub.url)
    path = Path(found["path"])
    assert path.name == f"{NAME}.onnx"
    assert hub.fetched == [f"{MODEL}.json", MODEL]
    assert f"Downloading Piper voice {NAME} (rhasspy/piper-voices, " in shown
    assert f"from {hub.url}" in shown
    voice = Voice(path)
    try:
        assert voice.name == NAME
        assert len(voice.synthesize("It is ten past four.")) > 0.5 * voice.sample_rate
    finally:
        voice.close()


def test_a_terminal_shows_a_bar_for_the_download(hub: Hub, fetch: Fetch) -> None:
    _, shown = fetch(hub.url, terminal=True)
    assert "100%" in shown


def test_a_voice_in_the_cache_needs_no_network(hub: Hub, fetch: Fetch) -> None:
    first, _ = fetch(hub.url)
    second, shown = fetch(unreachable())
    assert second == first
    assert second["cached"][NAME] == second["path"]
    assert "Downloading" not in shown


@pytest.mark.parametrize("damaged", [MODEL, f"{MODEL}.json"])
def test_a_damaged_file_is_refused_and_not_kept(hub: Hub, fetch: Fetch, tmp_path: Path, damaged: str) -> None:
    hub.announced[damaged] = "0" * (64 if damaged in hub.large else 40)
    found, _ = fetch(hub.url)
    assert found["error"] == "ComponentError"
    assert (
        f"arrived damaged: {damaged} does not have the hub's checksum and was deleted; {OFFLINE}" in found["sentence"]
    )
    assert found["cached"][NAME] == "None"
    assert not [path for path in tmp_path.rglob("*") if path.name in (Path(damaged).name, hub.announced[damaged])]


def test_a_refused_connection_names_the_host_and_the_ways_without_it(fetch: Fetch) -> None:
    address = unreachable()
    found, _ = fetch(address)
    assert found["error"] == "ComponentError"
    assert found["sentence"].startswith(f"Piper voice {NAME} cannot be downloaded from {address}: ")
    assert "refused" in found["sentence"]
    assert found["sentence"].endswith(f"; {OFFLINE}")
    assert "\n" not in found["sentence"]


def test_one_checked_voice_does_not_vouch_for_another(hub: Hub, fetch: Fetch) -> None:
    """They share a repository and a commit; as after a power failure between the other's download and its check."""
    found, _ = fetch(hub.url)
    there = Path(found["path"]).parents[len(Path(MODEL).parents) - 1] / OTHER_MODEL
    there.parent.mkdir(parents=True)
    there.write_bytes(b"cut")
    shutil.copy(f"{embedded_voice()}.json", f"{there}.json")
    found, _ = fetch(hub.url, OTHER, NAME)
    assert found["error"] == "ComponentError"
    assert f"arrived damaged: {OTHER_MODEL}" in found["sentence"]
    assert found["cached"][OTHER] == "None"
    assert found["cached"][NAME] != "None"


def test_a_voice_stays_in_the_cache_when_the_hub_moves_on(hub: Hub, fetch: Fetch) -> None:
    first, _ = fetch(hub.url)
    hub.commit = "f" * 40
    second, _ = fetch(hub.url, OTHER)
    assert hub.commit in second["path"]
    assert fetch(unreachable())[0] == first


def test_a_voice_that_the_hub_lacks_is_a_wrong_setting_answered_with_similar_names(hub: Hub, fetch: Fetch) -> None:
    found, _ = fetch(hub.url, "en_US-lesac-medium")
    assert found["error"] == "ConfigurationError"
    assert f"has no voice en_US-lesac-medium, but {NAME}; use a name" in found["sentence"]
    assert hub.fetched == []


@pytest.mark.parametrize("name", ["", "lessac", "en-us-lessac-medium", "en_US-lessac", f"{NAME}\n", "en_US-a/../b-low"])
def test_a_name_of_another_form_is_answered_with_the_form(name: str, tmp_path: Path) -> None:
    for ask in (published_voice, cached_voice):
        with pytest.raises(ConfigurationError, match='"embedded".*<lang>_<REGION>-<voice>-<quality>'):
            ask(name, cache_dir=tmp_path)


def test_an_empty_cache_holds_no_voice(tmp_path: Path) -> None:
    assert cached_voice(NAME, cache_dir=tmp_path) is None
