"""One recorded conversation with everything real: server process, WebSocket, VAD, recogniser, responder and voice."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import soundfile

from tests.pipelines.server_process import ServerProcess

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = ROOT / "samples" / "commands"
Replayed = tuple[Path, "subprocess.CompletedProcess[str]"]
"""The run folder and what `voice replay` printed."""


def voice(*arguments: str, timeout: float = 120) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "pipelines.cli", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=timeout
    )


def report(folder: Path) -> dict[str, Any]:
    printed = subprocess.run(
        [sys.executable, "-m", "latency", "report", str(folder), "--json"], cwd=ROOT, capture_output=True, check=True
    )
    found: dict[str, Any] = json.loads(printed.stdout)
    return found


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory, server: ServerProcess) -> Replayed:
    folder = tmp_path_factory.mktemp("runs") / "run"
    return folder, voice("replay", str(COMMANDS), "--url", server.url, "--out", str(folder))


def test_every_turn_is_answered_and_reported(replayed: Replayed) -> None:
    folder, done = replayed
    assert done.returncode == 0, done.stderr
    figures = report(folder)
    turns = len((folder / "turns.jsonl").read_text().splitlines())
    assert figures["turns"]["total"] == turns
    assert figures["turns"]["answered"] == figures["turns"]["expected"] == turns
    assert figures["turn_ms"]["n"] >= turns - 1
    assert figures["turn_ms"]["p50"] > 0
    assert figures["simulated"] == []
    assert figures["truth"] == "labelled"


def test_most_answers_are_correct(replayed: Replayed) -> None:
    assert report(replayed[0])["turns"]["answers_ok"] >= 4


def test_progress_shows_what_was_heard_and_said(replayed: Replayed) -> None:
    _, done = replayed
    assert "→" in done.stderr
    assert "PocketSphinx" in done.stderr
    assert "Turn latency" in done.stdout


def test_the_recording_holds_both_sides_on_one_clock(replayed: Replayed) -> None:
    folder, _ = replayed
    run = json.loads((folder / "run.json").read_text())
    (session,) = run["sessions"]
    audio, rate = soundfile.read(folder / session["wav"])
    assert rate == 16000
    assert audio.shape[1] == 2
    assert len(audio) / rate == pytest.approx(session["seconds"], abs=0.05)
    for line in (folder / "turns.jsonl").read_text().splitlines():
        turn = json.loads(line)
        start, end = turn["speech"][0][0], turn["speech"][-1][1]
        user = audio[round(start * rate) : round(end * rate), 0]
        assert abs(user).max() > 0.1, "the labelled speech lies on the user's channel"


def test_marks_are_on_the_recordings_clock_and_explain_the_turn(replayed: Replayed) -> None:
    for line in (replayed[0] / "turns.jsonl").read_text().splitlines():
        marks = json.loads(line)["marks"]
        end = json.loads(line)["speech"][-1][1]
        chain = [end, *(marks[name] for name in ("vad_stop", "turn_commit", "first_sent", "first_audible"))]
        assert chain == sorted(chain)


def test_the_run_records_how_it_was_made(replayed: Replayed) -> None:
    run = json.loads((replayed[0] / "run.json").read_text())
    assert run["status"] == "complete"
    assert run["pipeline"]["name"] == "embedded"
    assert run["versions"]["pipecat-ai"]
    assert run["sessions"][0]["clock"]["pings"] >= 8
    assert run["sessions"][0]["cold"] is False, "a server named by --url may have had calls before"


def test_health_reports_readiness_and_components(server: ServerProcess) -> None:
    with urllib.request.urlopen(server.health) as answer:
        health = json.load(answer)
    assert health["ready"] is True
    assert health["components"]["llm"] == "responder (no language model)"
