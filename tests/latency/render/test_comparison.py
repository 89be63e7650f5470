import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from latency.compare.comparison import Comparison, compare
from latency.record.run import Run
from latency.render.comparison import sentence, write
from latency.report.report import build
from tests.latency.compare.written_runs import write_run
from tests.latency.conversations import HEADER

CALLS = [[400, 450, 380, 520, 430, 410]] * 4


def compared(tmp_path: Path, b: list[list[int | None]]) -> Comparison:
    runs = [write_run(tmp_path / "a", *CALLS), write_run(tmp_path / "b", *b)]
    return compare(*(build(Run.load(run)) for run in runs))


def text(found: Comparison) -> str:
    file = io.StringIO()
    write(found, file)
    return file.getvalue()


def test_without_a_verdict_the_turns_that_are_missing_are_estimated(tmp_path: Path) -> None:
    found = compared(tmp_path, [[one + 60 - 40 * call for one in made] for call, made in enumerate(CALLS)])
    assert found.verdict == "not enough to tell"
    told = re.fullmatch(
        r"Not enough to tell; about (\d+) more turns would be: a turn takes 0 ms less in B \(95 % interval (-\d+) to "
        r"\+(\d+) ms, 24 turns, resampled by call\)",
        sentence(found),
    )
    assert told
    assert int(told[1]) > 24


def test_the_same_again_needs_no_more_turns(tmp_path: Path) -> None:
    found = compared(tmp_path, [list(call) for call in CALLS])
    assert sentence(found).startswith(
        "Not enough to tell; more would hardly help, as 5 % (21 ms) would have been found"
    )
    assert found.more == 0


def test_unanswered_turns_are_named(tmp_path: Path) -> None:
    found = compared(tmp_path, [[None if turn % 2 else one for turn, one in enumerate(call)] for call in CALLS])
    assert sentence(found) == (
        "Slower: more than a fifth of the turns are unanswered in B alone (24 turns, resampled by call)"
    )
    row = next(line for line in text(found).splitlines() if line.startswith("turn "))
    assert row.split()[:6] == ["turn", "24", "420", "never", "+never", "[+never,"]


def test_runs_that_alternated_are_not_advised_to_alternate(tmp_path: Path) -> None:
    header = replace(HEADER, command=["voice", "replay", "--ab", "a", "b"])
    runs = [write_run(tmp_path / side, CALLS[0] * 2, header=header) for side in "ab"]
    told = " ".join(text(compare(*(build(Run.load(run)) for run in runs))).split())
    assert "repeat the calls (--repeat 3)" in told
    assert "let them alternate" not in told
    assert "let them alternate" in " ".join(text(compared(tmp_path / "one", [CALLS[0]])).split())


def test_without_an_interval_the_reason_is_left_to_the_caller(tmp_path: Path) -> None:
    found = compared(tmp_path, [CALLS[0][:1]])
    assert sentence(found).startswith("Not enough to tell: 1 turn has a latency in both runs")
    assert "Not enough to tell" not in text(found)


def test_a_narrow_terminal_has_no_intervals_of_the_tail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The folders' names are in the text.
    monkeypatch.chdir(tmp_path)
    found = compared(Path(), [[one + 100 for one in call] for call in CALLS])
    monkeypatch.setenv("COLUMNS", "120")
    assert text(found).count("[+100, +100]") == 2
    monkeypatch.setenv("COLUMNS", "80")
    narrow = text(found)
    assert narrow.count("[+100, +100]") == 1
    assert max(map(len, narrow.splitlines())) <= 80
