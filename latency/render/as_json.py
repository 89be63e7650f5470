"""A report for programs: the keys and their order are a contract (see `latency.report.report.Report`)."""

import json
from dataclasses import fields
from typing import Any

from latency.record.json_form import to_json as as_builtins
from latency.report.explain import slowest_stage, worst
from latency.report.report import Report
from latency.report.stats import INTERVAL_METHOD, METHOD

_NAMES = [field.name for field in fields(Report)]
KEYS = tuple(_NAMES[: _NAMES.index("thresholds") + 1])
"""The top-level keys, in order, followed by `method`, the method of the measurement."""


def to_json(report: Report) -> dict[str, Any]:
    """The report as one JSON object."""
    content = {key: as_builtins(getattr(report, key)) for key in KEYS if key != "thresholds"}
    if report.quality.checks is None:
        del content["quality"]["checks"]
    return content | {"thresholds": checks(report), "method": _method(report)}


def checks(report: Report) -> list[dict[str, Any]]:
    """The checks and their verdicts."""
    return [
        {"expr": item.expr, "verdict": item.verdict, **({"reason": item.reason} if item.reason else {})}
        for item in report.thresholds
    ]


def text(report: Report) -> str:
    """The report as indented JSON text."""
    return json.dumps(to_json(report), indent=2, ensure_ascii=False)


def _method(report: Report) -> dict[str, Any]:
    """How the figures were measured, the slowest stage and the slowest turns."""
    of_header = ("created", "command", "versions", "components")
    names = ("host", "late_turns", "refused", "watched", "stalls", "unexplained", "notes", "rests_on")
    worst_turns = [
        {"session": one.turn.session, "turn": one.turn.turn, "latency_ms": rounded_ms(one.latency), "why": why}
        for one, why in worst(report)
    ]
    return {
        "percentiles": METHOD,
        "intervals": INTERVAL_METHOD,
        **{name: as_builtins(getattr(report.header, name)) for name in of_header},
        **{name: as_builtins(getattr(report, name)) for name in names},
        "chaos": report.header.chaos,
        "accounts": as_builtins(report.accounts),
        "slowest_stage": slowest_stage(report),
        "worst": worst_turns,
    }


def rounded_ms(seconds: float | None) -> float | None:
    """Seconds in milliseconds to 0.1."""
    return None if seconds is None else round(seconds * 1000, 1)
