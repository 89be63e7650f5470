"""What `voice` and `latency` share on their command lines."""

import importlib
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from latency.cli import main as latency
from latency.command_line import Parser, complain, count, did_you_mean, folded, one_of, printing
from pipelines.cli import main as voice
from pipelines.cli import parser as voice_parser

ROOT = Path(__file__).parents[2]
Command = Callable[[Sequence[str]], int]


@pytest.fixture
def parser() -> Parser:
    top = Parser(prog="tool")
    top.add_command("paint", "paint a wall").add_argument("--colour", type=one_of("red", "green"))
    top.add_command("count", "count bricks").add_argument("--bricks", type=count)
    return top


@pytest.mark.parametrize("words", [["-v", "paint"], ["paint", "-v"], ["--verbose", "paint", "--verbose"]])
def test_v_is_taken_before_and_after_a_command(parser: Parser, words: list[str]) -> None:
    assert parser.parse_args(words).verbose is True
    assert parser.parse_args(["paint"]).verbose is False


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pant"], 'tool: there is no command "pant"; did you mean "paint"?'),
        (["demolish"], 'tool: there is no command "demolish"; the commands are paint, count; see `tool --help`'),
        (["paint", "--color=red"], 'tool paint: there is no option --color; did you mean "--colour"?'),
        (["paint", "--colour", "grene"], 'tool paint: --colour takes red or green, not "grene"; did you mean "green"?'),
        (["paint", "--colour"], "tool paint: --colour needs a value; see `tool paint --help`"),
        (["paint", "-v=yes"], "tool paint: -v/--verbose takes no value, not 'yes'; see `tool paint --help`"),
        (
            ["count", "--bricks", "many"],
            'tool count: --bricks takes a whole number of 1 or more, not "many"; see `tool count --help`',
        ),
    ],
)
def test_a_mistake_is_one_sentence_that_begins_with_the_command(
    parser: Parser, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        parser.parse_args(words)
    assert refused.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [sentence]


def test_only_a_close_word_is_suggested() -> None:
    assert did_you_mean("fallback", ["detector", "fallback_ms"]) == '; did you mean "fallback_ms"?'
    assert did_you_mean("colour", ["detector", "fallback_ms"]) == ""
    assert did_you_mean("nope", ["openai"]) == ""


def test_a_sentence_is_folded_only_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "a sentence that goes on " * 6
    complain("tool", long.strip())
    assert len(capsys.readouterr().err.splitlines()) == 1
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    complain("tool", long.strip())
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 80
    assert lines[1].startswith("  ")


def test_a_word_that_does_not_fit_is_kept_whole() -> None:
    path = "/a" * 60
    assert folded(f"see {path}", first="- ", indent=2).splitlines() == ["- see", f"  {path}"]


def test_a_reader_that_leaves_is_no_error() -> None:
    code = "from latency.command_line import printing\nwith printing():\n  raise BrokenPipeError\nprint('unseen')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with pytest.raises(ValueError, match="other"), printing():
        raise ValueError("other")


@pytest.mark.parametrize(("command", "name"), [(voice, "voice"), (latency, "latency")])
def test_both_commands_say_their_version(command: Command, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        command(["--version"])
    assert done.value.code == 0
    assert capsys.readouterr().out.startswith(f"{name} (Turnaround) ")


@pytest.mark.parametrize("command", [voice, latency])
def test_without_a_command_both_show_their_help_as_an_error(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("usage: ")
    assert "exit status: 0 fine" in told.err


def helps() -> list[tuple[Command, list[str]]]:
    names = list(voice_parser()._commands.choices)  # type: ignore[union-attr]
    bench = importlib.import_module("pipelines.lab.bench.command").main
    return [
        (voice, []),
        *((voice, [name]) for name in names),
        (latency, []),
        *((latency, [name]) for name in ("report", "turn", "selftest")),
        (bench, []),
    ]


@pytest.mark.parametrize(("command", "words"), helps())
def test_help_fits_80_columns_of_a_wide_terminal(
    command: Command, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as done:
        command([*words, "--help"])
    assert done.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("usage: ")
    assert any("-v, --verbose" in line for line in lines)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_output_that_cannot_be_written_is_one_sentence_and_no_broken_limit(short_run: Path) -> None:
    with open("/dev/full", "w") as full:
        report = [sys.executable, "-m", "latency", "report", str(short_run)]
        done = subprocess.run(report, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert done.returncode == 4
    assert "standard output cannot be written (No space left on device)" in done.stderr
    assert "Traceback" not in done.stderr


SLOW_SELFTEST = """
import sys, time, types
from latency import cli
slow = types.ModuleType("slow")
slow.main = lambda arguments: print("begun", flush=True) or time.sleep(30)
sys.modules["slow"], cli.BUILT_IN["selftest"] = slow, ("slow", "")
sys.exit(cli.main(["selftest"]))
"""


def test_ctrl_c_ends_a_built_in_command_with_one_word() -> None:
    command = [sys.executable, "-c", SLOW_SELFTEST]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as selftest:
        assert selftest.stdout is not None
        assert selftest.stdout.readline() == "begun\n"
        selftest.send_signal(signal.SIGINT)
        _, said = selftest.communicate(timeout=20)
    assert (selftest.returncode, said) == (130, "latency: interrupted\n")
