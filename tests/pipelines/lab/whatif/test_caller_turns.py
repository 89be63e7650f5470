from pathlib import Path

import pytest

from latency.budget import DETECTOR_LAG, Budget
from latency.record.marks import Mark, Marks
from latency.record.run import Run, RunError, RunHeader
from latency.record.turn import ServerTurn, SpeculationRecord, TurnRecord
from pipelines.lab.simulator.profiles import load_profiles
from pipelines.lab.whatif.audio import settings_of
from pipelines.lab.whatif.caller_turns import CallerTurn, Discarded, recording
from pipelines.lab.whatif.contestants import Cell, Contestant
from pipelines.lab.whatif.draws import PairedDraws, Randomness
from pipelines.lab.whatif.fast import FastPlan, hold
from pipelines.lab.whatif.typical_turns import usual
from pipelines.settings import load

PROFILES = load_profiles("field")


def turn(number: int, *, prepared: bool = False, cold: bool = False, **marks: float) -> TurnRecord:
    at = {
        "eager_hint": 10.1, "vad_stop": 10.25, "turn_commit": 10.5, "llm_request": 10.3, "llm_first_clause": 10.6,
        "clause_to_tts": 10.6, "tts_first_sample": 10.64, "first_audible": 10.67,
    } | marks  # fmt: skip
    speculation = SpeculationRecord(started=2, discarded=1, used=True, spoken_ahead=prepared)
    return TurnRecord(
        session="s", turn=number, speech=((8.0, 10.0),), wants_answer=True, cold=cold, heard="two and two",
        said="Four.",
        marks=Marks({Mark(name): value for name, value in at.items()}),
        server_turns=(ServerTurn(turn=number, speculation=speculation),),
    )  # fmt: skip


def run(*turns: TurnRecord) -> Run:
    header = RunHeader(created="2026-01-01T00:00:00+00:00", pipeline={"vad": {"stop_ms": 150}})
    return Run(folder=Path("runs/x"), status="complete", header=header, sessions=(), turns=turns)


def test_a_runs_turns_keep_its_endpointing_and_its_texts() -> None:
    found = recording(run(turn(0, cold=True), turn(1)))
    assert found.left_out == 1
    assert found.turns == (
        CallerTurn(
            commit=0.5, asked=0.3, discarded=(Discarded(-0.2, 0.3),), noticed=round(0.25 - 0.15 - DETECTOR_LAG, 4),
            hinted=0.1, synthesis=0.04, release=0.02, playout=0.03, speech=2.0, question="two and two", answer="Four.",
        ),
    )  # fmt: skip


def test_a_prepared_clause_shows_no_synthesis_and_takes_the_runs_usual_one() -> None:
    ahead = turn(2, prepared=True, clause_to_tts=10.505, llm_first_clause=10.505, tts_first_sample=10.51)
    found = recording(run(turn(1), ahead)).turns[1]
    assert (found.synthesis, found.release, found.playout) == (0.04, 0.01, 0.16)


def test_a_run_without_answers_says_so() -> None:
    with pytest.raises(RunError, match="no answered turn") as refused:
        recording(run(turn(0, cold=True)))
    assert refused.value.exit_code == 3


@pytest.mark.parametrize("policy", ["single", "fallback"])
def test_with_the_same_luck_the_same_happens(policy: str) -> None:
    fast = Contestant(name="groq-fast", profile=PROFILES["groq-fast"]) if policy == "fallback" else None
    cell = Cell(policy=policy, large=Contestant(name="sonnet", profile=PROFILES["sonnet"]), fast=fast)
    turns = [one for one in usual().turns if not one.discarded]
    plan = FastPlan(turns=turns, chance=Randomness(seed=3, stalls=False), budget=Budget(), chain=10)
    drawn = hold(cell, plan)
    again = hold(cell, plan, draws=PairedDraws(cell.tiers, list(drawn.turns)))
    # Records round instants, and the deadline depends on how fast the tiers have been.
    assert again.latencies == pytest.approx(drawn.latencies, abs=0.005)


def test_every_cell_has_a_pipeline() -> None:
    large, fast = (Contestant(name=name, profile=PROFILES[name]) for name in ("haiku", "cerebras"))
    name, overrides = settings_of(Cell(policy="race", large=large, fast=fast), preset="optimistic", seed=4)
    llm = load(name, overrides).llm.model_dump()
    assert (llm["policy"], llm["bridge"], llm["simulator"]["preset"]) == ("race", True, "optimistic")
    assert (llm["large"]["model"], llm["fast"]["model"]) == ("haiku", "cerebras")
    name, overrides = settings_of(Cell(policy="hedged", large=large), preset="field", seed=4)
    assert list(load(name, overrides).llm.tiers) == ["large"]  # type: ignore[union-attr]
