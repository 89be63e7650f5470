"""A report for programs: the keys and their order are a contract (see `latency.report.Report`)."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from latency.report import Report

_NAMES = [field.name for field in fields(Report)]
KEYS = tuple(_NAMES[: _NAMES.index("thresholds") + 1])
"""The top-level keys, in order; the report's other fields are for people."""


def to_json(report: Report) -> dict[str, Any]:
    """The report as one JSON object."""
    content = {key: _plain(getattr(report, key)) for key in KEYS}
    content["thresholds"] = [{"expr": item.expr, "verdict": item.verdict} for item in report.thresholds]
    return content


def text(report: Report) -> str:
    """The report as indented JSON text."""
    return json.dumps(to_json(report), indent=2, ensure_ascii=False)


def _plain(value: object) -> object:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
