"""From real passes of a model to the setting in force; the models' words are scripted, their computing is real."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pipelines import settings
from pipelines.calibrating import calibrate as calibrating
from pipelines.calibrating import measuring
from pipelines.cli import main
from pipelines.engines.whisper import Whisper, WhisperRecogniser
from pipelines.lab.scripted import model_folder
from pipelines.lab.scripted.model import build_for_fixtures

SAMPLES = Path(__file__).resolve().parents[3] / "samples"


def rename(folder: Path, name: str = "weights") -> Path:
    """Let scripted weights pass for real ones, which are not to be had here."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "name": name}))
    return folder


@pytest.fixture(scope="module")
def understanding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that understands every word of our samples."""
    folder = tmp_path_factory.mktemp("weights")
    return rename(build_for_fixtures(folder, [SAMPLES, SAMPLES / "people"], size="quick", misheard=0))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "turnaround"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """As few recordings as can decide."""
    monkeypatch.setattr(measuring, "BUDGET", 0.0)


def recogniser(folder: Path, *overrides: str) -> WhisperRecogniser:
    asr = settings.load("local", ["asr.engine=scripted", f"asr.model={folder}", *overrides]).asr
    assert isinstance(asr, Whisper)
    return WhisperRecogniser(asr, "en")


async def started(recogniser: WhisperRecogniser) -> str:
    """The recogniser's name once it has started."""
    await recogniser.start()
    await recogniser.close()
    return recogniser.name


@pytest.mark.usefixtures("quick")
def test_the_command_shows_its_table_and_the_next_start_uses_the_result(
    understanding: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ["--pipeline", "local", "--set", "asr.engine=scripted", "--set", f"asr.model={understanding}"]
    assert main(["calibrate", *model]) == 0
    shown = capsys.readouterr()
    rows = [line for line in shown.out.splitlines() if " ms " in line]
    assert [row[2:].split(" of ")[0].split()[0] for row in rows] == ["full", "auto", "auto"]
    assert len([row for row in rows if row.startswith("→ auto")]) == 1
    assert all("0.0 %" in row for row in rows)
    assert "utterances with" in shown.out
    assert all(len(line) <= 80 for line in shown.out.splitlines())
    assert "recordings heard in 3 ways" in shown.err
    assert len(list(cache.glob("whisper-*.json"))) == 1
    name = asyncio.run(started(recogniser(understanding, "asr.context=measured")))
    assert "context auto of at least" in name
    assert "; calibrated on 20" in name
    assert "beam 3; calibrated" in asyncio.run(
        started(recogniser(understanding, "asr.context=measured", "asr.beam_size=3", "asr.threads=1"))
    )
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("cache")
def test_scripted_weights_are_refused_with_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = model_folder.build(tmp_path / "model", text="Yes.")
    assert main(["calibrate", "--pipeline", "local", "--set", f"asr.model={folder}"]) == 2
    assert capsys.readouterr().err.startswith("voice: scripted:whisper hears scripted words, so its errors mean noth")


def test_a_pipeline_without_whisper_is_refused_with_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--pipeline", "embedded"]) == 2
    assert "Only Whisper is calibrated, and this pipeline recognises with sphinx" in capsys.readouterr().err


def test_too_few_words_decide_nothing_and_keep_nothing(
    understanding: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ["--pipeline", "local", "--set", "asr.engine=scripted", "--set", f"asr.model={understanding}"]
    assert main(["calibrate", str(SAMPLES / "commands"), *model]) == 3
    assert "5 utterances with" in capsys.readouterr().err
    assert not cache.exists()


@pytest.mark.usefixtures("quick")
def test_weights_that_hear_other_words_decide_nothing(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = rename(model_folder.build(tmp_path / "model", text="Thank you for watching."))
    assert main(["calibrate", "--pipeline", "local", "--set", f"asr.model={folder}"]) == 3
    assert "even with its whole window" in capsys.readouterr().err
    assert not cache.exists()


def test_the_least_context_is_measured_as_set(
    understanding: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measuring, "BUDGET", 0.0)
    monkeypatch.setattr(calibrating, "save", lambda *_, **__: None)
    model = ["--pipeline", "local", "--set", "asr.engine=scripted", "--set", f"asr.model={understanding}"]
    assert main(["calibrate", *model, "--set", "asr.least_context_ms=8000"]) == 0
    assert "auto of at least 8 s, beam 5" in capsys.readouterr().out


@pytest.mark.usefixtures("cache")
def test_what_is_set_wins_and_the_default_needs_no_calibration(
    understanding: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "context auto of at least 6 s; as set" in asyncio.run(started(recogniser(understanding)))
    assert "context full; as set" in asyncio.run(started(recogniser(understanding, "asr.context=full")))
    auto = ["asr.context=auto", "asr.least_context_ms=8000", "asr.beam_size=2", "asr.threads=2"]
    name = asyncio.run(started(recogniser(understanding, *auto)))
    assert "context auto of at least 8 s, beam 2, 2 threads; as set" in name
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("cache")
def test_measured_without_a_calibration_is_auto_and_says_what_to_do(
    understanding: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = asyncio.run(started(recogniser(understanding, "asr.context=measured")))
    assert "context auto of at least 6 s; not calibrated" in name
    assert "run `voice calibrate`" in " ".join(capsys.readouterr().err.split())


def test_recordings_of_people_decide_where_they_are_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = measuring.Weights(name="tiny.en", path=tmp_path, device="cpu", compute_type="int8")
    taken: list[list[Path]] = []

    def noting(sources: list[Path]) -> list[Any]:
        taken.append(sources)
        return []

    monkeypatch.setattr(calibrating, "load_fixtures", noting)
    monkeypatch.setattr(calibrating, "SAMPLES", tmp_path)
    monkeypatch.setattr(calibrating, "PEOPLE", tmp_path / "people")
    for _ in range(2):
        with pytest.raises(calibrating.NothingDecidedError, match="0 utterances"):
            calibrating.calibrate(weights, [], folder=tmp_path)
        (tmp_path / "people").mkdir(exist_ok=True)
    assert taken == [[tmp_path], [tmp_path / "people"]]
    monkeypatch.setattr(calibrating, "SAMPLES", tmp_path / "absent")
    monkeypatch.setattr(calibrating, "PEOPLE", tmp_path / "absent")
    with pytest.raises(calibrating.NothingDecidedError, match="not installed"):
        calibrating.calibrate(weights, [], folder=tmp_path)
