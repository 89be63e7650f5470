import base64
import errno
import hashlib
import json
import os
import re
from pathlib import Path

import pytest

from latency.cli import main
from latency.page.document import document
from latency.page.file import check_page, write_page
from latency.page.record import page_of
from latency.record.run import Run, RunError
from latency.record.turn import TurnRecord
from latency.report.report import build
from tests.latency.conversations import Conversation, MakeRun

HOSTILE = (
    '</script><script>document.title = "owned"</script><!-- <script> <img src=x onerror="document.title=1"> '
    "{{scripts}} \u2028\u2029 \u202e reversed \x1b[31mred\x1b[0m &lt;b&gt; ]]>"
)


@pytest.fixture
def hostile_run(make_run: MakeRun) -> Path:
    turn = TurnRecord(
        session="commands", turn=0, speech=((1.0, 2.0),), wants_answer=True, text=HOSTILE, heard=HOSTILE, said=HOSTILE,
        contains=(HOSTILE,), failed=HOSTILE,
    )  # fmt: skip
    return make_run([turn], Conversation(6).user(1, 2).bot(2.6, 4).samples)


def written(run: Path) -> str:
    loaded = Run.load(run)
    return "".join(document(page_of(build(loaded), loaded.recording)))


def test_the_scripts_are_those_that_the_policy_allows(short_run: Path) -> None:
    page = written(short_run)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    assert policy[1].startswith(f"default-src 'none'; script-src {allowed}; ")
    assert len(scripts) == 3
    assert "unsafe-eval" not in policy[1]
    assert "http" not in policy[1]


def test_the_licences_of_the_plots_are_in_the_page(short_run: Path) -> None:
    page = written(short_run)
    assert "@observablehq/plot 0.6.17 (ISC)" in page
    assert "Permission to use, copy, modify, and/or distribute this software" in page


def test_no_markup_of_a_transcript_is_in_the_file(hostile_run: Path, short_run: Path) -> None:
    page, plain = written(hostile_run), written(short_run)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data
    assert "<" not in data[1]
    assert page.count("<script") == plain.count("<script")
    assert page.count("<!--") == plain.count("<!--")
    words = json.loads(data[1])["turns"][0]["words"]
    shown = (
        HOSTILE.replace("\x1b", "\\x1b")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
        .replace("\u202e", "\\u202e")
    )
    assert words[:3] == [["text", shown], ["heard", shown], ["said", shown]]
    assert "\x1b" not in page


def test_no_terminal_escape_of_a_transcript_is_printed(hostile_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["report", str(hostile_run)])
    main(["turn", str(hostile_run), "0", "--no-wav"])
    found = capsys.readouterr()
    assert "\\x1b[31mred" in found.out
    assert "\x1b" not in found.out + found.err


def test_a_page_is_replaced_and_any_other_file_left_alone(
    short_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.html"
    for _ in range(2):
        assert main(["report", str(short_run), "--html", str(path)]) == 0
        assert f"page written to {path} (0." in capsys.readouterr().err
    assert [file.name for file in tmp_path.glob("*report*")] == ["report.html"]
    path.write_text("<!doctype html><p>My own page.")
    assert main(["report", str(short_run), "--html", str(path)]) == 2
    assert capsys.readouterr().err == f"latency: {path} exists and is no page of ours; name another file with --html\n"
    assert path.read_text() == "<!doctype html><p>My own page."


def test_a_file_that_cannot_be_written_is_found_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nowhere" / "report.html"
    assert main(["report", str(tmp_path / "no run"), "--html", str(path)]) == 2
    assert capsys.readouterr().err == f"latency: the page cannot be written to {path}: No such file or directory\n"


def test_neither_a_folder_nor_a_pipe_nor_a_device_is_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(RunError, match="exists and is no page of ours; name another file with --html"):
            check_page(path)


def test_a_page_that_cannot_be_written_leaves_no_part_of_it(
    short_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    loaded = Run.load(short_run)
    with pytest.raises(RunError, match="the page cannot be written to .*: No space left on device"):
        write_page(tmp_path / "report.html", document(page_of(build(loaded), loaded.recording)))
    assert not list(tmp_path.glob("*report*"))


def test_audio_needs_a_page(short_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(short_run), "--audio"]) == 2
    assert capsys.readouterr().err == "latency: --audio puts the audio into a page; name its file with --html\n"
