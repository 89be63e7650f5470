"""A run folder cut at any byte is read as far as it is whole and says what is missing, or is refused plainly."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from latency.cli import main
from latency.record.run import Run, RunError
from latency.record.session import Pacing
from latency.record.turn import TurnRecord
from latency.report.report import Report, build
from tests.latency.conversations import Conversation, MakeRun

PACING = Pacing(frames=600, late_over_20ms=0, late_max_ms=2.0, clock_ratio=1.0)


@pytest.fixture
def whole(make_run: MakeRun) -> Path:
    """Three turns, answered after 500, 700 and 600 ms."""
    talk = Conversation(12).user(1, 2).bot(2.5, 3.2).user(4, 5).bot(5.7, 6.5).user(8, 9).bot(9.6, 10.5)
    turns = [turn(0, 1, 2.5), turn(1, 4, 5.7), turn(2, 8, 9.6)]
    return make_run(turns, talk.samples, pacing=PACING, seconds=12.0)


def turn(number: int, start: float, heard: float) -> TurnRecord:
    marks = {"vad_stop": start + 1.2, "turn_commit": start + 1.3, "first_sent": heard - 0.1, "first_audible": heard}
    return TurnRecord.from_json(
        {
            "session": "commands",
            "turn": number,
            "speech": [[start, start + 1]],
            "wants_answer": True,
            "text": "thé time",
            "heard": "the time",
            "said": "it is ten",
            "contains": ["ten"],
            "marks": marks,
        }  # fmt: skip
    )


class Cut:
    """A copy of a run whose files can be cut and restored."""

    def __init__(self, whole: Path, folder: Path) -> None:
        shutil.copytree(whole, folder)
        self.whole, self.folder = whole, folder
        self.report = build(Run.load(whole))

    def size(self, name: str) -> int:
        return (self.whole / name).stat().st_size

    def load(self, name: str, size: int) -> Run | RunError:
        """What comes of reading the folder with a file cut to so many bytes; any other error is a failed test."""
        if (self.folder / name).stat().st_size < size:
            shutil.copy(self.whole / name, self.folder / name)
        os.truncate(self.folder / name, size)
        try:
            return Run.load(self.folder)
        except RunError as error:
            return error

    def sizes(self, name: str, count: int) -> list[int]:
        """The first bytes, the last ones and some between."""
        size = self.size(name)
        some = random.Random(4).sample(range(size), min(count, size))
        return sorted({*range(0, min(48, size)), *some, *range(size - 6, size)})


@pytest.fixture
def cut(whole: Path, tmp_path: Path) -> Cut:
    return Cut(whole, tmp_path / "cut")


def plain(error: RunError, *, names: str) -> bool:
    return names in str(error) and "\n" not in str(error) and "Traceback" not in str(error)


def test_run_json_cut_at_any_byte_is_refused_with_its_name_and_what_to_do(cut: Cut) -> None:
    size = cut.size("run.json")
    for length in reversed(range(size - 1)):
        found = cut.load("run.json", length)
        assert isinstance(found, RunError), length
        assert plain(found, names="run.json"), found
        assert "restore it, or replay again" in str(found)
        assert found.exit_code == 2
    # Without the newline at its end nothing is missing.
    assert isinstance(cut.load("run.json", size - 1), Run)


def test_turns_cut_at_any_byte_are_counted_as_far_as_they_are_whole_and_the_rest_is_told(cut: Cut) -> None:
    lines = (cut.whole / "turns.jsonl").read_bytes().splitlines(keepends=True)
    whole_run = Run.load(cut.whole)
    for length in reversed(range(cut.size("turns.jsonl"))):
        found = cut.load("turns.jsonl", length)
        left = sum(len(b"".join(lines[: count + 1])) <= length for count in range(len(lines)))
        if not left:
            assert isinstance(found, RunError)
            assert found.exit_code == 3
            continue
        assert isinstance(found, Run), found
        assert found.turns == whole_run.turns[:left]
        assert f"session 'commands': {left} of its 3 turns are left in turns.jsonl" in found.notes
        at_a_line = length == len(b"".join(lines[:left]))
        assert at_a_line or "the last line of turns.jsonl was cut short and is not counted" in found.notes


def test_turns_that_are_whole_are_reported_as_before(cut: Cut) -> None:
    for length in reversed(cut.sizes("turns.jsonl", 12)):
        found = cut.load("turns.jsonl", length)
        if isinstance(found, Run):
            same_or_unknown(build(found), cut.report)


def test_a_recording_cut_at_any_byte_costs_the_turns_beyond_and_no_other(cut: Cut) -> None:
    for length in reversed(cut.sizes("commands.wav", 24)):
        found = cut.load("commands.wav", length)
        assert isinstance(found, Run), found
        assert any("commands.wav was cut short" in note for note in found.notes)
        report = build(found)
        same_or_unknown(report, cut.report)
        seconds = max(0, length - 44) / 4 / 16000
        recorded = sum(start <= seconds for start in (4.0, 8.0))
        assert report.turn_ms.n == recorded, length
        assert report.turns.unanswered == {"recording lost": 3 - recorded}


def same_or_unknown(report: Report, whole: Report) -> None:
    known = {outcome.turn.turn: outcome for outcome in whole.outcomes}
    for outcome in report.outcomes:
        latency = known[outcome.turn.turn].latency
        assert latency is not None
        assert outcome.latency is None or outcome.latency == pytest.approx(latency, abs=0.02)


def test_a_folder_without_one_of_its_files_is_read_or_refused_with_its_name(cut: Cut) -> None:
    (cut.folder / "commands.wav").unlink()
    run = Run.load(cut.folder)
    assert "the recording commands.wav is missing: the turns of session 'commands' have no latency" in run.notes
    assert build(run).turns.unanswered == {"recording lost": 3}
    (cut.folder / "run.json").unlink()
    with pytest.raises(RunError, match="it has no run.json"):
        Run.load(cut.folder)


def test_the_command_tells_of_a_cut_folder_in_one_line(cut: Cut, capsys: pytest.CaptureFixture[str]) -> None:
    cut.load("run.json", 100)
    assert main(["report", str(cut.folder)]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith(f"latency: {cut.folder / 'run.json'} cannot be read: it was cut short or changed")
    assert found.err.count("\n") == 1


def test_the_same_folder_gives_the_same_bytes_whatever_the_hash_seed(short_run: Path) -> None:
    def printed(seed: str) -> bytes:
        command = [
            sys.executable,
            "-m",
            "latency",
            "report",
            str(short_run),
            "--json",
            "--check",
            "turn p95 < 800 n>=2",
        ]
        done = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed})
        assert done.returncode == 1, done.stderr
        return done.stdout

    first = printed("1")
    assert first == printed("2") == printed("77")
    assert json.loads(first)["turns"]["total"] == 4
