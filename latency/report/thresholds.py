"""Limits on a report's figures, written as text: parsed before anything runs, judged after.

    threshold  = figure operator number ["n>=" turns]
    figure     = one of `latency.report.checked_figures.FIGURES`, such as "turn p95", "llm within" or "cut_offs"
    operator   = "<" | "<=" | ">" | ">=" | "==" | "!="

"turn_fallback" is another name for "turn_silence". Durations are milliseconds: "turn p95 < 800". Shares lie between 0
and 1: `answers_ok` is a share of the turns whose right answer is known, `within_800` of the measured turns, the four
verdicts of the turns that asked a model ("llm within" includes the rescued ones), "llm wasted" of the tokens; `wer` and
`false_cut_off_rate` are rates. "llm overshoot_..." is how late answer text was after its deadline, "llm textless" the
number of turns without any, "llm extra" the number of requests beyond the first one for each answer. Costs are US
dollars; "cost losers" is what the requests cost that were cancelled or failed, and one model without a known price
makes all costs "no data".

The figures of "calls" are those of a load test (`voice load`).

`within_800` is a share of the answered and the unanswered turns. An unanswered turn is later than any limit, so a
percentile that falls on one fails "turn p95 < 800".

A figure without a single sample gives "no data", never a pass. So do

* a 95th percentile of fewer than 20 turns, unless the threshold allows fewer ("turn p95 < 800 n>=5"); it may also ask
  for more, and for turns of any other figure that has a number of them ("turn p50 < 600 n>=50"),
* "cut_offs == 0" and what else counts an agent's mistakes, when no turn was answered and so none could be made,
* every figure that depends on time if the run is refused because its audio was not sent in real time.
"""

import difflib
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from latency.report.checked_figures import COUNTS, FIGURES, MISTAKES, SHARES, WITHOUT_CLOCK

if TYPE_CHECKING:
    from latency.report.report import Report


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A threshold held against a report."""

    expr: str
    verdict: Literal["passed", "failed", "no data"]
    value: float | None
    """The figure that was judged; infinite for a latency that falls on an unanswered turn."""
    reason: str | None = None
    """Why there is no data, in one clause; None for the other verdicts."""

    @property
    def shown(self) -> str | None:
        """The figure in words; None when there is none."""
        if self.value is None:
            return None
        return "that of an unanswered turn" if math.isinf(self.value) else f"{self.value:g}"


_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_SHAPE = re.compile(r"(?P<figure>[^<>=!≤≥]*)(?P<operator>[<>=!≤≥]+)(?P<limit>[^<>=!≤≥]*)")
_TURNS = re.compile(r"(?<=[\d.])\s+n\s*>=\s*(\d+)\s*$")
"""The end of a threshold that says how many turns its figure needs."""
P95_NEEDS = 20
"""Turns that a 95th percentile needs to be judged: with fewer it lies next to the maximum."""
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)")
_MEANT = {"=": "==", "=<": "<=", "=>": ">=", "≤": "<=", "≥": ">=", "<>": "!=", "===": "=="}
_EXAMPLE = 'write one like "turn p95 < 800" or "cut_offs == 0"'


class ThresholdError(ValueError):
    """A text that is no threshold; the sentence says what is known instead."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit on one figure."""

    expr: str
    figure: str
    operator: str
    limit: float
    needs: int
    """Turns without which the figure is not judged."""

    @classmethod
    def parse(cls, expr: str) -> "Threshold":
        """Read a threshold; the grammar is the module's docstring.

        Raises:
            ThresholdError: Not of the form, no such figure, a share outside 0 to 1, or a number of turns for a figure
                that has none.
        """
        turns = _TURNS.search(expr)
        match = _SHAPE.fullmatch(expr[: turns.start()] if turns else expr)
        if not match or not match["figure"].strip() or not match["limit"].strip():
            raise ThresholdError(f'"{expr}" is no threshold; {_EXAMPLE}')
        figure, sign = " ".join(match["figure"].split()), match["operator"]
        if sign not in _OPERATORS:
            meant = f'write "{_MEANT[sign]}"' if sign in _MEANT else f"there is {', '.join(_OPERATORS)}"
            raise ThresholdError(f'"{expr}" is no threshold: "{sign}" is no operator; {meant}')
        if figure not in FIGURES:
            raise ThresholdError(f'"{expr}": there is no figure "{figure}"; {_known(figure)}')
        limit = _limit(expr, figure, match["limit"].strip())
        if figure in SHARES and not 0 <= limit <= 1:
            raise ThresholdError(f'"{expr}": {figure} is a share between 0 and 1, not {limit:g}')
        if turns and figure not in COUNTS:
            raise ThresholdError(f'"{expr}": {figure} is not taken from a number of turns; leave out "n>={turns[1]}"')
        needs = int(turns[1]) if turns else P95_NEEDS if figure.endswith("p95") else 1
        return cls(expr.strip(), figure, sign, limit, needs)

    def judge(self, report: "Report") -> CheckResult:
        """Hold the threshold against a report."""
        if report.refused and self.figure not in WITHOUT_CLOCK:
            return CheckResult(self.expr, "no data", None, f"the run is refused: {report.refused}")
        value = FIGURES[self.figure](report)
        if value is None:
            return CheckResult(self.expr, "no data", None, _why_not(self.figure, report))
        if self.figure in MISTAKES and not value and report.is_unanswered:
            return CheckResult(self.expr, "no data", None, "no turn was answered")
        count = COUNTS[self.figure](report) if self.figure in COUNTS else None
        if count is not None and count < self.needs:
            return CheckResult(self.expr, "no data", None, self._too_few(count))
        passed = _OPERATORS[self.operator](value, self.limit)
        return CheckResult(self.expr, "passed" if passed else "failed", value)

    def _too_few(self, count: int) -> str:
        limit = _TURNS.sub("", self.expr)
        what = "the 95th percentile" if self.figure.endswith("p95") else self.figure
        return (
            f"{what} needs {self.needs} turns and this run has {count}; replay more (--repeat), or allow fewer: "
            f'"{limit} n>={count}"'
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
    else:
        meant = "its limit is a number"
    raise ThresholdError(f'"{expr}" is no threshold: "{text}" is no number; {meant}')


def _why_not(figure: str, report: "Report") -> str:
    if figure.startswith("cost ") and report.cost.unpriced:
        return f"no price known for {' and '.join(report.cost.unpriced)}"
    if figure.endswith(" p99") or figure == "llm overshoot_p99":
        return "the 99th percentile needs 100 samples"
    return "nothing of that kind was measured in this run"


def _known(figure: str) -> str:
    meant = difflib.get_close_matches(_spelt(figure), FIGURES, n=1, cutoff=0.7)
    name = figure.split()[0]
    own = [known for known in FIGURES if known.split()[0] == name]
    if own:
        return f"of {name} there is {', '.join(known.removeprefix(name).strip() or name for known in own)}" + (
            f'; did you mean "{meant[0]}"?' if meant else ""
        )
    if meant:
        return f'did you mean "{meant[0]}"?'
    latency = [known for known in FIGURES if known.split()[-1] == name]
    if latency:
        return f'say of what, as in "{latency[0]}"'
    return f"known are {', '.join(dict.fromkeys(known.split()[0] for known in FIGURES))}"


def _spelt(figure: str) -> str:
    """A figure as it would be spelt here: its words may be joined by hyphens, or be capital letters."""
    return figure.lower().replace("-", "_")
