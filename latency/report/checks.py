"""Limits on a report's figures, written as text: parsed before anything runs, judged after.

    check      = figure operator limit ["n>=" turns]
    figure     = one of `FIGURES`, such as "turn p95", "llm within" or "cut_offs"
    operator   = "<" | "<=" | ">" | ">=" | "==" | "!="
    limit      = number | [number "*"] "baseline", the figure of another run

docs/reference/checks.md explains each figure. A check without data never passes.

Importing this loads nothing heavy, because limits are parsed before anything runs.
"""

import difflib
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from latency.budget import P95_NEEDS
from latency.record.contributions import CONTRIBUTIONS

if TYPE_CHECKING:
    from latency.report.load_test import LoadFigures
    from latency.report.report import Report
    from latency.report.stats import Distribution

Figure = Callable[["Report"], float | None]
"""Reads a figure from a report; None without a sample."""


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _of_latency(field: str, statistic: str) -> Figure:
    def figure(report: "Report") -> float | None:
        found: Distribution = getattr(report, field)
        value: float | None = getattr(found, statistic)
        if statistic.startswith("within"):
            return _share(value or 0, found.total)
        return math.inf if found.is_never(statistic) else value if found.total else None

    return figure


def _of_stage(key: str, statistic: str) -> Figure:
    def figure(report: "Report") -> float | None:
        spread = report.residual_ms if key == "residual" else report.contributions_ms.get(key)
        return getattr(spread, statistic) if spread and spread.n else None

    return figure


def _known_turns(report: "Report") -> int:
    """The number of recorded turns that want an answer."""
    return report.turns.expected - report.turns.lost


def _of_load(pick: Callable[["LoadFigures"], float]) -> Figure:
    return lambda report: None if report.load is None else pick(report.load)


def _llm(*verdicts: str) -> Figure:
    return lambda report: _share(sum(getattr(report.llm, name) for name in verdicts), report.llm.judged)


_LATENCIES = {
    "turn": "turn_ms",
    "turn_cold": "turn_ms_cold",
    "turn_detected_complete": "turn_ms_detected_complete",
    "turn_silence": "turn_ms_fallback",
    "turn_fallback": "turn_ms_fallback",
    "turn_barge_in": "turn_ms_barge_in",
    "answer": "answer_ms",
    "whole_answer": "whole_answer_ms",
}
_STATISTICS = ("n", "p50", "p90", "p95", "p99", "max", "within_400", "within_800")
_STAGES = (*CONTRIBUTIONS, "residual")

FIGURES: dict[str, Figure] = {
    **{f"{name} {s}": _of_latency(field, s) for name, field in _LATENCIES.items() for s in _STATISTICS},
    **{f"{key} {s}": _of_stage(key, s) for key in _STAGES for s in ("n", "p50", "p95")},
    "llm within": _llm("within", "rescued"),
    **{f"llm {verdict}": _llm(verdict) for verdict in ("rescued", "bridged", "missed")},
    "llm judged": lambda report: report.llm.judged or None,
    "llm textless": lambda report: report.llm.textless if report.llm.judged else None,
    "llm overshoot_p50": attrgetter("llm.overshoot_ms.p50"),
    "llm overshoot_p99": attrgetter("llm.overshoot_p99_ms"),
    "llm overshoot_max": attrgetter("llm.overshoot_ms.max"),
    "llm extra": lambda report: report.llm.waste.extra if report.llm.tiers else None,
    "llm wasted": attrgetter("llm.waste.share"),
    **{
        f"cost {name}": attrgetter(f"cost.{name}")
        for name in ("usd", "usd_per_call", "usd_per_100_turns", "winners", "losers", "speculation")
    },
    "total": lambda report: report.turns.total or None,
    "expected": lambda report: report.turns.expected or None,
    "answered": lambda report: report.turns.answered if _known_turns(report) else None,
    "unanswered": lambda report: sum(report.turns.unanswered.values()) if _known_turns(report) else None,
    "answers_ok": lambda report: _share(report.turns.answers_ok or 0, report.scored),
    **{
        name: attrgetter(f"quality.{name}")
        for name in ("cut_offs", "pauses", "gaps", "early", "wer", "false_cut_off_rate")
    },
    "eva": attrgetter("turn_taking.eva"),
    "barge_in n": lambda report: report.barge_in.n or None,
    "barge_in stop_p50": attrgetter("barge_in.stop_p50_ms"),
    "barge_in stop_p95": attrgetter("barge_in.stop_p95_ms"),
    "barge_in false": attrgetter("barge_in.false"),
    "barge_in missed": attrgetter("barge_in.missed"),
    "barge_in ducked_p95": attrgetter("barge_in.ducked_p95_ms"),
    "barge_in own": attrgetter("barge_in.own"),
    "calls taken": _of_load(lambda load: load.calls),
    "calls refused": _of_load(lambda load: sum(load.refused.values())),
    "calls failed": _of_load(lambda load: sum(load.failed.values())),
    "calls at_once": _of_load(lambda load: load.most_at_once),
    "calls sustained": _of_load(lambda load: load.sustained or 0),
}
"""Every figure that a check may name."""

COUNTS: dict[str, Figure] = {
    **{f"{name} {s}": attrgetter(f"{field}.total") for name, field in _LATENCIES.items() for s in _STATISTICS[1:]},
    **{f"{key} {s}": _of_stage(key, "n") for key in _STAGES for s in ("p50", "p95")},
    "barge_in stop_p50": attrgetter("barge_in.n"),
    "barge_in stop_p95": attrgetter("barge_in.n"),
}
"""The number of turns behind a figure."""
MISTAKES = {"cut_offs", "false_cut_off_rate", "gaps", "early", "barge_in false", "barge_in missed", "barge_in own"}
"""Figures that are 0 for a silent agent."""

SHARES = {name for name in FIGURES if "within_" in name} | {
    "llm within", "llm rescued", "llm bridged", "llm missed", "llm wasted", "answers_ok", "false_cut_off_rate", "eva",
}  # fmt: skip
"""Figures between 0 and 1."""

WITHOUT_CLOCK = {
    "total", "expected", "answered", "unanswered", "answers_ok", "wer", "pauses", "barge_in n", "llm judged",
    "calls taken", "calls refused", "calls failed", "calls at_once",
}  # fmt: skip
"""Figures that late audio does not change; stuttering audio lengthens pauses and cuts off speech."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check on a report."""

    expr: str
    verdict: Literal["passed", "failed", "no data"]
    value: float | None
    """The judged figure; infinite for a latency that falls on an unanswered turn."""
    reason: str | None = None
    """Why there is no data, in one clause; None for the other verdicts."""
    baseline: float | None = None
    """The baseline's figure, if the limit depends on it."""

    @property
    def shown(self) -> str | None:
        """The figure in words; None when there is none."""
        if self.value is None:
            return None
        value = "that of an unanswered turn" if math.isinf(self.value) else f"{self.value:g}"
        return value if self.baseline is None else f"{value}, the baseline's {self.baseline:g}"


_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_SHAPE = re.compile(r"(?P<figure>[^<>=!≤≥]*)(?P<operator>[<>=!≤≥]+)(?P<limit>[^<>=!≤≥]*)")
_TURNS = re.compile(r"(?:(?<=[\d.])|(?<=baseline))\s+n\s*>=\s*(\d+)\s*$")
"""The end of a check, with the number of turns that its figure needs."""
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)")
_RELATIVE = re.compile(rf"(?:({_NUMBER.pattern})\s*\*\s*)?baseline")
"""A limit that is a multiple of the baseline's figure."""
_MEANT = {"=": "==", "=<": "<=", "=>": ">=", "≤": "<=", "≥": ">=", "<>": "!=", "===": "=="}
_EXAMPLE = 'write one like "turn p95 < 800" or "cut_offs == 0"'


class CheckError(ValueError):
    """A text that is not a check; the message names the valid forms."""


@dataclass(frozen=True, slots=True)
class Check:
    """A limit on one figure."""

    expr: str
    figure: str
    operator: str
    limit: float
    """Or the factor of the baseline's figure."""
    needs: int
    """The least turns for judging the figure."""
    is_relative: bool = False
    """Whether the limit is a multiple of the baseline's figure."""

    @classmethod
    def parse(cls, expr: str) -> "Check":
        """Read a check; the grammar is the module's docstring.

        Raises:
            CheckError: Invalid form, unknown figure, a share outside 0 to 1, or a number of turns for a figure that
                has none.
        """
        turns = _TURNS.search(expr)
        match = _SHAPE.fullmatch(expr[: turns.start()] if turns else expr)
        if not match or not match["figure"].strip() or not match["limit"].strip():
            raise CheckError(f'"{expr}" is no threshold; {_EXAMPLE}')
        figure, sign = " ".join(match["figure"].split()), match["operator"]
        if sign not in _OPERATORS:
            meant = f'write "{_MEANT[sign]}"' if sign in _MEANT else f"there is {', '.join(_OPERATORS)}"
            raise CheckError(f'"{expr}" is no threshold: "{sign}" is no operator; {meant}')
        if figure not in FIGURES:
            raise CheckError(f'"{expr}": there is no figure "{figure}"; {_known(figure)}')
        relative = _RELATIVE.fullmatch(match["limit"].strip())
        if relative and float(relative[1] or 1) <= 0:
            raise CheckError(f'"{expr}": a multiple of the baseline is above 0, such as "1.05 * baseline"')
        limit = float(relative[1] or 1) if relative else _limit(expr, figure, match["limit"].strip())
        if figure in SHARES and not relative and not 0 <= limit <= 1:
            raise CheckError(f'"{expr}": {figure} is a share between 0 and 1, not {limit:g}')
        if turns and figure not in COUNTS:
            raise CheckError(f'"{expr}": {figure} is not taken from a number of turns; leave out "n>={turns[1]}"')
        needs = int(turns[1]) if turns else P95_NEEDS if figure.endswith("p95") else 1
        return cls(expr.strip(), figure, sign, limit, needs, relative is not None)

    def judge(self, report: "Report", baseline: "Report | None" = None) -> CheckResult:
        """Judge a report by the check, and by the baseline's figure if the limit depends on it."""
        value = FIGURES[self.figure](report)
        reason = self._unjudged(value, report)
        if value is None or reason:
            return CheckResult(self.expr, "no data", None, reason)
        limit, level = self.limit, None
        if self.is_relative:
            level = None if baseline is None else FIGURES[self.figure](baseline)
            if (reason := self._without_level(level, report, baseline)) or level is None:
                return CheckResult(self.expr, "no data", None, reason)
            limit *= level
        passed = _OPERATORS[self.operator](value, limit)
        return CheckResult(self.expr, "passed" if passed else "failed", value, baseline=level)

    def _without_level(self, level: float | None, report: "Report", baseline: "Report | None") -> str | None:
        """Why the baseline's figure, its level, is no limit, in one clause; None when it is one."""
        if baseline is None:
            return "it needs a baseline (--baseline NAME)"
        if baseline.recordings != report.recordings:
            return f"the baseline {baseline.run} played other recordings"
        if (reason := self._unjudged(level, baseline)) is not None:
            return f"in the baseline, {reason}"
        return "in the baseline, it is that of an unanswered turn" if level == math.inf else None

    def _unjudged(self, value: float | None, report: "Report") -> str | None:
        """Why the figure is no data, in one clause; None when it is judged."""
        if report.refused and self.figure not in WITHOUT_CLOCK:
            return f"the run is refused: {report.refused}"
        if value is None:
            return _why_not(self.figure, report)
        if self.figure in MISTAKES and not value and report.is_unanswered:
            return "no turn was answered"
        count = (COUNTS[self.figure](report) or 0) if self.figure in COUNTS else self.needs
        if count >= self.needs:
            return None
        what = "the 95th percentile" if self.figure.endswith("p95") else self.figure
        return (
            f"{what} needs {self.needs} turns and this run has {count}; replay more (--repeat), or allow fewer: "
            f'"{_TURNS.sub("", self.expr)} n>={count}"'
        )


def _limit(expr: str, figure: str, text: str) -> float:
    if _NUMBER.fullmatch(text):
        return float(text)
    unit = re.fullmatch(rf"({_NUMBER.pattern})\s*(ms|s|%)", text)
    if unit and unit[2] == "ms":
        meant = f"durations are milliseconds without a unit: write {unit[1]}"
    elif unit and unit[2] == "s":
        meant = f"durations are milliseconds: write {float(unit[1]) * 1000:g}"
    elif unit and figure in SHARES:
        meant = f"shares lie between 0 and 1: write {float(unit[1]) / 100:g}"
    elif unit and figure == "wer":
        meant = f"it is a ratio: write {float(unit[1]) / 100:g}"
    elif figure.startswith("cost ") and (dollars := re.fullmatch(rf"\$\s*({_NUMBER.pattern})", text)):
        meant = f"costs are US dollars: write {dollars[1]}"
    elif turned := re.fullmatch(rf"baseline\s*\*\s*({_NUMBER.pattern})", text):
        meant = f'write "{turned[1]} * baseline"'
    else:
        meant = 'its limit is a number, or a multiple of a baseline, such as "1.05 * baseline"'
    raise CheckError(f'"{expr}" is no threshold: "{text}" is no number; {meant}')


def _why_not(figure: str, report: "Report") -> str:
    if figure.startswith("cost ") and report.cost.unpriced:
        return f"no price known for {' and '.join(report.cost.unpriced)}"
    if figure.endswith(" p99") or figure == "llm overshoot_p99":
        return "the 99th percentile needs 100 samples"
    return "nothing of that kind was measured in this run"


def _known(figure: str) -> str:
    # Its words may be joined by hyphens, or be capital letters.
    meant = difflib.get_close_matches(figure.lower().replace("-", "_"), FIGURES, n=1, cutoff=0.7)
    name = figure.split()[0]
    own = [known for known in FIGURES if known.split()[0] == name]
    if own:
        return f"of {name} there is {', '.join(known.removeprefix(name).strip() or name for known in own)}" + (
            f'; did you mean "{meant[0]}"?' if meant else ""
        )
    if meant:
        return f'did you mean "{meant[0]}"?'
    if latency := [known for known in FIGURES if known.split()[-1] == name]:
        return f'say of what, as in "{latency[0]}"'
    return f"known are {', '.join(dict.fromkeys(known.split()[0] for known in FIGURES))}"
