"""Calibrations are kept for these weights on this machine, and not used when they do not fit."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.calibrating import stored
from pipelines.calibrating.decision import Measurement
from pipelines.calibrating.measuring import Weights
from pipelines.calibrating.stored import Calibration, Conditions, load, save
from voice.asr.whisper.decoding import FULL, Decoding

AUTO = Decoding(context="auto", least_context=5.0)


@pytest.fixture
def weights(tmp_path: Path) -> Weights:
    (tmp_path / "model.bin").write_bytes(b"weights")
    return Weights(name="tiny.en", path=tmp_path, device="cpu", compute_type="int8")


@pytest.fixture
def calibration(weights: Weights) -> Calibration:
    return Calibration(
        conditions=Conditions.of(weights),
        created="2026-11-22",
        weights="tiny.en",
        recordings="ours",
        words=(6, 10),
        rows=(
            Measurement(decoding=FULL, errors=(1, 0), seconds=(0.44, 0.52)),
            Measurement(decoding=AUTO, errors=(0, 1), seconds=(0.06, 0.08)),
        ),
        chosen=AUTO,
    )


def test_what_is_kept_is_found_again_without_a_word(tmp_path: Path, calibration: Calibration) -> None:
    said: list[str] = []
    assert load(calibration.conditions, tmp_path / "cache", say=said.append) is None
    save(calibration, tmp_path / "cache", say=said.append)
    assert load(calibration.conditions, tmp_path / "cache", say=said.append) == calibration
    assert said == []
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_it_says_what_was_chosen_beside_the_reference(calibration: Calibration) -> None:
    assert calibration.why == (
        "calibrated on 2026-11-22 with 2 utterances: full 480 ms, WER 6.2 %; auto of at least 5 s 70 ms, WER 6.2 %"
    )
    assert replace(calibration, chosen=replace(AUTO, threads=2)).why == calibration.why
    assert replace(calibration, chosen=FULL).why.endswith("utterances: full 480 ms, WER 6.2 %")


@pytest.mark.parametrize("change", [{"compute_type": "float32"}, {"cpu": "another"}, {"cores": 96}, {"sha256": "0"}])
def test_other_weights_or_another_machine_have_a_calibration_of_their_own(
    tmp_path: Path, calibration: Calibration, change: dict[str, str]
) -> None:
    save(calibration, tmp_path, say=print)
    assert load(replace(calibration.conditions, **change), tmp_path, say=print) is None


def test_the_checksum_is_of_the_weights(tmp_path: Path, weights: Weights) -> None:
    before = Conditions.of(weights)
    assert before == Conditions.of(weights)
    (tmp_path / "model.bin").write_bytes(b"other weights")
    assert Conditions.of(weights).file != before.file


def without_rows(text: str) -> str:
    return json.dumps({**json.loads(text), "rows": []})


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda text: text[: len(text) // 2], "cannot be read"),
        (lambda text: "\udc80", "cannot be read"),
        (lambda text: "[]", "cannot be read"),
        (lambda text: text.replace('"auto"', '"short"'), "cannot be read"),
        (without_rows, "is incomplete"),
        (lambda text: text.replace('"chosen"', '"other"'), "cannot be read"),
        (lambda text: text.replace('"int8"', '"int4"'), "was made with other compute_type"),
    ],
    ids=["cut off", "not text", "not an object", "an unknown context", "no rows", "no choice", "foreign"],
)
def test_a_file_that_cannot_be_used_is_ignored_with_one_sentence(
    tmp_path: Path, calibration: Calibration, damage: Callable[[str], str], sentence: str
) -> None:
    save(calibration, tmp_path / "cache", say=print)
    (path,) = (tmp_path / "cache").iterdir()
    path.write_bytes(damage(path.read_text()).encode("utf-8", "surrogateescape"))
    said: list[str] = []
    assert load(calibration.conditions, tmp_path / "cache", say=said.append) is None
    (line,) = said
    assert sentence in line
    assert line.endswith("so it is not used.")


def test_older_software_is_named_and_overwritten(
    tmp_path: Path, weights: Weights, calibration: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(calibration, tmp_path / "cache", say=print)
    monkeypatch.setattr(stored, "EDITION", stored.EDITION + 1)
    newer, said = Conditions.of(weights), list[str]()
    assert load(newer, tmp_path / "cache", say=said.append) is None
    assert "was made with other software" in said[0]
    save(replace(calibration, conditions=newer), tmp_path / "cache", say=said.append)
    assert len(list((tmp_path / "cache").iterdir())) == 1
    assert len(said) == 1


def test_a_folder_that_cannot_be_written_is_named_and_is_no_failure(tmp_path: Path, calibration: Calibration) -> None:
    (tmp_path / "file").write_text("")
    said: list[str] = []
    save(calibration, tmp_path / "file" / "cache", say=said.append)
    (line,) = said
    assert "cannot be written" in line
    assert line.endswith("so nothing will use it.")
