"""A file of detectors' reports is read as it was written, and refused once something has changed."""

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.lab.curve.command import main
from pipelines.lab.curve.recorded import DetectorReports, load, save
from tests.pipelines.lab.curve.rig import recorded
from voice.errors import FixtureError


@pytest.fixture
def reports() -> DetectorReports:
    return recorded("pauses", 1)


def test_what_is_saved_is_read_again(reports: DetectorReports, tmp_path: Path) -> None:
    save(reports, tmp_path / "new" / "reports.jsonl")
    assert load(tmp_path / "new" / "reports.jsonl", reports.detectors) == (reports, [])


def test_another_model_is_refused(reports: DetectorReports, tmp_path: Path) -> None:
    save(replace(reports, detectors=replace(reports.detectors, smart_turn="0" * 64)), tmp_path / "reports.jsonl")
    with pytest.raises(FixtureError, match="Smart Turn has changed since it was recorded"):
        load(tmp_path / "reports.jsonl", reports.detectors)


def test_another_recording_is_refused_and_a_missing_one_is_said(reports: DetectorReports, tmp_path: Path) -> None:
    wav = tmp_path / "other.wav"
    (clip,) = reports.clips
    save(replace(reports, clips=(replace(clip, wav=str(wav)),)), tmp_path / "reports.jsonl")
    _, notices = load(tmp_path / "reports.jsonl", reports.detectors)
    assert notices == ["1 of 1 recordings are not here, so they were not compared"]
    wav.write_bytes(b"RIFF")
    with pytest.raises(FixtureError, match=r"other\.wav has changed since it was recorded; record it again"):
        load(tmp_path / "reports.jsonl", reports.detectors)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "holds no reports of detectors"),
        ("not json\n", "not JSON"),
        ('{"form": 99}\n', "was written by another version"),
    ],
)
def test_another_file_is_refused_with_a_sentence(
    content: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "some.jsonl").write_text(content)
    assert main([str(tmp_path / "some.jsonl")]) == 2
    assert sentence in capsys.readouterr().err
