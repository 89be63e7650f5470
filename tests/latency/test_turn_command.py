import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from latency.record.run import RunHeader
from latency.record.run_writer import RunWriter
from latency.record.session import Pacing, Session
from latency.record.turn import TurnRecord
from latency.turn_command import ExcerptError, default_path, main, write_excerpt
from tests.latency.conversations import Conversation, MakeRun

ROOT = Path(__file__).parents[2]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def two_sessions(tmp_path: Path) -> Path:
    header = RunHeader(created="2026-11-20T17:03:12+01:00", pipeline={"name": "embedded"}, simulated=["sim:tier"])
    writer = RunWriter(tmp_path / "desk" / "runs" / "20261120-170312-embedded", header=header)
    for name in ("arithmetic", "small talk"):
        writer.add_turns(
            TurnRecord(session=name, turn=n, speech=((1.0 + 5 * n, 2.0 + 5 * n),), wants_answer=True) for n in (0, 1)
        )
        wav = writer.write_session_wav(name, Conversation(12).user(1, 2).bot(2.6, 4).user(6, 7).bot(7.9, 9).samples)
        writer.add_session(Session(name=name, wav=wav))
    return writer.finish("complete")


def test_a_turn_is_explained_and_drawn(short_run: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(short_run), "0"]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == f"{short_run}: turn 0 of session commands"
    assert lines[1] == "600 ms: synthesis took 170 ms to its first sample; then sending and playout took 100 ms"
    drawn = {line[:20].strip(): line for line in lines if "│" in line}
    assert drawn["endpointing wait"].split()[2:4] == ["200", "200"]
    assert "█" in drawn["speech synthesis"]
    assert drawn["bot"].endswith("first audible after 600 ms")
    for part in (
        "text      what is seven times eight",
        "heard     what is seven times eight",
        "said      7 times 8 is 56.",
        'answer ok yes; a right answer contains "56"',
    ):
        assert part in lines
    assert "spoken" in out.split("model and outcome")[1]


def test_its_audio_is_cut_out_of_the_recording(short_run: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(short_run), "0"]) == 0
    path = short_run / "turn-0.wav"
    assert list(here.iterdir()) == [], "nothing is left where the command was typed"
    # The line is folded at the console's width.
    out = " ".join(capsys.readouterr().out.split())
    assert f"audio {path}: 0.50 s to 4.50 s, left the user, right the bot" in out
    with wave.open(str(path), "rb") as cut, wave.open(str(short_run / "commands.wav"), "rb") as whole:
        whole.setpos(8000)
        assert cut.readframes(64000) == whole.readframes(64000)
    # Shown again, it finds its own file.
    assert main([str(short_run), "0"]) == 0


def test_an_existing_file_is_never_overwritten_and_refused_if_the_user_named_it(
    short_run: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = here / "mine.wav"
    mine.write_text("mine")
    assert main([str(short_run), "0", "--wav", "mine.wav"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "latency: mine.wav exists and holds something else; name another file with --wav\n"
    (short_run / "turn-0.wav").write_text("mine too")
    assert main([str(short_run), "0"]) == 0
    assert "no audio: " in " ".join(capsys.readouterr().out.split())
    assert (short_run / "turn-0.wav").read_text() == "mine too"


def test_with_no_wav_no_file_is_written(short_run: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(short_run), "3", "--no-wav"]) == 0
    assert list(here.iterdir()) == list(short_run.glob("turn-*")) == []
    out = capsys.readouterr().out
    assert "no answer: nothing heard" in out
    assert "audio" not in out.split("text ")[1]


def test_the_newest_run_is_taken_and_a_session_where_there_are_several(
    two_sessions: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["small talk", "1"], ["1", "--session", "small talk"], [str(two_sessions), "small talk", "1"]):
        assert main(words) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "turn 1 of session small talk" in out
        assert "SIMULATED, not real: sim:tier" in out
        assert "first audible after 900 ms" in out
    assert [path.name for path in two_sessions.glob("*turn*.wav")] == ["small-talk-turn-1.wav"]
    assert list(here.glob("*.wav")) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["1"], "has several sessions: name one of arithmetic, small talk before the turn's number"),
        (["music", "1"], '"music" is neither a run folder nor a session of runs/20261120-170312-embedded, which has '
         "arithmetic, small talk"),
        (["arithmetic", "7"], "session arithmetic of runs/20261120-170312-embedded has no turn 7; its turns are 0, 1"),
        (["arithmetic", "last"], 'a turn has a number, as in the report, not "last"; write `latency turn RUN N`'),
        (["a", "b", "c", "1"], "too many arguments; write `latency turn RUN SESSION N`"),
        (["runs/gone", "1"], "runs/gone does not exist"),
    ],
)  # fmt: skip
def test_a_turn_that_does_not_exist_is_bad_usage_and_the_message_names_what_exists(
    two_sessions: Path, here: Path, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in captured.err


def test_no_run_yet_is_no_data(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["1"]) == 3
    assert "run `voice replay` first" in capsys.readouterr().err


def test_a_session_without_a_recording_is_shown_without_audio(
    make_run: MakeRun, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_run([TurnRecord(session="commands", turn=0, speech=((1.0, 2.0),), wants_answer=True)], None)
    assert main([str(folder), "0"]) == 0
    out = capsys.readouterr().out
    assert "no answer: recording lost" in out
    assert "no audio: this session has no recording" in out


def test_a_refused_run_says_so_above_each_of_its_turns(
    make_run: MakeRun, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turn = TurnRecord(session="commands", turn=0, speech=((1.0, 2.0),), wants_answer=True)
    folder = make_run([turn], None, pacing=Pacing(frames=1000, late_over_20ms=50))
    assert main([str(folder), "0"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "note: latencies are refused: the user's audio was not fed in real time" in out


def test_a_pipe_in_ascii_gets_plain_lines(short_run: Path, here: Path) -> None:
    command = [sys.executable, "-m", "latency", "turn", str(short_run), "0", "--no-wav"]
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(command, cwd=here, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"\x1b" not in done.stdout
    text = done.stdout.decode("ascii")
    assert "# critical path" in text
    heading, *lines = text.splitlines()
    assert heading.startswith(str(short_run)), "whole, however long the folder's name is"
    assert max(map(len, lines)) <= 120


def test_a_reader_that_leaves_early_is_no_error(short_run: Path, here: Path) -> None:
    command = [sys.executable, "-m", "latency", "turn", str(short_run), "0", "--no-wav"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.close()
        assert run.stderr.read() == b""
        assert run.wait(30) == 0


STEREO = np.arange(2 * 16000 * 4, dtype=np.int16).reshape(-1, 2)


def turn(**values: object) -> TurnRecord:
    record = {"session": "two callers", "turn": 3, "wants_answer": False, "speech": [[5, 6]], **values}
    return TurnRecord.from_json(record)


def test_the_file_is_in_the_run_folder_and_named_after_session_and_turn() -> None:
    run = Path("runs/20261120-1703")
    assert default_path(run, turn(), several=True) == run / "two-callers-turn-3.wav"
    assert default_path(run, turn(), several=False) == run / "turn-3.wav"


def test_the_sound_is_that_of_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "turn.wav"
    write_excerpt(path, STEREO, (1.0, 2.5))
    with wave.open(str(path), "rb") as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, 16000)
        sound = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
    assert np.array_equal(sound, STEREO[16000:40000])
    assert [one.name for one in tmp_path.iterdir()] == ["turn.wav"]


def test_the_same_sound_is_left_as_it_is_and_any_other_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "turn.wav"
    write_excerpt(path, STEREO, (1.0, 2.0))
    before = path.read_bytes()
    write_excerpt(path, STEREO, (1.0, 2.0))
    with pytest.raises(ExcerptError, match=r"turn\.wav exists and holds something else; name another file with --wav"):
        write_excerpt(path, STEREO, (1.0, 2.1))
    assert path.read_bytes() == before
    path.write_text("notes of mine")
    with pytest.raises(ExcerptError, match="exists and holds something else"):
        write_excerpt(path, STEREO, (1.0, 2.0))
    assert path.read_text() == "notes of mine"


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ExcerptError, match="the audio cannot be written to .*: No such file or directory"):
        write_excerpt(tmp_path / "nowhere" / "turn.wav", STEREO, (1.0, 2.0))
