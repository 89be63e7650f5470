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
from pipelines.lab.whatif.caller_turns import CallerTurn
from pipelines.lab.whatif.contestants import Cell
from pipelines.lab.whatif.draws import Draws, Randomness
from pipelines.lab.whatif.row import HeldTurns, Row, row
from pipelines.lab.whatif.virtual_calls import VirtualCalls


@dataclass(frozen=True, slots=True, kw_only=True)
class FastPlan:
    """The plan that all cells share."""

    turns: Sequence[CallerTurn]
    """In order; the same for every cell."""
    chance: Randomness
    budget: Budget
    chain: int
    """Turns of a call that must all be right."""


def hold(cell: Cell, plan: FastPlan, *, draws: Draws | None = None) -> HeldTurns:
    """Hold all turns with a cell's tiers and policy; `draws` gives the requests' times, drawn unless set."""
    calls = VirtualCalls(
        cell,
        chance=plan.chance,
        budget=plan.budget,
        synthesis=[turn.synthesis for turn in plan.turns[:100]],
        call_turns=plan.chain,
        draws=draws,
    )
    turns = calls.hold(plan.turns)
    return HeldTurns(
        turns=turns,
        latencies=[_after_speech(turn, Mark.FIRST_ANSWER_AUDIBLE) for turn in turns],
        sounds=[_after_speech(turn, Mark.FIRST_AUDIBLE) for turn in turns],
    )


def _after_speech(turn: TurnRecord, mark: Mark) -> float | None:
    return turn.marks[mark] - turn.marks[Mark.SPEECH_END] if mark in turn.marks else None


def fast_row(cell: Cell, plan: FastPlan) -> Row:
    """A cell's figures, and the share in time if no request stalled."""
    found = row(cell, hold(cell, plan), budget=plan.budget.llm, chain=plan.chain)
    if not plan.chance.stalls:
        return found
    calm = replace(plan, chance=replace(plan.chance, stalls=False, correlated=False))
    return replace(found, calm_in_time=row(cell, hold(cell, calm), budget=plan.budget.llm, chain=plan.chain).in_time)


def fast_rows(cells: Sequence[Cell], plan: FastPlan, said: Callable[[int], None] = lambda _: None) -> list[Row]:
    """The figures of every cell, in order; `said` is called with the number of finished rows."""
    workers = min(len(cells), os.cpu_count() or 1)
    if workers == 1:
        return [fast_row(cell, plan) for cell in cells]
    rows: list[Row] = []
    # Leaving the context ends the workers at once; Ctrl-C reaches only this process.
    with Pool(workers, initializer=signal, initargs=(SIGINT, SIG_IGN)) as pool:
        for found in pool.imap(partial(fast_row, plan=plan), cells):
            rows.append(found)
            said(len(rows))
    return rows
