"""A run as a CSV table with one row for each turn, for spreadsheets and data frames.

The columns and their order are a contract. Names of durations end in `_ms`; names of instants end in `_s`, and instants
count from the first sample of the session's recording. An unknown value is an empty cell, a truth value "true" or
"false". Text that a spreadsheet would take for a formula starts with an apostrophe.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence

from latency.budget import NATURAL, TURN_LIMIT
from latency.judge.outcome import Outcome
from latency.judge.scoring import word_errors
from latency.judge.verdict import Judged, judge
from latency.record.contributions import CONTRIBUTIONS
from latency.record.marks import Mark
from latency.record.requests import AttemptRecord
from latency.record.turn import TurnRecord
from latency.report.explain import explain
from latency.report.llm.cost import Spent, turn_cost
from latency.report.report import Report
from latency.report.waterfall import attempts_of

Cell = str | float | int | bool | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def text(report: Report) -> str:
    """The table with its header; lines end with a line feed."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    rows = [_row(report, outcome) for outcome in report.outcomes]
    writer.writerow(COLUMNS)
    writer.writerows([_cell(row[name]) for name in COLUMNS] for row in rows)
    return file.getvalue()


def _row(report: Report, outcome: Outcome) -> dict[str, Cell]:
    budget = report.llm.budget_ms / 1000
    turn = outcome.turn
    return {
        "run": report.run,
        "simulated": ", ".join(report.simulated),
        "refused_because": report.refused,
        **{name: pick(outcome) for name, pick in _OF_THE_TURN.items()},
        **{f"{key}_ms": _ms(part) for key, part in turn.contributions().items()},
        **_of_the_models(judge(turn, budget=budget), attempts_of(turn)),
        **_cost(turn_cost(turn)),
        **{f"{mark}_s": turn.marks.get(mark) for mark in _MARKS},
        "explanation": explain(outcome, llm_budget=budget),
        "marked_bad": turn.marked_bad is not None,
    }


_OF_THE_TURN: dict[str, Callable[[Outcome], Cell]] = {
    "session": lambda o: o.turn.session,
    "turn": lambda o: o.turn.turn,
    "scenario": lambda o: o.turn.scenario,
    "fixture": lambda o: o.turn.fixture,
    "text": lambda o: o.turn.text,
    "heard": lambda o: o.turn.heard,
    "said": lambda o: o.turn.said,
    "words": lambda o: _words(o.turn)[1],
    "word_errors": lambda o: _words(o.turn)[0],
    "truth": lambda o: o.turn.truth,
    "cold": lambda o: o.turn.cold,
    "barge_in": lambda o: o.turn.barge_in,
    "backchannel": lambda o: o.turn.backchannel,
    "wants_answer": lambda o: o.turn.wants_answer,
    "answered": lambda o: o.answered if o.turn.wants_answer else None,
    "unanswered_because": lambda o: o.unanswered,
    "failed_because": lambda o: o.turn.failed,
    "right": lambda o: o.right,
    "cut_off": lambda o: o.cut_off,
    "interrupted": lambda o: o.turn.interrupted,
    "ended_by": lambda o: o.turn.ended_by,
    "smart_turn_probability": lambda o: o.turn.smart_turn.probability if o.turn.smart_turn else None,
    "smart_turn_ms": lambda o: o.turn.smart_turn.ms if o.turn.smart_turn else None,
    "speech_start_s": lambda o: o.turn.start,
    "speech_end_s": lambda o: o.turn.end,
    "pauses": lambda o: o.pauses,
    "pauses_cut": lambda o: o.pauses_cut,
    "turn_latency_ms": lambda o: _ms(o.latency),
    "within_400_ms": lambda o: None if o.latency is None else o.latency <= NATURAL,
    "within_800_ms": lambda o: None if o.latency is None else o.latency <= TURN_LIMIT,
    "first_answer_ms": lambda o: _ms(o.answer),
    "whole_answer_ms": lambda o: _ms(o.whole),
    "barge_in_stop_ms": lambda o: _ms(o.barge_in_stop),
    "residual_ms": lambda o: _ms(o.residual),
    "fed_late_max_ms": lambda o: o.turn.late_ms_max,
    "stalls": lambda o: len(o.turn.stalls),
    "stall_max_ms": lambda o: max((stall.ms for stall in o.turn.stalls), default=None),
}

# The true end of speech has its own column; the server's estimate of it is left out.
_MARKS = tuple(mark for mark in Mark if mark is not Mark.SPEECH_END)


def _of_the_models(judged: Judged | None, attempts: Sequence[AttemptRecord]) -> dict[str, Cell]:
    outcomes = [attempt.outcome for attempt in attempts]
    return {
        "llm_verdict": judged.verdict if judged else None,
        "llm_asked": judged.asked if judged else None,
        "llm_spoke": judged.tier if judged else None,
        "llm_model": judged.model if judged else None,
        "llm_policy": judged.policy if judged else None,
        "llm_reason": judged.reason if judged else None,
        "llm_late_ms": judged.late_ms if judged else None,
        "llm_deadline_set_by": judged.limit if judged else None,
        "llm_deadline_charged_to": judged.charged if judged else None,
        "llm_requests": len(attempts),
        "llm_cancelled": outcomes.count("cancelled"),
        "llm_failed": outcomes.count("failed"),
        "llm_tokens_in": _sum(one.tokens.prompt for one in attempts if one.tokens),
        "llm_tokens_out": _sum(one.tokens.completion for one in attempts if one.tokens),
    }


def _cost(spent: Spent | None) -> dict[str, Cell]:
    return {
        "llm_usd": spent.usd if spent else None,
        "llm_usd_losers": spent.losers if spent else None,
        "llm_usd_speculation": spent.speculation if spent else None,
        "llm_usd_estimated": spent.estimated if spent else None,
        "llm_usd_simulated": spent.simulated if spent else None,
    }


def _words(turn: TurnRecord) -> tuple[int, int] | tuple[None, None]:
    if turn.text is None or turn.heard is None:
        return None, None
    return word_errors(turn.text, turn.heard)


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)


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


def _columns() -> Iterator[str]:
    yield from ("run", "simulated", "refused_because")
    yield from _OF_THE_TURN
    yield from (f"{key}_ms" for key in CONTRIBUTIONS)
    yield from _of_the_models(None, ())
    yield from _cost(None)
    yield from (f"{mark}_s" for mark in _MARKS)
    yield from ("explanation", "marked_bad")


COLUMNS = tuple(_columns())
"""The header."""
