"""A project's own tests hold limits against its agent, without a server started by hand."""

import dataclasses
from pathlib import Path

import pytest
from pipecat.processors.filters.identity_filter import IdentityFilter

from latency.record.run import Run, RunHeader
from latency.report.report import build
from pipelines import Agent, ComponentError, ConfigurationError, FixtureError, replay
from pipelines.replaying.agent_replay import Replay, served
from tests.pipelines.gate_run import run_gate

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "samples" / "commands" / "01.wav"
GATE = f"""
import sys

assert "pipecat" not in sys.modules, "the plugin itself is light"

import pytest


def test_it_answers_in_time(turnaround_replay):
    from pipelines import Agent

    heard = []

    def look_up(order: str) -> str:
        '''The state of an order.'''
        heard.append(order)
        return "sent"

    agent = Agent(tools=[look_up], pipeline="embedded")
    replay = turnaround_replay(agent, {str(SAMPLE)!r}, repeat=2)
    assert len(replay.report.sessions) == 2
    assert (replay.report.turn_ms.n, replay.report.turn_ms_cold.n) == (1, 1), "the first turn of a fresh server is cold"
    replay.check("turn p95 < 10000 n>=1", "answered == 2")
    with pytest.raises(AssertionError, match="turn p50 < 1: it is [0-9.]+; answer p50 < 1: .*run folder: "):
        replay.check("turn p50 < 1", "answer p50 < 1")
    with pytest.raises(AssertionError, match="turn p95 < 10000: the 95th percentile needs 20 turns and this run has 1"):
        replay.check("turn p95 < 10000")
    again = turnaround_replay(agent, {str(SAMPLE)!r})
    with pytest.raises(AssertionError, match="turn p95 < 9999: (nothing of that kind was measured|the run is refused)"):
        again.check("turn p95 < 9999")
"""


@pytest.mark.slow  # pytest -m slow tests/pipelines/replaying/test_agent_replay.py
def test_a_project_gates_its_agent_with_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_gate.py").write_text(GATE)
    done = run_gate(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_cannot_be_replayed_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    agent = Agent(pipeline="embedded")
    with pytest.raises(FixtureError, match=r"nowhere.wav: there is no such file"):
        replay(agent, "nowhere.wav")
    (tmp_path / "run.json").touch()
    with pytest.raises(ConfigurationError, match="already holds a run"):
        replay(agent, SAMPLE, out=tmp_path)
    assert agent.engines is None


def test_an_agent_that_cannot_start_raises_its_error_here() -> None:
    def deaf() -> IdentityFilter:
        raise RuntimeError("no ears")

    with (
        pytest.raises(ConfigurationError, match="asr.service: .*deaf cannot be made: RuntimeError: no ears"),
        served(Agent(pipeline="embedded", stt=deaf)),
    ):
        pass


def test_a_call_that_is_cut_short_raises_what_the_caller_saw(tmp_path: Path) -> None:
    agent = Agent(pipeline="embedded", processors=[IdentityFilter()])
    with pytest.raises(ComponentError, match="this IdentityFilter has served a call"):
        replay(agent, SAMPLE, repeat=2, out=tmp_path / "run")


def test_every_check_of_a_refused_run_fails_with_the_reason(tmp_path: Path) -> None:
    empty = build(
        Run(folder=tmp_path, status="complete", header=RunHeader(created="2026-11-22"), sessions=(), turns=())
    )
    refused = Replay(tmp_path, dataclasses.replace(empty, refused="late"))
    with pytest.raises(AssertionError, match="^turn p95 < 1; answered == 0: the run is refused: late"):
        refused.check("turn p95 < 1", "answered == 0")
