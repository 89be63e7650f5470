"""Interruptions on Whisper that decodes while the caller speaks: words decide there, too.

The words are scripted, at a quick model's cost; the voice detector, the passes, the decisions and the calls are real.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from pipelines.lab.scripted.model import build_for_fixtures

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples" / "overlaps"
TURNS = 5
"""The first answer of the sample: a request, "yeah", a cough, "okay right", and "never mind"."""

ATTEMPTS = 3
DECIDE_MS = 1500
"""More than usual: on a busy machine the words come late, and an answer that pauses until they come is not there to be
interrupted when the caller says "never mind"."""


def first_answer(folder: Path) -> Path:
    """A fixture of the first turns of the sample."""
    shutil.copytree(SAMPLES, folder)
    scenario = yaml.safe_load((folder / "scenario.yaml").read_text())
    del scenario["scenarios"][0]["turns"][TURNS:]
    (folder / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    return folder


def test_words_decide_on_whispers_partial_texts(tmp_path: Path) -> None:
    fixture = first_answer(tmp_path / "overlaps")
    model = build_for_fixtures(tmp_path / "whisper", [fixture], size="quick", misheard=0)
    for attempt in range(ATTEMPTS):
        run, found = replayed(fixture, model, tmp_path / f"run{attempt}")
        if found["barge_in"]["n"]:
            break
    assert found["barge_in"]["n"] == 1, found["barge_in"]
    assert found["barge_in"]["missed"] == 0
    assert sum(one["stopped"] for one in found["barge_in"]["sounds"].values()) == 0
    turns = [json.loads(line) for line in (run / "turns.jsonl").read_text().splitlines()]
    decided = [one for turn in turns for of in turn["server_turns"] for one in of["overlaps"] or []]
    because = [one["because"] for one in decided if one["words"]]
    assert because == ["backchannel", "backchannel", "stop_word"]


def replayed(fixture: Path, model: Path, run: Path) -> tuple[Path, dict[str, Any]]:
    """The run of the fixture and its report; on a busy machine latencies are refused (3), but not what was decided."""
    changed = ("asr.engine=scripted", f"asr.model={model}", "asr.context=auto", f"barge_in.decide_ms={DECIDE_MS}")
    settings = [part for setting in changed for part in ("--set", setting)]
    replay = [sys.executable, "-m", "pipelines.cli", "replay", str(fixture), "--pipeline", "embedded", *settings]
    done = subprocess.run([*replay, "--out", str(run)], cwd=ROOT, capture_output=True, text=True, timeout=90)
    assert done.returncode in (0, 3), done.stderr
    report = [sys.executable, "-m", "latency", "report", str(run), "--json"]
    reported = subprocess.run(report, cwd=ROOT, capture_output=True, text=True)
    assert reported.returncode in (0, 3), reported.stderr
    return run, json.loads(reported.stdout)
