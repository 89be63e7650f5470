"""A run as a CSV table with a row for each turn, for spreadsheets and data frames.

The columns and their order are a contract. Names of durations end in `_ms`; names of instants end in `_s`, and instants
count from the first sample of the session's recording. The columns of word checks come last, and only in a run with
such checks. An unknown value is an empty cell, a truth value "true" or
"false". Text that a spreadsheet would take for a formula starts with an apostrophe.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from latency.budget import NATURAL, TURN_LIMIT
from latency.judge.answer import word_errors
from latency.judge.llm_budget import LlmVerdict, judge
from latency.judge.turn import Outcome
from latency.record.contributions import CONTRIBUTIONS
from latency.record.marks import Mark
from latency.record.requests import RequestRecord
from latency.record.turn import TurnRecord
from latency.render.as_json import rounded_ms
from latency.report.explain import explain
from latency.report.llm.cost import Spent, turn_cost
from latency.report.llm.requests import attempts_of
from latency.report.report import Report

Cell = str | float | int | bool | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Row(NamedTuple):
    """The sources of the cells of a turn."""

    report: Report
    outcome: Outcome
    turn: TurnRecord
    parts: dict[str, float | None]
    judged: LlmVerdict | None
    attempts: Sequence[RequestRecord]
    spent: Spent


def text(report: Report) -> str:
    """The table with its header; lines end with a line feed."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    columns = _COLUMNS if report.quality.checks is None else {**_COLUMNS, **_CHECK_COLUMNS}
    writer.writerow(columns)
    for outcome in report.outcomes:
        turn = outcome.turn
        judged = judge(turn, budget=report.llm.budget_ms / 1000)
        row = _Row(report, outcome, turn, turn.contributions(), judged, attempts_of(turn), turn_cost(turn))
        writer.writerow([_cell(pick(row)) for pick in columns.values()])
    return file.getvalue()


def _words(turn: TurnRecord) -> tuple[int, int] | tuple[None, None]:
    if turn.text is None or turn.heard is None:
        return None, None
    return word_errors(turn.text, turn.heard)


def _of(key: str, pick: Callable[[_Row, str], Cell]) -> Callable[[_Row], Cell]:
    return lambda row: pick(row, key)


def _fields(record: str, *names: str) -> dict[str, Callable[[_Row], Cell]]:
    return {name: attrgetter(f"{record}.{name}") for name in names}


def _check(turn: TurnRecord, field: str) -> Cell:
    """A field of the last check of a turn's words."""
    checks = [check for one in turn.server_turns for check in one.checks]
    return getattr(checks[-1], field) if checks else None


def _sum_seconds(turn: TurnRecord) -> float | None:
    seconds = [check.seconds for one in turn.server_turns for check in one.checks if check.seconds is not None]
    return sum(seconds) if seconds else None


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


_LLM_FIELDS = (
    ("verdict", "verdict"), ("asked", "asked"), ("spoke", "tier"), ("model", "model"), ("policy", "policy"),
    ("reason", "reason"), ("late_ms", "late_ms"), ("deadline_set_by", "limit"), ("deadline_charged_to", "charged"),
)  # fmt: skip
"""The columns of a language model's verdict, and the fields that they show."""
_COLUMNS: dict[str, Callable[[_Row], Cell]] = {
    "run": lambda r: r.report.run,
    "simulated": lambda r: ", ".join(r.report.simulated),
    "refused_because": lambda r: r.report.refused,
    **_fields("turn", "session", "turn", "scenario", "fixture", "text", "heard", "said"),
    "words": lambda r: _words(r.turn)[1],
    "word_errors": lambda r: _words(r.turn)[0],
    **_fields("turn", "truth", "cold", "barge_in", "backchannel", "wants_answer"),
    "answered": lambda r: r.outcome.answered if r.turn.wants_answer else None,
    "unanswered_because": lambda r: r.outcome.unanswered,
    "failed_because": lambda r: r.turn.failed,
    **_fields("outcome", "right", "cut_off"),
    **_fields("turn", "interrupted", "ended_by"),
    "smart_turn_probability": lambda r: r.turn.smart_turn.probability if r.turn.smart_turn else None,
    "smart_turn_ms": lambda r: r.turn.smart_turn.ms if r.turn.smart_turn else None,
    "speech_start_s": lambda r: r.turn.start,
    "speech_end_s": lambda r: r.turn.end,
    **_fields("outcome", "pauses", "pauses_cut"),
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
    **{f"{key}_ms": _of(key, lambda r, key: rounded_ms(r.parts[key])) for key in CONTRIBUTIONS},
    **{f"llm_{column}": _of(field, lambda r, name: getattr(r.judged, name, None)) for column, field in _LLM_FIELDS},
    "llm_requests": lambda r: len(r.attempts),
    "llm_cancelled": lambda r: sum(one.outcome == "cancelled" for one in r.attempts),
    "llm_failed": lambda r: sum(one.outcome == "failed" for one in r.attempts),
    "llm_tokens_in": lambda r: _sum(one.tokens.prompt for one in r.attempts if one.tokens),
    "llm_tokens_out": lambda r: _sum(one.tokens.completion for one in r.attempts if one.tokens),
    "llm_usd": lambda r: r.spent.usd,
    **{f"llm_usd_{part}": attrgetter(f"spent.{part}") for part in ("losers", "speculation", "estimated", "simulated")},
    # The true end of speech has its own column, so the server's estimate is left out.
    **{
        f"{mark}_s": _of(mark, lambda r, mark: r.turn.marks.get(Mark(mark)))
        for mark in Mark
        if mark is not Mark.SPEECH_END
    },
    "explanation": lambda r: explain(r.outcome, llm_budget=r.report.llm.budget_ms / 1000),
    "marked_bad": lambda r: r.turn.marked_bad is not None,
}
COLUMNS = tuple(_COLUMNS)
"""The header."""
_CHECK_COLUMNS: dict[str, Callable[[_Row], Cell]] = {
    "words_checked": lambda r: _check(r.turn, "outcome"),
    "words_before": lambda r: _check(r.turn, "before"),
    "words_after": lambda r: _check(r.turn, "after"),
    "words_check_ms": lambda r: rounded_ms(_sum_seconds(r.turn)),
    "words_check_held_ms": lambda r: _check(r.turn, "held_ms"),
}
CHECK_COLUMNS = tuple(_CHECK_COLUMNS)
"""The further columns of a run with checks of words: those of a turn's last check, and the time of all."""
