"""A pipeline file is checked before anything runs; each error names file, key and what is allowed."""

from pathlib import Path

import pytest

from pipelines import settings
from voice.errors import ConfigurationError


@pytest.mark.parametrize("name", settings.names())
def test_every_shipped_pipeline_is_valid_and_says_what_it_is(name: str) -> None:
    assert settings.load(name).description


def test_single_settings_are_overridden_with_their_types() -> None:
    found = settings.load("embedded", ["turns.fallback_ms=600", "turns.detector=silence", "vad.min_volume=0.2"])
    assert (found.turns.fallback_ms, found.turns.detector, found.vad.min_volume) == (600, "silence", 0.2)


BAD = [
    ("nowhere", [], r'no pipeline "nowhere"; use one of auto, embedded, local, openai'),
    (
        "embedded",
        ["turns.fallback=3"],
        r"embedded.toml: turns.fallback is not a setting; known here: detector",
    ),
    ("embedded", ["turns.fallback_ms=30"], r"turns.fallback_ms = 30 .* greater than or equal to 100"),
    ("embedded", ["turns.detector=psychic"], r"turns.detector = 'psychic' .* 'smart-turn' or 'silence'"),
    ("embedded", ["asr.engine=ears"], r"asr.engine must be one of sphinx, whisper"),
    ("embedded", ["asr.model=x"], r"asr.model is not a setting; known here: engine, domain_weight"),
    ("embedded", ["llm.provider=openai"], r"llm.model is missing"),
    ("embedded", ["fast=yes"], r"fast is not a setting"),
    ("embedded", ["fast"], r"--set takes key=value"),
    ("embedded", ["vad.start_ms.x=3"], r'"start_ms" is a value, not a table'),
]


@pytest.mark.parametrize(("pipeline", "overrides", "sentence"), BAD)
def test_a_wrong_setting_gets_one_clear_sentence(pipeline: str, overrides: list[str], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as caught:
        settings.load(pipeline, overrides)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[asr\n")
    with pytest.raises(ConfigurationError, match="mine.toml cannot be read as a pipeline file"):
        settings.load(str(path))


def test_a_pipeline_of_ones_own_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[asr]\nengine = "sphinx"\n[llm]\nprovider = "responder"\n')
    assert settings.load(str(path)).name == "mine"
