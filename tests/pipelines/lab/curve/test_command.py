"""`latency curve` from the command line: recordings to a file, the file to tables, and what it refuses."""

import json
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import psutil
import pytest
import soundfile

from pipelines.lab.curve.command import main
from pipelines.samples import PEOPLE
from tests.pipelines.lab.curve.rig import SAMPLES
from tests.pulled import use_pulled

ROOT = Path(__file__).resolve().parents[4]


def test_the_latency_command_has_a_curve_command() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["entry-points"]["latency.commands"]["curve"].partition(":")
    assert getattr(import_module(module), function) is main


def test_recordings_are_heard_once_and_the_file_gives_the_same_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("02.wav", "02.txt"):
        shutil.copy(SAMPLES / "pauses" / name, tmp_path)
    reports = tmp_path / "reports.jsonl"
    assert main([str(tmp_path / "02.wav"), "--save", str(reports)]) == 0
    heard = capsys.readouterr()
    assert f"saved: {reports}" in heard.err
    assert "People outside the fit: 1 turn by 1 speaker, 1 pause of 0.90 to 0.90 s" in heard.out
    assert main([str(reports)]) == 0
    assert capsys.readouterr().out == heard.out
    assert main([str(reports), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["curves"][0]["turns"] == 1


def test_the_real_recogniser_hears_the_words_and_the_reader_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_pulled(monkeypatch, "tiny.en", "smollm2-135m")
    saved = tmp_path / "coffee.jsonl"
    command = [sys.executable, "-m", "latency", "curve", str(PEOPLE / "coffee"), "--save", str(saved)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    silences = [silence for line in saved.read_text().splitlines()[1:] for silence in json.loads(line)["silences"]]
    ends = [silence for silence in silences if silence["kind"] == "end"]
    assert len(ends) >= 10
    assert all(silence["heard"] and 0 <= silence["ends"] <= 1 for silence in ends)
    again = subprocess.run([*command[:4], str(saved)], capture_output=True, text=True, timeout=60)
    assert again.returncode == 0, again.stderr
    assert again.stdout == done.stdout


def test_a_file_that_cannot_be_written_is_refused_before_the_recordings_are_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    for target in (tmp_path / "folder.jsonl", tmp_path / "nowhere" / "x.jsonl"):
        assert main([str(SAMPLES / "pauses"), "--save", str(target)]) == 2
        shown = capsys.readouterr()
        assert f"{target} cannot be written" in " ".join(shown.err.split())
        assert "heard" not in shown.err
    assert not (tmp_path / "nowhere").exists()


def test_people_are_heard_where_no_recordings_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pipelines.samples.PEOPLE", tmp_path / "absent")
    assert main([]) == 2
    assert "The sample recordings are not installed" in capsys.readouterr().err
    for ending in ("flac", "txt"):
        shutil.copy(PEOPLE / "prompts" / f"ast_conf-locked.{ending}", tmp_path)
    monkeypatch.setattr("pipelines.samples.PEOPLE", tmp_path)
    assert main([]) == 0
    assert "People outside the fit: 1 turn by 1 speaker" in capsys.readouterr().out


def test_pauses_are_inserted_and_kept_beside_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("03.wav", "03.txt"):
        shutil.copy(SAMPLES / "long_sentences" / name, tmp_path)
    reports = tmp_path / "reports.jsonl"
    assert main([str(tmp_path / "03.wav"), "--pauses", "2", "--save", str(reports)]) == 0
    printed = capsys.readouterr().out
    assert "2 turns by 1 speaker, 2 pauses" in printed
    assert "In 2 turns a pause was inserted" in printed
    assert len(list((tmp_path / "reports").glob("*.wav"))) == 2
    assert main([str(tmp_path / "03.wav"), "--pauses", "2", "--save", str(reports)]) == 2
    assert "is not empty; name another file" in capsys.readouterr().err


def test_ctrl_c_ends_the_listeners_in_a_sentence() -> None:
    command = [sys.executable, "-m", "latency", "curve", str(SAMPLES / "pauses"), "--pauses", "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as curve:
        listeners: list[psutil.Process] = []
        # Multiprocessing's resource tracker is the first child.
        while len(listeners) < 2 and curve.poll() is None:
            time.sleep(0.05)
            listeners = psutil.Process(curve.pid).children()
        curve.send_signal(signal.SIGINT)
        printed, said = curve.communicate(timeout=20)
    assert (curve.returncode, printed, said) == (130, "", "latency: interrupted\n")
    assert psutil.wait_procs(listeners, timeout=10)[1] == []


def test_speech_that_the_detector_does_not_notice_is_no_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soundfile.write(tmp_path / "hum.wav", np.full(32000, 1e-3), 16000)
    (tmp_path / "hum.txt").write_text("0.5\t1.5\tspeech\n")
    assert main([str(tmp_path / "hum.wav")]) == 3
    assert "the voice detector noticed no end of speech in any recording" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no-such-folder"], "there is no such file or folder"),
        (["some.wav", "--save", "some.txt"], "--save takes a file that ends in .jsonl, not some.txt"),
        (["a.jsonl", "b.wav"], "a.jsonl is read alone"),
        (["a.jsonl", "--pauses", "2"], "--pauses needs recordings, not a.jsonl"),
        (["no-such.jsonl"], "no-such.jsonl cannot be read"),
    ],
)
def test_bad_usage_is_one_sentence(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert sentence in told
