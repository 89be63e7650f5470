import json
import shutil
from pathlib import Path

import pytest

from latency.baseline import folder_of, names, save_baseline
from latency.cli import main
from latency.record.run import Run, RunError
from tests.latency.compare.written_runs import write_run

BEFORE = [[400, 450, 380, 520, 430, 410]] * 4
BY = ["--check", "turn p50 <= 1.05 * baseline"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "runs" / "20261126-000000-a", *BEFORE)
    return tmp_path


def test_a_baseline_outlives_its_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", "save", "main"]) == 0
    assert capsys.readouterr().out == "main: baselines/main\n"
    shutil.rmtree(here / "runs")
    assert main(["baseline", "list"]) == 0
    assert capsys.readouterr().out == "main: 24 turns, 2026-11-20T17:03:12+01:00\n"
    assert main(["report", "baselines/main", "--check", "turn p50 < 500"]) == 0
    assert main(["baseline", "remove", "main"]) == 0
    assert main(["baseline", "list"]) == 0
    assert capsys.readouterr().out.endswith("there is no baseline in baselines\n")


def test_saving_again_replaces_it_as_a_whole(here: Path) -> None:
    save_baseline("main", here / "runs" / "20261126-000000-a")
    (here / "runs" / "20261126-000000-a" / "turn-1.wav").write_bytes(b"an excerpt")
    write_run(here / "shorter", BEFORE[0])
    save_baseline("main", here / "shorter")
    assert len(Run.load(folder_of("main")).turns) == 6
    assert sorted(path.name for path in (here / "baselines" / "main").iterdir()) == [
        "run.json", "talk-0.wav", "turns.jsonl",
    ]  # fmt: skip
    assert [path.name for path in (here / "baselines").iterdir()] == names() == ["main"]
    save_baseline("main", folder_of("main"))
    assert len(Run.load(folder_of("main")).turns) == 6, "a baseline can be saved as itself"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["save", "a/b"], 2, '"a/b" cannot be the name of a baseline: use letters, digits, ".", "-" and "_"'),
        (["save", "../x"], 2, '"../x" cannot be the name of a baseline'),
        (["save", ".hidden"], 2, '".hidden" cannot be the name of a baseline'),
        (["remove", ""], 2, '"" cannot be the name of a baseline'),
        (["remove", "old"], 2, 'there is no baseline "old" in baselines; there is main'),
        (["save", "x", "nowhere"], 2, "nowhere does not exist"),
        (["save", "x", "killed"], 3, "killed cannot be a baseline: turns of talk-3 are lost; replay again"),
        (["sav", "x"], 2, 'there is no command "sav"; did you mean "save"?'),
    ],
)
def test_bad_input_gets_one_sentence(
    here: Path, arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["baseline", "save", "main"])
    killed = write_run(here / "killed", *BEFORE)
    lines = (killed / "turns.jsonl").read_text().splitlines(keepends=True)
    (killed / "turns.jsonl").write_text("".join(lines[:-1]))
    capsys.readouterr()
    try:
        found = main(["baseline", *arguments])
    except SystemExit as ended:
        found = int(str(ended.code))
    error = capsys.readouterr().err
    assert (found, error.count("\n")) == (status, 1), error
    assert said in error
    assert names() == ["main"]


def test_a_name_is_checked_before_a_run_is_sought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["baseline", "save", "a/b"]) == 2
    assert main(["baseline", "save", "ab"]) == 3
    assert capsys.readouterr().err.endswith("latency: there is no run in runs; run `voice replay` first\n")


def slower(here: Path, ms: int) -> str:
    write_run(here / "slower", *[[one + ms for one in call] for call in BEFORE])
    return "slower"


@pytest.mark.parametrize(("ms", "status", "verdict"), [(10, 0, "passed"), (100, 1, "failed")])
def test_a_limit_may_be_a_multiple_of_the_baseline(
    here: Path, ms: int, status: int, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["baseline", "save", "main"])
    assert main(["report", slower(here, ms), "--baseline", "main", *BY]) == status
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"{verdict:<13}turn p50 <= 1.05 * baseline (is {420 + ms:g}, the baseline's 420)"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (BY, 2, '"turn p50 <= 1.05 * baseline" needs a baseline; name one with --baseline (`latency baseline list`)'),
        (["--baseline", "old", *BY], 2, 'there is no baseline "old" in baselines; there is main'),
        (["--baseline", "a/b", *BY], 2, '"a/b" cannot be the name of a baseline'),
        (["--baseline", "main"], 2, 'no check names the baseline "main"; add one such as --check "turn p50 <= 1.05 *'),
        (["--baseline", "broken", *BY], 2, "broken/run.json cannot be read: it was cut short or changed"),
    ],
)
def test_a_baseline_that_is_missing_is_refused(
    here: Path, arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    save_baseline("main", here / "runs" / "20261126-000000-a")
    if "broken" in arguments:
        (save_baseline("broken", here / "runs" / "20261126-000000-a") / "run.json").write_text("{")
    assert main(["report", *arguments]) == status
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_baseline_of_other_recordings_or_another_machine_is_no_silent_limit(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_baseline("other", write_run(here / "other", *BEFORE, sha="y"))
    assert main(["report", "--baseline", "other", *BY]) == 3
    assert "the baseline baselines/other played other recordings" in capsys.readouterr().out
    moved = save_baseline("moved", write_run(here / "moved", *BEFORE))
    content = json.loads((moved / "run.json").read_text())
    (moved / "run.json").write_text(json.dumps(content | {"host": {"cpus": 64}}))
    assert main(["report", "--baseline", "moved", *BY]) == 0
    assert "note: the runs were made on different numbers of processors: A on 64, B on 2" in capsys.readouterr().out


def test_a_folder_comes_before_a_baseline_of_its_name(here: Path) -> None:
    with pytest.raises(RunError, match='there is no baseline "main"'):
        folder_of("main")
    save_baseline("main", here / "runs" / "20261126-000000-a")
    write_run(here / "runs" / "20261127-000000-a", *[[one - 10 for one in call] for call in BEFORE])
    assert main(["compare", "main"]) == 0
    write_run(here / "main", [900, 900])
    assert main(["compare", "main"]) == 3, "the folder has only two turns"


@pytest.mark.parametrize("command", ["save", "remove"])
def test_whatever_is_no_baseline_is_left_as_it_is(here: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "baselines" / "notes").mkdir(parents=True)
    (here / "baselines" / "notes" / "mine.txt").write_text("mine")
    (here / "baselines" / "file").write_text("mine")
    (here / "baselines" / "link").symlink_to(here / "runs" / "20261126-000000-a")
    for name in ("notes", "file", "link"):
        assert main(["baseline", command, name]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert (here / "baselines" / "notes" / "mine.txt").read_text() == "mine"
    assert (here / "baselines" / "file").read_text() == "mine"
    assert (here / "baselines" / "link").is_symlink()
    assert Run.load(here / "runs" / "20261126-000000-a").turns


def test_a_baseline_whose_replacement_was_killed_comes_back(here: Path) -> None:
    save_baseline("main").rename(here / "baselines" / ".old-main")
    assert names() == ["main"]
    save_baseline("main").rename(here / "baselines" / ".old-main")
    assert len(Run.load(folder_of("main")).turns) == 24
    folder_of("main").rename(here / "baselines" / ".old-main")
    with pytest.raises(RunError, match="nowhere does not exist"):
        save_baseline("main", Path("nowhere"))
    assert names() == ["main"]


def test_a_removed_baseline_does_not_come_back(here: Path) -> None:
    shutil.copytree(save_baseline("main"), here / "baselines" / ".old-main")
    assert main(["baseline", "remove", "main"]) == 0
    assert names() == []
    assert list((here / "baselines").iterdir()) == []


def test_a_run_without_its_recordings_is_no_baseline(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "runs" / "20261126-000000-a" / "talk-2.wav").unlink()
    assert main(["baseline", "save", "main"]) == 3
    assert "cannot be a baseline: the recording of talk-2 is missing; replay again" in capsys.readouterr().err
    assert names() == []


def test_a_folder_that_cannot_be_written_is_named_without_our_own_files(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "baselines").write_text("a file")
    assert main(["baseline", "save", "main"]) == 2
    assert capsys.readouterr().err == "latency: baselines/main cannot be changed: Not a directory\n"


def test_a_baseline_is_not_compared_with_its_own_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["baseline", "save", "main"])
    assert main(["compare", "main"]) == 2
    assert "baselines/main and runs/20261126-000000-a are copies of one run; name two runs" in capsys.readouterr().err
