import json
from dataclasses import replace
from pathlib import Path

import pytest

from latency.baseline import save_baseline
from latency.cli import main
from latency.record.session import Pacing
from tests.latency.compare.written_runs import write_run
from tests.latency.conversations import HEADER


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    late = Pacing(frames=1000, late_over_20ms=50, clock_ratio=1.0)
    old = replace(HEADER, created="2026-11-01T10:00:00+01:00", commit="0123456789ab", simulated=["sim:x"])
    newest = write_run(tmp_path / "runs" / "20261126-000000-a", [400, 450, None])
    save_baseline("main", write_run(tmp_path / "elsewhere", [400, 500], [400, 500], header=old))
    write_run(tmp_path / "runs" / "20261122-000000-a", [400], header=replace(HEADER, created="2026-11-10"), pacing=late)
    (tmp_path / "runs" / "20261123-000000-a").mkdir()
    (tmp_path / "runs" / "20261123-000000-a" / "run.json").write_text("{")
    assert newest.is_dir()
    return tmp_path


def test_runs_and_baselines_are_listed_from_the_oldest_on(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].split() == [
        "created", "commit", "run", "played", "turn", "p50", "turn", "p95", "answers_ok", "wer", "remarks",
    ]  # fmt: skip
    assert lines[2].split() == [
        "2026-11-01T10:00", "0123456789ab", "baselines/main", "talk/call", "×2", "450", "-", "100", "%", "0", "%",
        "simulated",
    ]  # fmt: skip
    assert lines[3].split()[2:] == ["runs/20261122-000000-a", "talk/call", "-", "-", "100", "%", "0", "%", "refused"]
    assert lines[4].split()[:3] == ["2026-11-20T17:03", "-", "runs/20261126-000000-a"]
    assert captured.err.startswith("latency: left out: runs/20261123-000000-a/run.json cannot be read")


def test_the_history_is_also_a_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "--html", "page.html"]) == 0
    page = Path("page.html").read_text()
    assert '"name":"turn p50","points":[[1,450.0]' in page
    assert "talk/call ×2" in page
    assert ": latency history --html page.html" in page
    assert main(["history", "--html", "missing/page.html"]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_an_entry_can_be_drawn(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "baselines/main", "--figure", "turn  p50", "--figure", "turn max", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "run": "baselines/main",
            "created": "2026-11-01T10:00:00+01:00",
            "commit": "0123456789ab",
            "pipeline": "embedded",
            "played": {"talk/call": 2},
            "simulated": ["sim:x"],
            "refused": False,
            "lacks": [],
            "figures": {"turn p50": 450.0, "turn max": 500.0},
        }
    ]


def test_a_run_that_is_not_whole_is_marked(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = here / "runs" / "20261126-000000-a"
    (folder / "talk-0.wav").unlink()
    content = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(content | {"status": "interrupted"}))
    (here / "baselines" / "main").rename(here / "baselines" / ".new-main")
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["history"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].endswith("interrupted, recording lost")
    assert not any("baselines" in line for line in lines), "a folder that is being written is no baseline"


def test_a_figure_without_data_is_unknown(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["history", "runs/20261126-000000-a", "runs/20261122-000000-a", "--json"]
    assert main([*arguments, "--figure", "turn max", "--figure", "unanswered"]) == 0
    late, last = json.loads(capsys.readouterr().out)
    assert late["figures"] == {"turn max": None, "unanswered": 0}, "no latency of a refused run counts"
    assert last["figures"] == {"turn max": None, "unanswered": 1}, "nor that of an unanswered turn"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--figure", "turn p50 < 3"], 2, 'latency: there is no figure "turn p50 < 3"; did you mean "turn p50"?'),
        (["--figure", "speed"], 2, 'there is no figure "speed"; write one as in a limit, such as "turn p95"'),
        (["nowhere"], 3, "latency: left out: nowhere does not exist"),
    ],
)
def test_bad_input_gets_one_sentence(
    here: Path, arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", *arguments]) == status
    assert said in capsys.readouterr().err


def test_without_a_run_there_is_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["history"]) == 3
    assert capsys.readouterr().err == ("latency: there is no run in runs or baselines; run `voice replay` first\n")
