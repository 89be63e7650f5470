"""A run folder from anybody, and a path that cannot be one, end in one sentence; nothing waits or is obeyed."""

import json
import os
from pathlib import Path

import pytest

from latency import cli
from latency.record.json_form import LARGEST, visible
from pipelines import cli as voice_cli

LONG = "a" * 300


@pytest.mark.parametrize(
    "words",
    [["report", LONG], ["turn", f"{LONG}/x", "0"], ["curve", LONG], ["fixtures", LONG], ["selftest", "--keep", LONG]],
)
def test_a_name_that_is_too_long(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 2
    found = capsys.readouterr()
    assert (found.out, found.err.count("\n")) == ("", 1)
    assert found.err.startswith("latency: ")
    assert LONG in found.err
    assert found.err.endswith("File name too long\n")


@pytest.mark.parametrize("words", [[f"{LONG}.wav"], [LONG], ["--out", LONG, "samples/tour/01.wav"]])
def test_the_other_command_says_it_too(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert voice_cli.main(["replay", *words]) == 2
    err = capsys.readouterr().err
    assert LONG in err
    assert "standard output" not in err


@pytest.mark.parametrize("name", ["run.json", "under_way.json", "load.json"])
@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
def test_what_is_no_file_is_not_read(name: str, kind: str, short_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads((short_run / "run.json").read_text())
    (short_run / "run.json").write_text(json.dumps(content | {"status": "running"}))
    path = short_run / name
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, LARGEST + 1)
    assert cli.main(["report", str(short_run)]) == 2
    found = capsys.readouterr()
    assert (found.out, found.err.count("\n")) == ("", 1)
    assert str(path) in found.err
    assert ("larger than 64 MiB" if kind == "huge" else "no regular file") in found.err


@pytest.mark.parametrize("text", ["\ud800", "\x1b[2J", "\x9b2J", "a\0b", "\x7f", LONG, "\u2028", "\u202e", "\u2066"])
def test_texts_of_a_run_can_be_printed(text: str, short_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = short_run / "run.json"
    content = json.loads(path.read_text())
    content["components"] = {"turns": text, text: "x"}
    content["sessions"][0] |= {"wav": text, "closed": text, "scenario": text, "sources": {"x": text}}
    content["sessions"][0]["fixtures"] = {"x": "0" * 64}
    path.write_text(json.dumps(content))
    lines = [json.loads(line) for line in (short_run / "turns.jsonl").read_text().splitlines()]
    if text != "\ud800":
        (short_run / "turns.jsonl").write_text("".join(json.dumps(line | {"text": text}) + "\n" for line in lines))
    for words in (["report"], ["report", "--json"], ["report", "--csv"], ["turn"]):
        number = ["0"] if words == ["turn"] else []
        assert cli.main([*words, str(short_run), *number]) in (0, 3)
        found = capsys.readouterr()
        (found.out + found.err).encode()
        assert visible(found.out + found.err) == found.out + found.err
        assert found.out


def test_a_name_on_the_command_line_is_shown_with_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "no\x1b[2J"]) == 2
    assert capsys.readouterr().err == "latency: no\\x1b[2J does not exist\n"
