"""A run as a CSV table with one row for each turn, for spreadsheets and data frames.

The columns and their order are a contract. Names of durations end in `_ms`; names of instants end in `_s`, and instants
count from the first sample of the session's recording. An unknown value is an empty cell, a truth value "true" or
"false". Text that a spreadsheet would take for a formula starts with an apostrophe.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from latency.budget import NATURAL, TURN_LIMIT
from latency.judge.outcome import Outcome
from latency.judge.scoring import word_errors
from latency.judge.verdict import Judged, judge
from latency.record.contributions import CONTRIBUTIONS
from latency.record.marks import Mark
from latency.record.requests import RequestRecord
from latency.record.turn import TurnRecord
from latency.render.as_json import rounded_ms
from latency.report.explain import explain
from latency.report.llm.cost import Spent, turn_cost
from latency.report.report import Report
from latency.report.waterfall import attempts_of

Cell = str | float | int | bool | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Row(NamedTuple):
    """What the cells of a turn are taken from."""

    report: Report
    outcome: Outcome
    turn: TurnRecord
    parts: dict[str, float | None]
    judged: Judged | None
    attempts: Sequence[RequestRecord]
    spent: Spent


def text(report: Report) -> str:
    """The table with its header; lines end with a line feed."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    rows = [_row(report, outcome) for outcome in report.outcomes]
    writer.writerows([_cell(pick(row)) for pick in _COLUMNS.values()] for row in rows)
    return file.getvalue()


def _row(report: Report, outcome: Outcome) -> _Row:
    turn = outcome.turn
    judged = judge(turn, budget=report.llm.budget_ms / 1000)
    return _Row(report, outcome, turn, turn.contributions(), judged, attempts_of(turn), turn_cost(turn))


def _words(turn: TurnRecord) -> tuple[int, int] | tuple[None, None]:
    if turn.text is None or turn.heard is None:
        return None, None
    return word_errors(turn.text, turn.heard)


def _contribution(key: str, row: _Row) -> float | None:
    return rounded_ms(row.parts[key])


def _instant(mark: Mark, row: _Row) -> float | None:
    return row.turn.marks.get(mark)


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _cell(value: Cell) -> str | float | int:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}" if value.startswith(_FORMULA) else value
        case _:
            return value


_COLUMNS: dict[str, Callable[[_Row], Cell]] = {
    "run": lambda r: r.report.run,
    "simulated": lambda r: ", ".join(r.report.simulated),
    "refused_because": lambda r: r.report.refused,
    "session": lambda r: r.turn.session,
    "turn": lambda r: r.turn.turn,
    "scenario": lambda r: r.turn.scenario,
    "fixture": lambda r: r.turn.fixture,
    "text": lambda r: r.turn.text,
    "heard": lambda r: r.turn.heard,
    "said": lambda r: r.turn.said,
    "words": lambda r: _words(r.turn)[1],
    "word_errors": lambda r: _words(r.turn)[0],
    "truth": lambda r: r.turn.truth,
    "cold": lambda r: r.turn.cold,
    "barge_in": lambda r: r.turn.barge_in,
    "backchannel": lambda r: r.turn.backchannel,
    "wants_answer": lambda r: r.turn.wants_answer,
    "answered": lambda r: r.outcome.answered if r.turn.wants_answer else None,
    "unanswered_because": lambda r: r.outcome.unanswered,
    "failed_because": lambda r: r.turn.failed,
    "right": lambda r: r.outcome.right,
    "cut_off": lambda r: r.outcome.cut_off,
    "interrupted": lambda r: r.turn.interrupted,
    "ended_by": lambda r: r.turn.ended_by,
    "smart_turn_probability": lambda r: r.turn.smart_turn.probability if r.turn.smart_turn else None,
    "smart_turn_ms": lambda r: r.turn.smart_turn.ms if r.turn.smart_turn else None,
    "speech_start_s": lambda r: r.turn.start,
    "speech_end_s": lambda r: r.turn.end,
    "pauses": lambda r: r.outcome.pauses,
    "pauses_cut": lambda r: r.outcome.pauses_cut,
    "turn_latency_ms": lambda r: rounded_ms(r.outcome.latency),
    "within_400_ms": lambda r: None if r.outcome.latency is None else r.outcome.latency <= NATURAL,
    "within_800_ms": lambda r: None if r.outcome.latency is None else r.outcome.latency <= TURN_LIMIT,
    "first_answer_ms": lambda r: rounded_ms(r.outcome.answer),
    "whole_answer_ms": lambda r: rounded_ms(r.outcome.whole),
    "barge_in_stop_ms": lambda r: rounded_ms(r.outcome.barge_in_stop),
    "residual_ms": lambda r: rounded_ms(r.outcome.residual),
    "fed_late_max_ms": lambda r: r.turn.late_ms_max,
    "stalls": lambda r: len(r.turn.stalls),
    "stall_max_ms": lambda r: max((stall.ms for stall in r.turn.stalls), default=None),
    **{f"{key}_ms": partial(_contribution, key) for key in CONTRIBUTIONS},
    "llm_verdict": lambda r: r.judged.verdict if r.judged else None,
    "llm_asked": lambda r: r.judged.asked if r.judged else None,
    "llm_spoke": lambda r: r.judged.tier if r.judged else None,
    "llm_model": lambda r: r.judged.model if r.judged else None,
    "llm_policy": lambda r: r.judged.policy if r.judged else None,
    "llm_reason": lambda r: r.judged.reason if r.judged else None,
    "llm_late_ms": lambda r: r.judged.late_ms if r.judged else None,
    "llm_deadline_set_by": lambda r: r.judged.limit if r.judged else None,
    "llm_deadline_charged_to": lambda r: r.judged.charged if r.judged else None,
    "llm_requests": lambda r: len(r.attempts),
    "llm_cancelled": lambda r: sum(one.outcome == "cancelled" for one in r.attempts),
    "llm_failed": lambda r: sum(one.outcome == "failed" for one in r.attempts),
    "llm_tokens_in": lambda r: _sum(one.tokens.prompt for one in r.attempts if one.tokens),
    "llm_tokens_out": lambda r: _sum(one.tokens.completion for one in r.attempts if one.tokens),
    "llm_usd": lambda r: r.spent.usd,
    "llm_usd_losers": lambda r: r.spent.losers,
    "llm_usd_speculation": lambda r: r.spent.speculation,
    "llm_usd_estimated": lambda r: r.spent.estimated,
    "llm_usd_simulated": lambda r: r.spent.simulated,
    # The true end of speech has its own column; the server's estimate of it is left out.
    **{f"{mark}_s": partial(_instant, mark) for mark in Mark if mark is not Mark.SPEECH_END},
    "explanation": lambda r: explain(r.outcome, llm_budget=r.report.llm.budget_ms / 1000),
    "marked_bad": lambda r: r.turn.marked_bad is not None,
}
COLUMNS = tuple(_COLUMNS)
"""The header."""
