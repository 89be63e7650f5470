"""Real calls to the stock bot and our agent, each with one recording, in one benchmark."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipelines.lab.bench.variants import read_variants

ROOT = Path(__file__).resolve().parents[4]


SCRIPTED = ("--whisper", "scripted", "--voice", "embedded")


def bench(folder: Path, fixture: Path, *variants: str, options: Sequence[str] = ()) -> dict[str, Any]:
    only = ["--only", *variants] if variants else []
    command = [
        "bench",
        "--fixtures",
        str(fixture),
        "--llm",
        "50:1000",
        *SCRIPTED,
        *only,
        "--out",
        str(folder),
        "--json",
        *options,
    ]
    done = subprocess.run(
        [sys.executable, "-m", "latency", *command], cwd=ROOT, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def called(folder: Path, variant: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The run, its only turn, and what was seen of its call from outside."""
    run = folder / "50-1000" / variant
    (turn,) = (run / "turns.jsonl").read_text().splitlines()
    (seen,) = (run / "calls.jsonl").read_text().splitlines()
    return json.loads((run / "run.json").read_text()), json.loads(turn), json.loads(seen)


@pytest.mark.parametrize("variant", ["stock-pipecat", pytest.param("tuned-pipecat", marks=pytest.mark.slow)])
def test_pipecats_bot_answers_a_call(variant: str, conversation: Callable[..., Path], tmp_path: Path) -> None:
    found = bench(tmp_path / "out", conversation("call", ("commands/01", "question")), variant)
    (row,) = found["rows"]
    assert row["all_turns"] == {"expected": 1, "unanswered": {}}
    assert row["turn_ms"]["n"] == 0, "the first turn of a process is not counted"
    assert row["cpu_s_per_minute"] > 0
    assert row["rss_peak_mb"] > 100
    run, turn, seen = called(tmp_path / "out", variant)
    assert turn["speech"][-1][1] < turn["marks"]["first_audible"]
    assert turn["server_turns"] == []
    assert [request["outcome"] for request in seen["requests"]] == ["completed"]
    assert any(at > turn["speech"][-1][1] for at in seen["turn_ends"]), "pipecat's own messages tell when a turn ended"
    assert any("scripted:whisper" in name for name in run["simulated"])
    assert any("sim:steady" in name for name in run["simulated"])


@pytest.mark.slow
def test_two_callers_speak_recordings_without_a_text_at_once(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for clip in ("commands/01", "units/01"):
        shutil.copy(ROOT / "samples" / f"{clip}.wav", bare / f"{clip.replace('/', '-')}.wav")
    found = bench(tmp_path / "out", bare, "ours", options=["--callers", "2"])
    assert (found["callers"]["wordless"], found["callers"]["estimated"], found["callers"]["at_once"]) == (2, 2, 2)
    (row,) = found["rows"]
    assert (row["calls"], row["all_turns"]) == (4, {"expected": 4, "unanswered": {}})
    assert row["turns"]["n"] == 2, "the first turn of each caller is not counted"
    assert row["llm_requests"]["n"] >= 4
    sessions = json.loads((tmp_path / "out" / "50-1000" / "ours" / "run.json").read_text())["sessions"]
    assert len({session["name"] for session in sessions}) == 4


@pytest.mark.slow
def test_all_agents_answer_the_same_call(conversation: Callable[..., Path], tmp_path: Path) -> None:
    names = [variant.name for variant in read_variants() if not variant.missing]
    found = bench(tmp_path / "out", conversation("call", ("commands/01", "question")))
    assert [row["variant"] for row in found["rows"]] == names
    assert all(row["all_turns"]["unanswered"] == {} for row in found["rows"])
