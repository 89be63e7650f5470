"""From real passes of a model to the setting in force; the models' words are scripted, their computing is real."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pipelines import settings
from pipelines.bench.scripted import model_folder
from pipelines.bench.scripted.model import build_for_fixtures
from pipelines.calibrating import calibrate as calibrating
from pipelines.calibrating import measuring
from pipelines.cli import main
from pipelines.engines.whisper import Whisper, WhisperRecogniser
from voice.pass_queue import WithdrawnError

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
    return rename(build_for_fixtures(folder, [SAMPLES], size="quick", misheard=0))


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
    assert rows[0].split()[0] == "full"
    assert len([row for row in rows if row.startswith("→ auto")]) == 1
    assert all("0.0 %" in row for row in rows)
    assert "utterances with" in shown.out
    assert all(len(line) <= 80 for line in shown.out.splitlines())
    assert "recordings heard in 4 ways" in shown.err
    assert len(list(cache.glob("whisper-*.json"))) == 1
    name = asyncio.run(started(recogniser(understanding)))
    assert "context auto of at least" in name
    assert "; calibrated on 20" in name
    assert "Calibrating" not in capsys.readouterr().err


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


class Measurement:
    """Takes the place of the passes; counts how often it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        measured = measuring.measure_all

        def injected(hear: Any, found: Any, **options: Any) -> Any:
            self.times += 1
            texts = {id(one.samples): one.text for one in found}
            now = [0.0]

            def heard(decoding: Any, samples: Any) -> str:
                now[0] += 0.48 if decoding.context == "full" else 0.06 + decoding.least_context / 1000
                return texts[id(samples)]

            return measured(heard, found, cores=1, clock=lambda: now[0], **options)

        monkeypatch.setattr(calibrating, "measure_all", injected)


def test_the_first_start_measures_says_so_and_the_second_does_not(
    understanding: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measurement = Measurement(monkeypatch)
    name = asyncio.run(started(recogniser(understanding)))
    assert "(int8, cpu, context auto of at least 5 s; calibrated on 20" in name
    assert "full 480 ms, WER 0.0 %; auto of at least 5 s 65 ms, WER 0.0 %" in name
    said = capsys.readouterr().err
    assert said.startswith("Calibrating Whisper weights for this machine, once: ")
    assert "words, about 60 s\n" in said
    assert "\nWhisper weights is calibrated on 20" in said
    assert asyncio.run(started(recogniser(understanding))) == name
    assert measurement.times == 1
    assert capsys.readouterr().err == ""
    (file,) = cache.glob("whisper-*.json")
    file.write_text("{")
    assert asyncio.run(started(recogniser(understanding))) == name
    assert measurement.times == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.usefixtures("cache")
def test_what_is_set_wins_and_is_not_measured(understanding: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measurement = Measurement(monkeypatch)
    assert "context full; as set" in asyncio.run(started(recogniser(understanding, "asr.context=full")))
    auto = ["asr.context=auto", "asr.least_context_ms=8000", "asr.beam_size=2", "asr.threads=2"]
    name = asyncio.run(started(recogniser(understanding, *auto)))
    assert "context auto of at least 8 s, beam 2, 2 threads; as set" in name
    assert measurement.times == 0
    name = asyncio.run(started(recogniser(understanding, "asr.beam_size=3")))
    assert "context auto of at least 5 s, beam 3; calibrated" in name
    assert measurement.times == 1


@pytest.mark.usefixtures("cache")
def test_scripted_weights_take_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measurement = Measurement(monkeypatch)
    folder = build_for_fixtures(tmp_path / "model", [SAMPLES / "commands"], size="quick")
    assert "context full; scripted weights are not calibrated" in asyncio.run(started(recogniser(folder)))
    assert "context auto of at least 6 s; as set" in asyncio.run(started(recogniser(folder, "asr.context=auto")))
    assert measurement.times == 0


@pytest.mark.usefixtures("cache")
def test_without_samples_the_whole_window_is_used_and_the_reason_said(
    understanding: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(calibrating, "SAMPLES", tmp_path / "absent")
    assert "context full; not calibrated" in asyncio.run(started(recogniser(understanding)))
    assert "asr.context stays full: the sample recordings" in capsys.readouterr().err


async def give_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin to start a recogniser, and cancel that while it measures; returns when it has stopped."""
    loop = asyncio.get_running_loop()
    begun, stopped = asyncio.Event(), asyncio.Event()
    measured = measuring.measure_all

    def noting(*args: Any, **options: Any) -> Any:
        loop.call_soon_threadsafe(begun.set)
        try:
            return measured(*args, **options)
        except WithdrawnError:
            loop.call_soon_threadsafe(stopped.set)
            raise

    monkeypatch.setattr(calibrating, "measure_all", noting)
    starting = asyncio.create_task(recogniser(folder).start())
    await asyncio.wait_for(begun.wait(), 60)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await asyncio.wait_for(stopped.wait(), 60)


def test_a_start_that_is_given_up_stops_measuring_and_keeps_nothing(
    understanding: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(give_up(understanding, monkeypatch))
    assert not cache.exists()
