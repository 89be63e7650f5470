"""The command line of `latency bench`, and what it refuses before anything runs."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from latency.benchmark.benchmark import Benchmark
from pipelines.lab.bench import command, rounds
from pipelines.lab.bench.command import main, parse_speeds
from pipelines.lab.bench.plan import FAST, BenchmarkPlan, ModelSpeed, Trial, trials_of
from pipelines.lab.bench.rounds import Say, rotated
from pipelines.lab.bench.variants import Variant
from tests.latency.benchmark.test_tables import a_row, made_up
from voice.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[4]


def test_the_latency_command_has_a_bench_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "latency", "bench", "--help"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "--rounds" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--only", "siri"], 2, 'there is no variant "siri"'),
        (["--fixtures", "no-such-folder"], 2, "there is no such file or folder"),
        (["--llm", "fast"], 2, "--llm takes milliseconds to the first token and tokens per second, such as 450:65"),
        (["--whisper", "./no-such-folder"], 4, "There is no folder no-such-folder"),
        (["--whisper", "huge"], 2, "'huge' names no Whisper model: use tiny.en"),
        (["--whisper", "scripted", "--voice", "nobody"], 2, "'nobody' names no Piper voice"),
        (["--read", "no-such-folder"], 2, "no-such-folder is not a benchmark"),
    ],
)
def test_bad_usage_is_one_sentence(
    arguments: list[str], code: int, sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*arguments, "--out", str(tmp_path / "out")]) == code
    told = capsys.readouterr().err.splitlines()
    assert sentence in told[-1]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [["--rounds", "0"], ["--pauses", "many"]])
def test_a_count_is_a_whole_number_of_1_or_more(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").touch()
    assert main(["--out", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_after_ctrl_c_the_results_so_far_are_named_with_the_command_that_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "my bench"

    async def one_call_and_ctrl_c(plan: BenchmarkPlan, _say: Say) -> None:
        write(plan.folder)
        raise KeyboardInterrupt

    def write(folder: Path) -> None:
        run = folder / "450-65" / "ours"
        run.mkdir(parents=True)
        (run / "turns.jsonl").write_text("{}\n" if calls else "")

    monkeypatch.setattr(command, "_whisper", lambda *_: tmp_path)
    monkeypatch.setattr(rounds, "run_rounds", one_call_and_ctrl_c)
    fixture = str(ROOT / "samples" / "commands" / "01.wav")
    for calls in (1, 0):
        assert main(["--fixtures", fixture, "--only", "ours", "--voice", "embedded", "--out", str(out)]) == 130
        *_, told, last = capsys.readouterr().err.splitlines()
        assert last == "latency: interrupted"
        if calls:
            assert told == f"benchmark folder: {out}  (read it with: latency bench --read '{out}')"
        else:
            assert told == "no call was completed, so there is nothing to read"
        shutil.rmtree(out)


@pytest.mark.parametrize(
    ("unanswered", "expected", "code", "sentence"),
    [
        ({}, 2, 0, ""),
        ({"no speech from the bot": 2}, 2, 3, "latency: no agent answered any of the 2 turns, so there is nothing"),
        ({}, 0, 3, "latency: no recording has a turn that wants an answer"),
    ],
)
def test_a_benchmark_in_which_nothing_was_heard_is_no_success(
    unanswered: dict[str, int],
    expected: int,
    code: int,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = replace(
        a_row("ours", 0.5), expected=expected, unanswered=unanswered, answered=expected - sum(unanswered.values())
    )
    monkeypatch.setattr(Benchmark, "load", lambda _folder: made_up(row))
    assert main(["--read", "anywhere"]) == code
    shown = capsys.readouterr()
    assert "ours" in shown.out
    assert shown.err.startswith(sentence)
    assert bool(shown.err) == bool(code)


def test_the_tables_are_also_written_as_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Benchmark, "load", lambda _folder: made_up(a_row("ours", 0.5)))
    path = tmp_path / "page.html"
    assert main(["--read", "anywhere", "--html", str(path)]) == 0
    assert "about ours" in path.read_text()
    assert capsys.readouterr().err.startswith(f"page written to {path} (0.")
    path.write_text("My own.")
    assert main(["--read", "anywhere", "--html", str(path)]) == 2
    assert capsys.readouterr().err == f"latency: {path} exists and is no page of ours; name another file with --html\n"


def test_speeds_of_the_language_model_are_read_from_text() -> None:
    assert parse_speeds("450:65, 100:1000") == [ModelSpeed(450, 65), ModelSpeed(100, 1000)]
    assert ModelSpeed(450, 65).url("http://host:1/v1") == "http://host:1/with/ttft_ms=450&tokens_per_s=65/v1"
    for text in ("", "450", "450:65,450:65", "0:65", "-1:2"):
        with pytest.raises(ConfigurationError, match="--llm takes"):
            parse_speeds(text)


def test_the_index_names_the_part_that_an_agent_lacks() -> None:
    entry = Trial(Variant("ours-no-hint", "", ("turns.hint_ms=0",), without="hint", of="ours"), FAST, "a").entry()
    assert (entry["variant"], entry["without"], entry["of"]) == ("ours-no-hint", "hint", "ours")
    assert entry["set"] == ["turns.hint_ms=0"]


def test_a_peer_with_the_fast_model_is_not_called_twice_with_it() -> None:
    peers = [Variant("stock", "", bot="stock-pipecat"), Variant("stock-fast", "", bot="stock-pipecat", fast=True)]
    found = trials_of(peers, [ModelSpeed(450, 65), FAST])
    assert [trial.folder for trial in found] == ["450-65/stock", "450-65/stock-fast", "100-1000/stock"]


def test_each_round_begins_with_another_agent() -> None:
    trials = [Trial(Variant(name, ""), ModelSpeed(1, 1), name) for name in "abc"]
    orders = [[trial.folder for trial in rotated(trials, by)] for by in range(4)]
    assert orders == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"]]
