from pathlib import Path

import pytest

from voice.asr.whisper.weights import from_folder, resolve
from voice.errors import ComponentError, ConfigurationError


def model_folder(path: Path, config: str = "{}") -> Path:
    path.mkdir()
    for name in ("tokenizer.json", "vocabulary.json", "model.bin"):
        (path / name).write_bytes(b"x")
    (path / "config.json").write_text(config)
    return path


def test_a_local_folder_is_used_as_it_is(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "mine")
    found = resolve(str(folder))
    assert (found.name, found.path) == ("mine", folder)


def test_a_folder_that_is_named_model_is_called_after_the_one_around_it(tmp_path: Path) -> None:
    (tmp_path / "base-de").mkdir()
    assert from_folder(model_folder(tmp_path / "base-de" / "model")).name == "base-de"


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


@pytest.mark.parametrize("name", ["enormous", "a/b/c", "", "en_US-joe-medium"])
def test_the_error_for_a_wrong_name_lists_the_known_names(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"names no Whisper model: use tiny\.en, base, base\.en"):
        resolve(name)


def test_a_model_that_is_not_here_is_not_downloaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("voice.models.hub.HubModel.find", lambda _model: None)
    with pytest.raises(ComponentError, match=r"tiny\.en is not here: run `voice models pull tiny\.en`, or copy"):
        resolve("tiny.en")
