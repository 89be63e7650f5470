"""`latency whatif` with audio: the same recordings through the whole pipeline, a server of its own for every cell."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from latency.record.run import Run, RunError, Status, file_name
from latency.record.run_writer import RunWriter
from latency.report.report import build
from pipelines.lab.whatif.caller_turns import recording
from pipelines.lab.whatif.contestants import Cell
from pipelines.lab.whatif.draws import PairedDraws
from pipelines.lab.whatif.fast import FastPlan, fast_row, hold
from pipelines.lab.whatif.row import HeldTurns, Row, row
from pipelines.lab.whatif.typical_turns import drawn
from pipelines.replaying.progress import Progress
from pipelines.replaying.replay import one_call
from pipelines.replaying.run_folder import run_header, writing
from pipelines.server_process import own_server
from voice.client.fixtures.fixture import Fixture


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioPlan:
    """The recordings that are played to every cell, and how."""

    folder: Path
    """The folder for the cells' run folders."""
    fixtures: Sequence[Fixture]
    rounds: int
    preset: str
    seed: int
    command: Sequence[str]


def folder_of(plan: AudioPlan, cell: Cell) -> Path:
    """The run folder of a cell."""
    return plan.folder / file_name(f"{cell.policy}-{cell.name}")


async def play(cells: Sequence[Cell], plan: AudioPlan, say: Callable[[str], None]) -> None:
    """Play all recordings to every cell, in rounds that begin with another cell each; the run folders remain.

    Raises:
        VoiceError: a server cannot start, or a call ended early.
    """
    progress = Progress(calls=len(cells) * len(plan.fixtures) * plan.rounds)
    writers: dict[Path, RunWriter] = {}
    status: Status = "interrupted"
    try:
        for round_ in range(plan.rounds):
            first = round_ % len(cells)
            for cell in [*cells[first:], *cells[:first]]:
                say(f"round {round_ + 1}/{plan.rounds}  {cell.policy}  {cell.name}")
                await _play_to(cell, plan, round_, writers, progress)
        status = "complete"
    finally:
        for writer in writers.values():
            _finish(writer, status)


async def _play_to(
    cell: Cell, plan: AudioPlan, round_: int, writers: dict[Path, RunWriter], progress: Progress
) -> None:
    pipeline, settings = settings_of(cell, preset=plan.preset, seed=plan.seed + round_)
    folder = folder_of(plan, cell)
    async with own_server(pipeline, settings) as server:
        if folder not in writers:
            with writing(folder):
                writers[folder] = RunWriter(folder, header=run_header(server, plan.command))
        for number, fixture in enumerate(plan.fixtures):
            name = f"{fixture.name}-{round_ + 1}"
            await one_call(server, fixture, name, writers[folder], progress.call(name), cold=not number, listen=False)


def settings_of(cell: Cell, *, preset: str, seed: int) -> tuple[str, list[str]]:
    """The pipeline of a cell, and its overrides."""
    settings = [
        f"llm.policy={cell.policy}",
        f"llm.large.model={cell.large.profile.name}",
        f"llm.simulator.preset={preset}",
        f"llm.simulator.seed={seed}",
        "llm.bridge=true",
    ]
    if cell.fast is None:
        return "sim-single", settings
    return "sim-fallback", [*settings, f"llm.fast.model={cell.fast.profile.name}"]


def _finish(writer: RunWriter, status: Status) -> None:
    with writing(writer.folder):
        if writer.is_empty:
            writer.discard()
        else:
            writer.finish(status, load_after=os.getloadavg()[0])


def heard(folder: Path) -> HeldTurns:
    """The turns of a run that count, as in a benchmark.

    They are warm, want an answer, do not interrupt, and were not cut off.

    Raises:
        RunError: it cannot be read, or its latencies are refused because the audio was not sent in real time.
    """
    report = build(Run.load(folder))
    if report.refused:
        raise RunError(f"{folder} is refused: {report.refused}", exit_code=3)
    counted = [
        one
        for session in report.sessions
        for one in session.outcomes
        if one.turn.wants_answer and not (one.turn.cold or one.turn.barge_in or one.cut_off)
    ]
    kept = [one for one in counted if one.is_unanswered or one.latency is not None]
    return HeldTurns(
        turns=[one.turn for one in kept],
        latencies=[None if one.is_unanswered else one.latency if one.answer is None else one.answer for one in kept],
        sounds=[one.latency for one in kept],
    )


def audio_row(cell: Cell, plan: AudioPlan, fast: FastPlan, *, turns: int) -> Row:
    """A cell's figures from its recordings; beside them, those of the same turns on the virtual clock.

    Args:
        cell: the tiers and the policy.
        plan: the plan of the recordings.
        fast: the plan for the virtual clock; the turns of the run replace its own.
        turns: the number of turns on the virtual clock.
    """
    folder = folder_of(plan, cell)
    found = row(cell, heard(folder), budget=fast.budget.llm, chain=fast.chain)
    recorded = recording(Run.load(folder))
    virtual = fast_row(cell, replace(fast, turns=drawn(recorded.turns, turns, seed=plan.seed)))
    again = hold(cell, replace(fast, turns=recorded.turns), draws=PairedDraws(cell.tiers, recorded.records))
    same = row(cell, again, budget=fast.budget.llm, chain=1)
    return replace(found, fast_p50_ms=virtual.turn_p50_ms, same_luck_p50_ms=same.turn_p50_ms)
