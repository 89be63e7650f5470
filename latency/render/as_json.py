"""A report for programs: the keys and their order are a contract (see `latency.report.report.Report`)."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from latency.report.explain import slowest_stage, worst
from latency.report.report import Report
from latency.report.stats import INTERVAL_METHOD, METHOD

_NAMES = [field.name for field in fields(Report)]
KEYS = tuple(_NAMES[: _NAMES.index("thresholds") + 1])
"""The top-level keys, in order; they are followed by `method`, which says how the figures were measured."""


def to_json(report: Report) -> dict[str, Any]:
    """The report as one JSON object."""
    content = {key: _plain(getattr(report, key)) for key in KEYS}
    content["thresholds"] = [
        {"expr": item.expr, "verdict": item.verdict, **({"reason": item.reason} if item.reason else {})}
        for item in report.thresholds
    ]
    return content | {"method": _method(report)}


def text(report: Report) -> str:
    """The report as indented JSON text."""
    return json.dumps(to_json(report), indent=2, ensure_ascii=False)


def _method(report: Report) -> dict[str, Any]:
    """How the figures were measured, the slowest stage and the slowest turns."""
    names = ("created", "command", "versions", "components", "host", "late_turns", "refused", "watched", "stalls",
            "unexplained", "notes", "rests_on", "chaos", "accounts")  # fmt: skip
    worst_turns = [
        {"session": one.turn.session, "turn": one.turn.turn, "latency_ms": _ms(one.latency), "why": why}
        for one, why in worst(report)
    ]
    return {
        "percentiles": METHOD,
        "intervals": INTERVAL_METHOD,
        **{name: _plain(getattr(report, name)) for name in names},
        "slowest_stage": slowest_stage(report),
        "worst": worst_turns,
    }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)


def _plain(value: object) -> object:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
