from pathlib import Path

import pocketsphinx
import pytest
from loguru import logger

from voice.asr.sphinx.language_model import GENERAL, build_language_model, pronounceable
from voice.errors import ComponentError, ConfigurationError

SENTENCES = ["what time is it", "set a timer for ten seconds", "what is seven times eight"]


def test_the_model_is_built_once(tmp_path: Path) -> None:
    lines: list[str] = []
    sink = logger.add(lines.append, level="INFO", format="{message}")
    asked = 0

    def sentences() -> list[str]:
        nonlocal asked
        asked += 1
        return SENTENCES

    first = build_language_model(sentences, edition="a", cache=tmp_path)
    assert first.path is not None
    built = first.path.stat().st_mtime_ns
    second = build_language_model(sentences, edition="a", cache=tmp_path)
    logger.remove(sink)
    assert second == first
    assert first.path.stat().st_mtime_ns == built
    assert [line for line in lines if "Built the speech recogniser's language model from 3 sentences" in line] == lines
    assert list(tmp_path.iterdir()) == [first.path]
    assert asked == 1, "they take time, too"


def test_pocketsphinx_loads_what_was_built(tmp_path: Path) -> None:
    model = build_language_model(lambda: SENTENCES, edition="a", cache=tmp_path)
    general = pocketsphinx.NGramModel.readfile(str(Path(pocketsphinx.get_model_path()) / "en-us" / "en-us.lm.bin"))
    built = pocketsphinx.NGramModel.readfile(str(model.path))
    assert built.prob(["timer", "a", "set"]) > general.prob(["timer", "a", "set"])


def test_other_sentences_or_weights_make_other_models(tmp_path: Path) -> None:
    paths = {
        build_language_model(lambda: SENTENCES, edition="a", cache=tmp_path).path,
        build_language_model(lambda: SENTENCES[:2], edition="b", cache=tmp_path).path,
        build_language_model(lambda: SENTENCES, edition="a", domain_weight=0.7, cache=tmp_path).path,
    }
    assert len(paths) == 3


def test_weight_zero_is_the_general_model(tmp_path: Path) -> None:
    assert build_language_model(lambda: SENTENCES, edition="a", domain_weight=0, cache=tmp_path) == GENERAL
    assert list(tmp_path.iterdir()) == []


def test_sentences_that_cannot_be_pronounced_are_skipped_and_counted(tmp_path: Path) -> None:
    lines: list[str] = []
    sink = logger.add(lines.append, level="INFO", format="{message}")
    build_language_model(lambda: [*SENTENCES, "spell qwrtz", "what is 7"], edition="a", cache=tmp_path)
    logger.remove(sink)
    assert lines[0].strip() == "Speech recogniser: 2 of 5 sentences skipped, because its dictionary lacks 7, qwrtz."
    assert pronounceable(["spell qwrtz", "hello"]) == (["hello"], {"qwrtz"})


def test_sentences_in_another_spelling_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="lower case"):
        build_language_model(lambda: ["What Time?", "It's 5!"], edition="a", cache=tmp_path)


@pytest.mark.parametrize("weight", [-0.1, 1.0, 2.0])
def test_a_weight_out_of_range_is_refused(weight: float, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="domain_weight"):
        build_language_model(lambda: SENTENCES, edition="a", domain_weight=weight, cache=tmp_path)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ComponentError, match="XDG_CACHE_HOME"):
        build_language_model(lambda: SENTENCES, edition="a", cache=tmp_path / "file")
