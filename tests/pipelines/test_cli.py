"""The `voice` command: what it takes and refuses before anything is loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.cli import main, parser

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["replya"], 'voice: there is no command "replya"; did you mean "replay"?'),
        (["replay", "--pipline=local"], 'voice replay: there is no option --pipline; did you mean "--pipeline"?'),
        (["replay", "--repeat", "0"], 'voice replay: --repeat takes a whole number of 1 or more, not "0"; see `voice'),
        (["devices", "all"], 'voice devices: unexpected argument "all"; see `voice devices --help`'),
        (["serve", "--port", "http"], 'voice serve: --port takes a port from 0 to 65535, not "http"; see `voice serve'),
        (
            ["simulate", "--preset", "feild"],
            'voice simulate: --preset takes field or optimistic, not "feild"; did you mean "field"?',
        ),
        (["simulate", "--socket-life", "0"], "voice simulate: --socket-life takes a number above 0, not "),
    ],
)
def test_a_mistake_gets_one_sentence_and_status_2(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(words)
    assert refused.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    assert line.startswith(sentence)


@pytest.mark.parametrize("words", [["-v", "replay", "a.wav"], ["replay", "a.wav", "-v"]])
def test_v_may_stand_before_or_after_the_command(words: list[str]) -> None:
    args = parser().parse_args(words)
    assert (args.verbose, args.fixtures) == (True, ["a.wav"])


def test_parsing_loads_nothing_heavy() -> None:
    heavy = ("numpy", "rich", "pipecat", "onnxruntime", "openai", "httpx2", "pydantic", "importlib.metadata")
    code = f"import sys, pipelines.cli as c; c.parser(); print([name for name in {heavy!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout.strip() == "[]"
