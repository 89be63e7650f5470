"""The figures of a report that a threshold may name, and what each is taken from.

Importing this loads nothing heavy, because limits are read before anything runs.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from latency.record.contributions import CONTRIBUTIONS

if TYPE_CHECKING:
    from latency.report.load import LoadFigures
    from latency.report.report import Report
    from latency.report.stats import Distribution

Figure = Callable[["Report"], float | None]


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _latency(pick: Callable[["Report"], "Distribution"]) -> dict[str, Figure]:
    """The statistics of a latency; none of them is known without a sample."""

    def plain(statistic: str) -> Figure:
        def figure(report: "Report") -> float | None:
            one = pick(report)
            value: float | None = getattr(one, statistic)
            return math.inf if one.is_never(statistic) else value if one.total else None

        return figure

    def share(statistic: str) -> Figure:
        return lambda report: _share(getattr(pick(report), statistic), pick(report).total)

    figures = {name: plain(name) for name in ("n", "p50", "p90", "p95", "p99", "max")}
    return figures | {name: share(name) for name in ("within_400", "within_800")}


def _total(pick: Callable[["Report"], "Distribution"], report: "Report") -> int:
    return pick(report).total


def _contribution(key: str, statistic: str) -> Figure:
    def figure(report: "Report") -> float | None:
        spread = report.residual_ms if key == "residual" else report.contributions_ms.get(key)
        return getattr(spread, statistic) if spread and spread.n else None

    return figure


def _samples(key: str, report: "Report") -> int:
    spread = report.residual_ms if key == "residual" else report.contributions_ms.get(key)
    return spread.n if spread else 0


def _known_turns(report: "Report") -> int:
    """How many turns want an answer and are recorded."""
    return report.turns.expected - report.turns.lost


def _of_load(pick: Callable[["LoadFigures"], float]) -> Figure:
    return lambda report: None if report.load is None else pick(report.load)


def _llm(*verdicts: str) -> Figure:
    return lambda report: _share(sum(getattr(report.llm, name) for name in verdicts), report.llm.judged)


_PICKED: dict[str, Callable[["Report"], "Distribution"]] = {
    "turn": lambda report: report.turn_ms,
    "turn_cold": lambda report: report.turn_ms_cold,
    "turn_detected_complete": lambda report: report.turn_ms_detected_complete,
    "turn_silence": lambda report: report.turn_ms_fallback,
    "turn_fallback": lambda report: report.turn_ms_fallback,
    "turn_barge_in": lambda report: report.turn_ms_barge_in,
    "answer": lambda report: report.answer_ms,
    "whole_answer": lambda report: report.whole_answer_ms,
}
_STATISTICS = ("p50", "p90", "p95", "p99", "max", "within_400", "within_800")

FIGURES: dict[str, Figure] = {
    **{f"{name} {key}": figure for name, pick in _PICKED.items() for key, figure in _latency(pick).items()},
    **{f"{key} {s}": _contribution(key, s) for key in (*CONTRIBUTIONS, "residual") for s in ("n", "p50", "p95")},
    "llm within": _llm("within", "rescued"),
    "llm rescued": _llm("rescued"),
    "llm bridged": _llm("bridged"),
    "llm missed": _llm("missed"),
    "llm judged": lambda report: report.llm.judged or None,
    "llm textless": lambda report: report.llm.textless if report.llm.judged else None,
    "llm overshoot_p50": lambda report: report.llm.overshoot_ms.p50,
    "llm overshoot_p99": lambda report: report.llm.overshoot_p99_ms,
    "llm overshoot_max": lambda report: report.llm.overshoot_ms.max,
    "llm extra": lambda report: report.llm.waste.extra if report.llm.tiers else None,
    "llm wasted": lambda report: report.llm.waste.share,
    "cost usd": lambda report: report.cost.usd,
    "cost usd_per_call": lambda report: report.cost.usd_per_call,
    "cost usd_per_100_turns": lambda report: report.cost.usd_per_100_turns,
    "cost winners": lambda report: report.cost.winners,
    "cost losers": lambda report: report.cost.losers,
    "cost speculation": lambda report: report.cost.speculation,
    "total": lambda report: report.turns.total or None,
    "expected": lambda report: report.turns.expected or None,
    "answered": lambda report: report.turns.answered if _known_turns(report) else None,
    "unanswered": lambda report: sum(report.turns.unanswered.values()) if _known_turns(report) else None,
    "answers_ok": lambda report: _share(report.turns.answers_ok or 0, report.scored),
    "cut_offs": lambda report: report.quality.cut_offs,
    "pauses": lambda report: report.quality.pauses,
    "gaps": lambda report: report.quality.gaps,
    "early": lambda report: report.quality.early,
    "wer": lambda report: report.quality.wer,
    "false_cut_off_rate": lambda report: report.quality.false_cut_off_rate,
    "barge_in n": lambda report: report.barge_in.n or None,
    "barge_in stop_p50": lambda report: report.barge_in.stop_p50_ms,
    "barge_in stop_p95": lambda report: report.barge_in.stop_p95_ms,
    "barge_in false": lambda report: report.barge_in.false,
    "barge_in missed": lambda report: report.barge_in.missed,
    "barge_in ducked_p95": lambda report: report.barge_in.ducked_p95_ms,
    "barge_in own": lambda report: report.barge_in.own,
    "calls taken": _of_load(lambda load: load.calls),
    "calls refused": _of_load(lambda load: sum(load.refused.values())),
    "calls failed": _of_load(lambda load: sum(load.failed.values())),
    "calls at_once": _of_load(lambda load: load.most_at_once),
    "calls sustained": _of_load(lambda load: load.sustained or 0),
}
"""Every figure a threshold may name, and how it is read from a report."""

COUNTS: dict[str, Callable[["Report"], int]] = {
    **{f"{name} {key}": partial(_total, pick) for name, pick in _PICKED.items() for key in _STATISTICS},
    **{f"{key} {s}": partial(_samples, key) for key in (*CONTRIBUTIONS, "residual") for s in ("p50", "p95")},
    "barge_in stop_p50": lambda report: report.barge_in.n,
    "barge_in stop_p95": lambda report: report.barge_in.n,
}
"""From how many turns a figure is taken."""
MISTAKES = {"cut_offs", "false_cut_off_rate", "gaps", "early", "barge_in false", "barge_in missed", "barge_in own"}
"""Figures that are 0 for an agent that says nothing."""

SHARES = {name for name in FIGURES if "within_" in name} | {
    "llm within", "llm rescued", "llm bridged", "llm missed", "llm wasted", "answers_ok", "false_cut_off_rate",
}  # fmt: skip
"""Figures between 0 and 1."""

WITHOUT_CLOCK = {
    "total", "expected", "answered", "unanswered", "answers_ok", "wer", "pauses", "barge_in n", "llm judged",
    "calls taken", "calls refused", "calls failed", "calls at_once",
}  # fmt: skip
"""Figures of which late audio changes nothing; where it stutters, pauses grow and speech is cut off."""
