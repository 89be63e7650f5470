"""The scripted recogniser is an engine of its own: no recording is heard by script unless a pipeline says so."""

from pathlib import Path

from pipelines import settings
from pipelines.engines.scripted import SCRIPT, ScriptedWhisper, whisper_engine


def test_a_folder_with_a_script_is_for_the_scripted_engine(tmp_path: Path) -> None:
    assert whisper_engine(tmp_path) == "whisper"
    (tmp_path / SCRIPT).touch()
    assert whisper_engine(tmp_path) == "scripted"


def test_it_has_whispers_settings_and_needs_a_script(tmp_path: Path) -> None:
    asr = settings.load("local", ["asr.engine=scripted", f"asr.model={tmp_path}", "asr.context=auto"]).asr
    assert isinstance(asr, ScriptedWhisper)
    assert asr.context == "auto"
    (need,) = asr.needs()
    assert need.startswith(f"There is no scripted model in the folder {tmp_path}: make one with")
    (tmp_path / SCRIPT).touch()
    assert asr.needs() == []


def test_the_class_that_hears_by_script_is_found_by_its_name() -> None:
    assert ScriptedWhisper(engine="scripted").model_class().__name__ == "ScriptedWhisperModel"
