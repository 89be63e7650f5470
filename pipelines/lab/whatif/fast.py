"""`latency whatif --fast`: thousands of turns on a virtual clock, each cell in a process of its own."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import Pool
from signal import SIG_IGN, SIGINT, signal

from latency.budget import Budget
from latency.record.marks import Mark
from latency.record.turn import TurnRecord
from pipelines.lab.whatif.contestant import Cell
from pipelines.lab.whatif.row import Held, Row, row
from pipelines.lab.whatif.turns.caller_turn import CallerTurn
from pipelines.lab.whatif.virtual.calls import Randomness, VirtualCalls
from pipelines.lab.whatif.virtual.paired_draws import PairedDraws


@dataclass(frozen=True, slots=True, kw_only=True)
class FastPlan:
    """What every cell has in common."""

    turns: Sequence[CallerTurn]
    """In order; the same for every cell."""
    chance: Randomness
    budget: Budget
    chain: int
    """Turns of a call, which all have to be right."""


def hold(cell: Cell, plan: FastPlan, *, luck: PairedDraws | None = None) -> Held:
    """Hold all turns with a cell's tiers and policy; `luck` gives the times of requests that are not to be drawn."""
    calls = VirtualCalls(
        cell,
        chance=plan.chance,
        budget=plan.budget,
        synthesis=[turn.synthesis for turn in plan.turns[:100]],
        call_turns=plan.chain,
        luck=luck,
    )
    turns = list(calls.hold(plan.turns))
    return Held(
        turns=turns,
        latencies=[_after_speech(turn, Mark.FIRST_ANSWER_AUDIBLE) for turn in turns],
        sounds=[_after_speech(turn, Mark.FIRST_AUDIBLE) for turn in turns],
    )


def _after_speech(turn: TurnRecord, mark: Mark) -> float | None:
    return turn.marks[mark] - turn.marks[Mark.SPEECH_END] if mark in turn.marks else None


def fast_row(cell: Cell, plan: FastPlan) -> Row:
    """A cell's figures; beside them, what share would be in time if no request stalled."""
    found = row(cell, hold(cell, plan), budget=plan.budget.llm, chain=plan.chain)
    if not plan.chance.stalls:
        return found
    calm = replace(plan, chance=replace(plan.chance, stalls=False, correlated=False))
    return replace(found, calm_in_time=row(cell, hold(cell, calm), budget=plan.budget.llm, chain=plan.chain).in_time)


def fast_rows(cells: Sequence[Cell], plan: FastPlan, said: Callable[[int], None] = lambda _: None) -> list[Row]:
    """The figures of every cell, in order; `said` is called with the number of rows that are there."""
    workers = min(len(cells), os.cpu_count() or 1)
    if workers == 1:
        return [fast_row(cell, plan) for cell in cells]
    rows: list[Row] = []
    # Leaving the context ends the workers, whatever they are at; Ctrl-C is for this process alone.
    with Pool(workers, initializer=signal, initargs=(SIGINT, SIG_IGN)) as pool:
        for found in pool.imap(partial(fast_row, plan=plan), cells):
            rows.append(found)
            said(len(rows))
    return rows
