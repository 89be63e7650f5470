"""Faults are drawn from a seed, happen, are announced and recorded, and every turn is accounted for."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipelines.lab.simulator.timetable import parse_fault
from pipelines.replaying.chaos import MODEL_FAULTS, Fault, Parts, parts_of, schedule
from voice.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[3]
ALL = Parts(models=("sonnet", "groq-fast"), recogniser=True)
CUT = 5
"""A seed whose only fault in `commands/02.wav` is a broken connection."""


def voice(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipelines.cli", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_a_seed_repeats_its_faults_and_another_one_has_others() -> None:
    drawn = [tuple(schedule(seed, "tour", 40, ALL)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert schedule(1, "another call", 40, ALL) != list(drawn[0])
    # A longer call begins with the same faults.
    assert tuple(schedule(1, "tour", 50, ALL))[:40] == drawn[0]


def test_all_parts_and_moments_occur_and_some_turns_are_spared() -> None:
    drawn = schedule(3, "tour", 400, ALL)
    faults = [fault for fault in drawn if fault is not None]
    assert len(faults) < len(drawn)
    assert {fault.part for fault in faults} == {"model", "connection", "recogniser"}
    assert {fault.moment for fault in faults} == {"before", "speaking", "deciding", "answering"}
    assert {fault.kind for fault in faults} == {*MODEL_FAULTS, "cut", "killed", "stopped"}
    assert {fault.models for fault in faults} == {(), ("sonnet",), ("groq-fast",), ("groq-fast", "sonnet")}
    assert {fault.part for fault in schedule(3, "tour", 99, Parts()) if fault} == {"connection"}


def test_every_fault_of_a_model_is_one_of_the_simulators() -> None:
    assert all(parse_fault(kind) for kind in MODEL_FAULTS)


@pytest.mark.parametrize(
    ("moment", "share", "at"), [("before", 0.5, 3.0), ("speaking", 0.5, 5.0), ("deciding", 0.0, 6.0)]
)
def test_a_fault_happens_at_its_moment(moment: Any, share: float, at: float) -> None:
    fault = Fault(part="connection", kind="cut", moment=moment, share=share)
    assert fault.at(start=3.0, onset=4.0, end=6.0) == at


def test_only_parts_that_bear_it_are_broken() -> None:
    sim = {"large": {"provider": "sim", "model": "sim:sonnet?after=3"}, "fast": None, "budget_ms": 450}
    assert parts_of({"pipeline": {"llm": sim, "asr": {"engine": "whisper"}}}) == Parts(models=("sonnet",))
    embedded = {"llm": {"provider": "responder"}, "asr": {"engine": "sphinx"}}
    assert parts_of({"pipeline": embedded}) == Parts(recogniser=True)
    real = {"llm": {"large": {"provider": "openai", "model": "gpt"}, "fast": sim["large"]}}
    with pytest.raises(ConfigurationError, match=r"this pipeline asks openai; take a pipeline such as"):
        parts_of({"pipeline": real})


def test_a_server_that_is_somebody_elses_is_not_broken() -> None:
    done = voice("replay", "--chaos", "1", "--url", "ws://127.0.0.1:9/ws")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("leave out --url.")


def test_a_replay_announces_its_fault_and_accounts_for_the_turn(tmp_path: Path) -> None:
    out = tmp_path / "run"
    sample = "samples/commands/02.wav"
    done = voice("replay", sample, "--pipeline", "embedded", "--chaos", str(CUT), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "the client's connection breaks" in done.stderr
    assert f"FAULTS INJECTED (--chaos {CUT})" in done.stdout
    session = json.loads((out / "run.json").read_text())["sessions"][0]
    assert [fault["what"] for fault in session["injected"]] == ["the client's connection breaks"]
    assert len(session["outages"]) == 1
    report = subprocess.run(
        [sys.executable, "-m", "latency", "report", str(out), "--json"], cwd=ROOT, capture_output=True, text=True
    )
    method = json.loads(report.stdout)["method"]
    assert method["chaos"] == CUT
    assert [(one["turn"], one["end"]) for one in method["accounts"]] == [(0, "answered")]
