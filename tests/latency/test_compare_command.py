import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from latency.cli import main
from latency.record.session import Pacing
from tests.latency.compare.written_runs import write_run
from tests.latency.conversations import HEADER

BEFORE = [[400, 450, 380, 520], [430, 410, 390, 500], [410, 460, 400, 540]]
SLOWER = [[one + 100 for one in call] for call in BEFORE]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "a", *BEFORE)
    write_run(tmp_path / "b", *SLOWER)
    return tmp_path


def test_a_slower_run_fails_and_a_faster_one_does_not(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "a", "b"]) == 1
    out = capsys.readouterr().out
    assert (
        "\nSlower: a turn takes 100 ms longer in B (95 % interval +100 to +100 ms, 12 turns, resampled by call)\n"
        in out
    )
    assert main(["compare", "b", "a"]) == 0
    assert "\nFaster: a turn takes 100 ms less in B" in capsys.readouterr().out


def test_a_comparison_is_also_a_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "a", "b", "--html", "page.html"]) == 1
    assert "Slower: a turn takes 100 ms longer in B" in Path("page.html").read_text()
    Path("mine.html").write_text("mine")
    assert main(["compare", "a", "b", "--html", "mine.html"]) == 2
    assert "is no page of ours" in capsys.readouterr().err


def test_json_has_every_figure_and_no_infinity(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(here / "silent", *[[one if turn else None for turn, one in enumerate(call)] for call in SLOWER])
    assert main(["compare", "a", "silent", "--json"]) == 1
    captured = capsys.readouterr()
    assert captured.err == ""
    found = json.loads(captured.out, parse_constant=pytest.fail)
    assert list(found) == [
        "schema", "verdict", "sentence", "more_turns", "a", "b", "paired", "apart", "only_a", "only_b",
        "other_recordings", "turn_ms", "answer_ms", "stages_ms", "tiers_ms", "conversations_ms", "shares", "warnings",
        "changes", "method",
    ]  # fmt: skip
    assert (found["verdict"], found["more_turns"], found["paired"]) == ("slower", None, 12)
    assert (
        found["sentence"]
        == "Slower: more than a fifth of the turns are unanswered in B alone (12 turns, resampled by call)"
    )
    assert (found["turn_ms"]["turn"], found["turn_ms"]["p95"]) == ({"value": None, "interval": [None, None]}, None)
    assert (found["turn_ms"]["n"], found["turn_ms"]["drawn"]) == (12, "calls")
    assert found["shares"]["unanswered"]["b"] == 0.25
    assert found["shares"]["answers_ok"]["change"]["value"] == -0.25


def test_a_quicker_run_that_answers_less_is_marked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(here / "calm", *BEFORE * 3)
    write_run(
        here / "quick", *[[*(one - 200 for one in call[:3]), None][: 3 + (n == 0)] for n, call in enumerate(BEFORE * 3)]
    )
    assert main(["compare", "calm", "quick"]) == 0
    out = capsys.readouterr().out
    assert "\nFaster: " in out
    assert "\nBut           unanswered: 0 % in A, 3.6 % in B\n" in out
    assert "only in A     talk/call 8 turns" in out


def test_different_parts_hosts_and_settings_are_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = replace(
        HEADER,
        simulated=["sim:sonnet"],
        host={"cpus": 8},
        pipeline={"name": "mine", "llm": {"provider": "responder", "budget_ms": 500}},
    )
    write_run(here / "other", *BEFORE, header=header)
    assert main(["compare", "a", "other"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "the runs rest on different simulated parts: A on nothing simulated, B on sim:sonnet" in out
    assert "the runs were made on different numbers of processors: A on 2, B on 8" in out
    assert "changed llm.budget_ms: none → 500" in out


def test_one_call_cannot_tell_a_drift_from_a_change(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, extra in (("one", 0), ("other", 50)):
        write_run(here / name, [one + extra for call in BEFORE for one in call])
    assert main(["compare", "one", "other"]) == 1
    assert "with fewer than 3 calls, a drift of the machine looks like a change; repeat" in capsys.readouterr().out


def test_without_b_the_newest_run_is_compared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(here / "runs" / "20261126-000000-x", *SLOWER)
    assert main(["compare", "a"]) == 1
    assert "B runs/20261126-000000-x" in capsys.readouterr().out


def spoil(here: Path) -> None:
    write_run(here / "short", BEFORE[0][:3])
    write_run(here / "changed", *BEFORE, sha="y")
    write_run(here / "late", *BEFORE, pacing=Pacing(frames=1000, late_over_20ms=50, clock_ratio=1.0))
    write_run(here / "newer", *BEFORE)
    content = json.loads((here / "newer" / "run.json").read_text())
    (here / "newer" / "run.json").write_text(json.dumps(content | {"schema": 9}))
    shutil.copytree(here / "a", here / "damaged")
    (here / "damaged" / "run.json").write_text("{")
    (here / "link").symlink_to("a")
    (here / "empty").mkdir()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["a", "a"], 2, "a is compared with itself; name two runs"),
        (["a", "link"], 2, "a is compared with itself; name two runs"),
        (
            ["a", "short"],
            3,
            "Not enough to tell: 3 turns have a latency in both runs, and an interval needs 8; replay more",
        ),
        (
            ["a", "changed"],
            3,
            "a and changed have no turn in common: the recordings of talk/call are other ones, or were",
        ),
        (["a", "late"], 3, "the latencies of late are no data: the user's audio was not fed in real time"),
        (["newer", "a"], 2, "newer/run.json was written by a newer version (schema 9; this one reads 1); upgrade with"),
        (["a", "damaged"], 2, "damaged/run.json cannot be read: it was cut short or changed"),
        (["a", "empty"], 2, "empty is not a run: it has no run.json"),
        (["a", "nowhere/at/all"], 2, "nowhere/at/all does not exist"),
        (["main", "a"], 2, 'there is no baseline "main" in baselines; save one with `latency baseline save main`'),
        (["a", ""], 2, "takes the name of a run or baseline, not an empty text"),
        (["a"], 3, "there is no run in runs; run `voice replay` first"),
        (["a", "b", "c"], 2, 'unexpected argument "c"'),
    ],
)
def test_bad_input_gets_one_sentence(
    here: Path, arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(here)
    try:
        found = main(["compare", *arguments])
    except SystemExit as ended:
        found = int(str(ended.code))
    error = capsys.readouterr().err
    assert (found, error.count("\n")) == (status, 1), error
    assert said in error


def test_a_half_written_run_is_compared_as_far_as_it_goes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (here / "b" / "turns.jsonl").read_text().splitlines(keepends=True)
    (here / "b" / "turns.jsonl").write_text("".join(lines[:-1]) + lines[-1][:40])
    content = json.loads((here / "b" / "run.json").read_text())
    (here / "b" / "run.json").write_text(json.dumps(content | {"status": "running"}))
    assert main(["compare", "a", "b"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "note B: this run is not complete: its status is 'running'" in out
    assert "only in A talk/call 1 turn" in out


def test_runs_of_other_conversations_are_no_data(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(here / "c", *BEFORE)
    for name in ("run.json", "turns.jsonl"):
        path = here / "c" / name
        path.write_text(path.read_text().replace("talk/", "units/"))
    assert main(["compare", "a", "c"]) == 3
    assert capsys.readouterr().err == "latency: a and c have no turn in common: A played talk/call, and B units/call\n"
