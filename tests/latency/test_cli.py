import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from latency.cli import BUILT_IN, main, show
from latency.record.turn import TurnRecord
from tests.latency.conversations import Conversation, MakeRun

ROOT = Path(__file__).parents[2]


def test_without_an_argument_the_newest_run_is_reported(
    short_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(short_run.parent.parent)
    assert main(["report"]) == 0
    assert short_run.name in capsys.readouterr().out


def test_json_is_the_only_output(short_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(short_run), "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["turns"]["total"] == 4
    assert captured.err == ""


@pytest.mark.parametrize(
    ("checks", "status"),
    [
        (["gaps == 0", "turn_detected_complete p50 < 800"], 0),
        (["gaps == 0", "cut_offs == 0"], 1),
        (["turn_cold p50 < 800", "cut_offs == 0"], 1),
        (["gaps == 0", "turn_cold p50 < 800"], 3),
    ],
)
def test_checks_decide_the_exit_status(short_run: Path, checks: list[str], status: int) -> None:
    arguments = [part for check in checks for part in ("--check", check)]
    assert main(["report", str(short_run), "--json", *arguments]) == status


def _asked(number: int, **values: Any) -> TurnRecord:
    start = 1.0 + 6 * number
    return TurnRecord(session="commands", turn=number, speech=((start, start + 1),), wants_answer=True, **values)


@pytest.mark.parametrize(
    ("failed", "status", "why"),
    [
        (None, 3, "no speech from the bot (1), the call ended before its answer (1)"),
        ("The recogniser's process died.", 4, "The recogniser's process died"),
    ],
)
def test_a_run_in_which_nobody_was_answered_is_no_success(
    make_run: MakeRun, failed: str | None, status: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_run([_asked(0, failed=failed), _asked(1)], Conversation(10).samples)
    for checks in ([], ["--check", "cut_offs == 0"], ["--check", "total == 2"]):
        assert main(["report", str(folder), *checks]) == status
        assert capsys.readouterr().err == f"latency: no turn of {folder} was answered: {why}\n"
    assert main(["report", str(folder), "--check", "answered == 2"]) == 1, "a limit that is broken comes first"
    assert show(folder, spoken_live=True) == 0, "a person may leave a call before it is answered"


def test_a_run_without_its_recordings_has_no_data(short_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (short_run / "commands.wav").unlink()
    assert main(["report", str(short_run), "--check", "answers_ok == 1"]) == 3
    assert capsys.readouterr().err.endswith("is known to have been answered: recording lost (4)\n")


@pytest.mark.parametrize(
    ("checks", "status"),
    [([], 3), (["turn p50 < 800"], 3), (["answered > 0"], 0), (["answered == 0", "turn p50 < 800"], 1)],
)
def test_a_refused_run_has_no_data_except_for_limits_that_do_not_depend_on_time(
    short_run: Path, checks: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run = json.loads((short_run / "run.json").read_text())
    run["sessions"][0]["pacing"] = {"frames": 1000, "late_over_20ms": 50, "clock_ratio": 1.0}
    (short_run / "run.json").write_text(json.dumps(run))
    arguments = [part for check in checks for part in ("--check", check)]
    assert main(["report", str(short_run), *arguments]) == status
    found = capsys.readouterr()
    assert "LATENCIES REFUSED" in found.out
    told = f"latency: the latencies of {short_run} are no data: the user's audio was not fed in real time"
    assert found.err.startswith(told if not checks else "")
    assert found.err.count("\n") == (not checks)
    # Who replays or talks sees the headline; the call itself did not fail.
    assert show(short_run) == 0


@pytest.mark.parametrize(("checks", "status"), [([], 0), (["--check", "cut_offs == 0"], 1)])
def test_a_reader_that_leaves_early_changes_no_verdict(short_run: Path, checks: list[str], status: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "latency", "report", str(short_run), *checks]
    done = subprocess.run(command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (status, b"")


def test_a_check_that_cannot_be_parsed_is_refused_before_anything_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "/nowhere/at/all", "--check", "turn p95 is fine"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith('latency: "turn p95 is fine" is no threshold')


def test_no_run_yet_is_no_data_and_a_wrong_path_is_bad_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report"]) == 3
    assert "run `voice replay` first" in capsys.readouterr().err
    assert main(["report", "nowhere"]) == 2
    assert "nowhere does not exist" in capsys.readouterr().err


def test_csv_is_the_only_output_and_cannot_be_combined_with_json(
    short_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(short_run), "--csv", "--check", "cut_offs == 0"]) == 1
    captured = capsys.readouterr()
    header, first, *rest = captured.out.splitlines()
    assert header.startswith("run,simulated,refused_because,session,turn,scenario,")
    assert first.startswith(f"{short_run},,,commands,0,")
    assert (len(rest), captured.err) == (3, "")
    with pytest.raises(SystemExit) as caught:
        main(["report", str(short_run), "--csv", "--json"])
    assert caught.value.code == 2


def test_a_trace_is_written_beside_the_report(
    short_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    assert main(["report", str(short_run), "--json", "--trace", str(path)]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["turns"]["total"] == 4
    assert captured.err == f"trace written to {path}; open it at https://ui.perfetto.dev\n"
    events = json.loads(path.read_text())["traceEvents"]
    assert {"bot speaks", "turn 0", "endpointing_wait"} <= {event["name"] for event in events}


def test_a_trace_that_cannot_be_written_is_bad_usage_before_anything_is_printed(
    short_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(short_run), "--trace", str(short_run / "turns.jsonl")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("turns.jsonl exists and is no trace of ours; name another file with --trace\n")
    assert "what is seven times eight" in (short_run / "turns.jsonl").read_text()


def test_built_in_commands_are_listed_and_called_with_their_arguments(
    short_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out
    for name, (_, what) in BUILT_IN.items():
        assert f"{name} " in listed
        assert what in listed
    assert main(["turn", str(short_run), "0", "--no-wav"]) == 0
    assert "turn 0 of session commands" in " ".join(capsys.readouterr().out.split())


def test_every_built_in_command_has_a_main_that_takes_arguments() -> None:
    for module, _ in BUILT_IN.values():
        with pytest.raises(SystemExit) as caught:
            importlib.import_module(module).main(["--help"])
        assert caught.value.code == 0


def test_no_command_and_unknown_commands_are_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert main(["measure-everything"]) == 2
    assert (
        'there is no command "measure-everything"; the commands are report, turn, fixtures, selftest'
        in capsys.readouterr().err
    )


@pytest.fixture
def plot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that registers `latency plot`, and another command whose module is missing."""
    installed = tmp_path / "plot-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: plot\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        "[latency.commands]\nplot = plot_of_the_test:main\nbroken = nowhere_at_all:main\n"
    )
    (tmp_path / "plot_of_the_test.py").write_text(
        'def main(argv):\n    """Draw a curve through 100 % of the points.\n\n    At once.\n    """\n'
        "    print(argv)\n    return 41\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("plot")
def test_registered_commands_are_listed_with_the_first_line_of_their_docstring(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    listed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "plot draw a curve through 100 % of the points" in listed
    assert "broken cannot be loaded: No module named 'nowhere_at_all'" in listed


@pytest.mark.usefixtures("plot")
def test_registered_commands_are_called_with_all_other_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "--points", "5"]) == 41
    assert capsys.readouterr().out == "['--points', '5']\n"
    assert main(["-v", "plot"]) == 41
    assert capsys.readouterr().out == "['-v']\n"


@pytest.mark.parametrize("words", [["-v", "report"], ["report", "-v"]])
def test_v_may_stand_before_or_after_the_command(short_run: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "latency", *words, str(short_run), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout)["turns"]["total"] == 4
    (logged,) = done.stderr.splitlines()
    assert logged.startswith(f"DEBUG latency.cli: {short_run} read and measured in ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["reprot"], 'latency: there is no command "reprot"; did you mean "report"?'),
        (["bnech"], 'latency: there is no command "bnech"; did you mean "bench"?'),
        (["report", "--cvs"], 'latency report: there is no option --cvs; did you mean "--csv"?'),
        (["--vesrion"], 'latency: there is no option --vesrion; did you mean "--version"?'),
        (["report", "a", "b"], 'latency report: unexpected argument "b"; see `latency report --help`'),
        (["report", "--trace"], "latency report: --trace needs a value; see `latency report --help`"),
        (["report", "--json", "--csv"], "latency report: --csv cannot be combined with --json; see `latency report"),
        (["turn", "--no-wva", "1"], 'latency turn: there is no option --no-wva; did you mean "--no-wav"?'),
        (["turn"], "latency: name a turn by its number in the report; write `latency turn RUN N`"),
        (["selftest", "--seed=-1"], 'latency selftest: --seed takes a whole number of 0 or more, not "-1"'),
    ],
)
def test_a_mistake_gets_one_sentence_and_status_2(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        sys.exit(main(words))
    told = capsys.readouterr()
    assert (stopped.value.code, told.out) == (2, "")
    (line,) = told.err.splitlines()
    assert line.startswith(sentence)


def test_importing_the_command_loads_nothing_heavy() -> None:
    heavy = ("numpy", "rich", "pipecat", "voice", "pipelines", "onnxruntime", "importlib.metadata")
    code = f"import sys, latency.cli; print([name for name in {heavy!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout.strip() == "[]"


def test_json_is_printed_without_the_terminal_library(short_run: Path) -> None:
    code = (
        "import sys, latency.cli\n"
        f"status = latency.cli.main(['report', {str(short_run)!r}, '--json'])\n"
        "sys.exit(9 if {'rich', 'voice', 'pipelines', 'pipecat'} & set(sys.modules) else status)"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, cwd=ROOT).returncode == 0


def test_a_reader_that_leaves_early_is_no_error(short_run: Path) -> None:
    command = [sys.executable, "-m", "latency", "report", str(short_run), "--check", "cut_offs == 0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(30) == 1


def test_a_page_and_a_trace_need_two_files(short_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(short_run), "--html", "same", "--trace", "./same"]) == 2
    assert capsys.readouterr().err == "latency: --html and --trace name the same file; name two\n"
