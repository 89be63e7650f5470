"""`latency analyse`: recordings in any form are judged, or refused in one sentence."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from latency.audio.recording import RATE
from latency.cli import main
from latency.record.run import Run
from latency.report.report import build
from pipelines.measuring.analyse import LEAKS, _leak
from tests.pipelines.measuring.test_recorded_call import call_of

STEREO = call_of([(1, 2), (5, 6)], [(2.5, 4), (6.3, 8)], seconds=10.0)
LATENCIES = [500.0, 300.0]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, stereo: np.ndarray = STEREO, rate: int = RATE, **how: str) -> str:
    samples = stereo / 32768
    soundfile.write(name, samples if rate == RATE else soxr.resample(samples, RATE, rate), rate, **how)
    return name


def latencies(folder: str = "run") -> list[float]:
    """The latencies of a run's turns, milliseconds."""
    outcomes = build(Run.load(Path(folder))).outcomes
    return [1000 * one.latency for one in outcomes if one.latency is not None]


def analysed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["analyse", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.parametrize(
    ("name", "rate", "how"),
    [
        ("call.wav", RATE, {}),
        ("call.wav", 8000, {"subtype": "ULAW"}),
        ("call.wav", 11025, {"subtype": "FLOAT"}),
        ("call.wav", 44100, {"subtype": "PCM_24"}),
        ("call.flac", 48000, {}),
        ("call.ogg", 48000, {}),
        ("call.mp3", 44100, {}),
    ],
)
def test_every_form_of_a_recording_has_its_latencies(
    name: str, rate: int, how: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = analysed(capsys, write(name, rate=rate, **how), "--out", "run")
    assert code == 0
    # Vorbis smears the beginning of a sound.
    assert latencies() == pytest.approx(LATENCIES, abs=25 if name.endswith(".ogg") else 10)
    assert ("converted to 16 kHz" in err) == (rate != RATE)


def test_the_report_is_printed_and_can_be_printed_again(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = analysed(capsys, write("call.wav"), "--out", "run")
    assert code == 0
    assert "2 of 2 answered" in out
    assert "from the estimated end" in out
    assert "endpointing wait" not in out
    assert main(["report", "run"]) == 0
    assert capsys.readouterr().out == out


def test_labels_replace_the_measured_ends(capsys: pytest.CaptureFixture[str]) -> None:
    Path("call.txt").write_text("1\t1.9\tspeech\n5\t5.95\tspeech\n")
    code, out, _ = analysed(capsys, write("call.wav"), "--labels", "call.txt", "--out", "run")
    assert code == 0
    assert "from the labelled end" in out
    assert latencies() == pytest.approx([600, 350], abs=1)


def test_the_caller_may_be_on_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, _ = analysed(capsys, write("call.wav", STEREO[:, ::-1]), "--caller", "right", "--out", "run")
    assert code == 0
    assert latencies() == pytest.approx(LATENCIES, abs=10)


def test_several_calls_are_sessions_of_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = analysed(capsys, write("a.wav"), write("b.flac"), "--out", "run", "--check", "turn p50 < 450")
    assert code == 0
    assert "4 of 4 answered" in out
    assert "passed" in out
    assert analysed(capsys, "a.wav", "b.flac", "--out", "again", "--check", "turn p50 < 300")[0] == 1


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = analysed(capsys, write("call.wav"), "--json")
    assert code == 0
    assert json.loads(out)["turns"]["answered"] == 2
    assert [path.name[-8:] for path in Path("runs").iterdir()] == ["-analyse"]


def test_an_agent_that_never_answers_has_no_latency(capsys: pytest.CaptureFixture[str]) -> None:
    stereo = call_of([(3, 4)], [(1, 2)], seconds=9.0)
    code, out, err = analysed(capsys, write("call.wav", stereo), "--out", "run")
    assert code == 3
    assert "no speech from the bot" in err
    assert "Unanswered" in out


CLIPPED = np.clip(STEREO.astype(np.int32) * 20, -32768, 32767).astype(np.int16)
LEAKING = np.stack([STEREO[:, 0], STEREO[:, 1] + STEREO[:, 0] // 5], axis=1)


@pytest.mark.parametrize(
    ("stereo", "note"),
    [(CLIPPED, "% of the caller's samples are clipped"), (LEAKING, "one side is also heard on the other's channel")],
)
def test_doubts_are_said(stereo: np.ndarray, note: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert note in analysed(capsys, write("call.wav", stereo), "--out", "run")[2]
    assert len(latencies()) == 2


@pytest.mark.parametrize("latency", [0.15, 0.2, 0.25, 0.3])
@pytest.mark.parametrize("noise", [0, 30])
def test_only_a_voice_on_the_others_channel_is_a_leak(
    latency: float, noise: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """A steady latency alone is none: question and answer then only just meet at a delay beyond it."""
    starts = range(1, 21, 5)
    stereo = call_of([(s, s + 1.5) for s in starts], [(s + 1.5 + latency, s + 4) for s in starts], seconds=22.0)
    stereo = np.round(stereo + np.random.default_rng(1).normal(0, noise, stereo.shape)).astype(np.int16)
    assert "note:" not in analysed(capsys, write("separate.wav", stereo), "--out", "run")[2]
    for side in (0, 1):
        leaking = stereo.copy()
        leaking[800:, 1 - side] += np.round(stereo[:-800, side] * 10 ** (-30 / 20)).astype(np.int16)
        assert _leak(leaking) > 1.5 * LEAKS


def test_a_recording_that_is_cut_off_is_judged_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("call.wav", "call.aiff"):
        whole = Path(write(name)).read_bytes()
        Path(name).write_bytes(whole[: len(whole) * 9 // 10])
        code, _, err = analysed(capsys, name, "--out", name.replace(".", "-"))
        assert code == 0
        assert f"note: {name}: the file is cut off: it ends after 9.0 s, and its header promises more" in err
    unknown = bytearray(Path(write("call.wav")).read_bytes())
    unknown[40:44] = b"\xff\xff\xff\xff"
    Path("call.wav").write_bytes(unknown)
    assert analysed(capsys, "call.wav", "--out", "run")[2] == ""


def test_the_report_leaves_out_what_a_recording_cannot_tell(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = analysed(capsys, write("call.wav"), "--out", "run")
    for part in ("LLM budget", "residual", "stalls", "answers ok", "heard ", "said", "ended by", "ok?", "slowest"):
        assert part not in out, part
    assert any(line.split() == ["turn", "ms", "remarks"] for line in out.splitlines())
    assert "0      500   end of speech estimated" in out


SILENT = np.zeros((5 * RATE, 2), np.int16)
ONE_SIDED = STEREO * np.array([1, 0], np.int16)
REFUSED = {
    "mono": (STEREO[:, 0], 2, "the recording is mono. Who spoke when cannot be told from one channel"),
    "twice": (np.stack([STEREO.sum(axis=1)] * 2, axis=1), 2, "both channels hold the same sound"),
    "three": (np.zeros((RATE, 3), np.int16), 2, "the recording has 3 channels"),
    "empty": (np.zeros((0, 2), np.int16), 2, "the recording is empty"),
    "silent": (SILENT, 3, "no voice was found on the agent's channel"),
    "agentless": (ONE_SIDED, 3, "no voice was found on the agent's channel"),
    "callerless": (ONE_SIDED[:, ::-1], 3, "no voice was found on the left channel; if the caller is on the other"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_judged_is_refused_in_one_sentence(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    stereo, status, sentence = REFUSED[name]
    code, out, err = analysed(capsys, write(f"{name}.wav", stereo), "--out", "run")
    assert (code, out) == (status, "")
    assert f"latency: {name}.wav: {sentence}" in err
    assert len(err.splitlines()) == 1
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("nowhere.wav", "nowhere.wav: there is no such recording."),
        (".", ".: this is a folder, not a recording; name a file in it."),
        ("labels.txt", "labels.txt: not audio that libsndfile can read"),
        ("a.wav a.wav", 'Two of the calls are called "a"; rename one'),
        ("a.wav b.wav --labels labels.txt", "--labels belongs to one recording"),
        ("a.wav --labels nowhere.txt", "nowhere.txt: cannot be read: No such file or directory."),
        ("a.wav --labels words.txt", "words.txt: not a label file"),
        ("a.wav --labels coughs.txt", "coughs.txt: the labels hold no speech; label the caller's words."),
        ("a.wav --labels late.txt", "late.txt line 1: the label ends at 99 s, outside the recording of 10 s."),
        ("a.wav --caller middle", '--caller takes left or right, not "middle"'),
        ("a.wav --check cheap", '"cheap" is no threshold'),
        ("a.wav --out a.wav", "No run can be written to"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(
    arguments: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("a.wav")
    write("b.wav")
    Path("labels.txt").write_text("1\t2\tspeech\n")
    Path("words.txt").write_text("hello\n")
    Path("coughs.txt").write_text("1\t2\tcough\n")
    Path("late.txt").write_text("1\t99\tspeech\n")
    try:
        code = main(["analyse", *arguments.split()])
    except SystemExit as stopped:
        code = stopped.code
    err = capsys.readouterr().err
    assert code == 2
    assert sentence in err
    assert len(err.splitlines()) == 1
    assert not list(Path("runs").glob("*"))


def test_calls_before_a_broken_one_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = analysed(capsys, write("a.wav"), write("b.wav", SILENT), "--out", "run")
    assert code == 3
    assert len(latencies()) == 2
    assert err.splitlines()[0] == "note: the calls before are kept in run"
