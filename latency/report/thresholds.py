"""Limits on a report's figures, written as text: parsed before anything runs, judged after.

    threshold  = figure operator number
    figure     = latency statistic | contribution ("n" | "p50" | "p95") | "llm" budget | single
    latency    = "turn" | "turn_cold" | "turn_barge_in" | "turn_detected_complete" | "turn_silence" | "answer" |
                 "whole_answer"
    statistic  = "n" | "p50" | "p90" | "p95" | "p99" | "max" | "within_400" | "within_800"
    contribution = "endpointing_wait" | "transcription" | ... | "pipeline" | "residual"
    budget     = "within" | "rescued" | "bridged" | "missed" | "judged" | "textless" | "overshoot_p50" |
                 "overshoot_p99" | "overshoot_max" | "extra" | "wasted"
    single     = "total" | "expected" | "answered" | "unanswered" | "answers_ok" | "cut_offs" | "pauses" | "gaps" |
                 "wer" | "false_cut_off_rate" | "barge_in n" | "barge_in stop_p50" | "barge_in stop_p95" |
                 "barge_in false"
    operator   = "<" | "<=" | ">" | ">=" | "==" | "!="

"turn_fallback" is another name for "turn_silence". Durations are milliseconds: "turn p95 < 800". Shares lie between 0
and 1: `answers_ok` is a share of the turns whose right answer is known, `within_800` of the measured turns, the four
verdicts of the turns that asked a model ("llm within" includes the rescued ones), "llm wasted" of the tokens; `wer` and
`false_cut_off_rate` are rates. "llm overshoot_..." is how late answer text was after its deadline, "llm textless" the
number of turns without any, "llm extra" the number of requests beyond the first one for each answer.

A figure without a single sample gives "no data", never a pass. So does every figure that depends on time if the run is
refused because its audio was not sent in real time.
"""

import difflib
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from latency.record.turn import CONTRIBUTIONS
from latency.report.judgement import Judgement

if TYPE_CHECKING:
    from latency.report.report import Report
    from latency.report.stats import Distribution

Figure = Callable[["Report"], float | None]

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_SHAPE = re.compile(r"(?P<figure>[^<>=!≤≥]*)(?P<operator>[<>=!≤≥]+)(?P<limit>[^<>=!≤≥]*)")
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

    @classmethod
    def parse(cls, expr: str) -> "Threshold":
        """Read a threshold; the grammar is the module's docstring.

        Raises:
            ThresholdError: Not of the form, no such figure, or a share outside 0 to 1.
        """
        match = _SHAPE.fullmatch(expr)
        if not match or not match["figure"].strip() or not match["limit"].strip():
            raise ThresholdError(f'"{expr}" is no threshold; {_EXAMPLE}')
        figure, sign = " ".join(match["figure"].split()), match["operator"]
        if sign not in _OPERATORS:
            meant = f'write "{_MEANT[sign]}"' if sign in _MEANT else f"there is {', '.join(_OPERATORS)}"
            raise ThresholdError(f'"{expr}" is no threshold: "{sign}" is no operator; {meant}')
        if figure not in FIGURES:
            raise ThresholdError(f'"{expr}": there is no figure "{figure}"; {_known(figure)}')
        limit = _limit(expr, figure, match["limit"].strip())
        if figure in _SHARES and not 0 <= limit <= 1:
            raise ThresholdError(f'"{expr}": {figure} is a share between 0 and 1, not {limit:g}')
        return cls(expr.strip(), figure, sign, limit)

    def judge(self, report: "Report") -> Judgement:
        """Hold the threshold against a report."""
        if report.refused and self.figure not in _WITHOUT_CLOCK:
            return Judgement(self.expr, "no data", None, f"the run is refused: {report.refused}")
        value = FIGURES[self.figure](report)
        if value is None:
            return Judgement(self.expr, "no data", None, _why_not(self.figure))
        passed = _OPERATORS[self.operator](value, self.limit)
        return Judgement(self.expr, "passed" if passed else "failed", value)


def _limit(expr: str, figure: str, text: str) -> float:
    if _NUMBER.fullmatch(text):
        return float(text)
    unit = re.fullmatch(rf"({_NUMBER.pattern})\s*(ms|s|%)", text)
    if unit and unit[2] == "ms":
        meant = f"durations are milliseconds without a unit: write {unit[1]}"
    elif unit and unit[2] == "s":
        meant = f"durations are milliseconds: write {float(unit[1]) * 1000:g}"
    elif unit and figure in _SHARES:
        meant = f"shares lie between 0 and 1: write {float(unit[1]) / 100:g}"
    elif unit and figure == "wer":
        meant = f"it is a ratio: write {float(unit[1]) / 100:g}"
    else:
        meant = "its limit is a number"
    raise ThresholdError(f'"{expr}" is no threshold: "{text}" is no number; {meant}')


def _why_not(figure: str) -> str:
    if figure.endswith(" p99") or figure == "llm overshoot_p99":
        return "the 99th percentile needs 100 samples"
    return "nothing of that kind was measured in this run"


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _latency(pick: Callable[["Report"], "Distribution"]) -> dict[str, Figure]:
    """The statistics of a latency; none of them is known without a sample."""

    def plain(statistic: str) -> Figure:
        return lambda report: getattr(pick(report), statistic) if pick(report).n else None

    def share(statistic: str) -> Figure:
        return lambda report: _share(getattr(pick(report), statistic), pick(report).n)

    figures = {name: plain(name) for name in ("n", "p50", "p90", "p95", "p99", "max")}
    return figures | {name: share(name) for name in ("within_400", "within_800")}


def _contribution(key: str, statistic: str) -> Figure:
    def figure(report: "Report") -> float | None:
        spread = report.residual_ms if key == "residual" else report.contributions_ms.get(key)
        return getattr(spread, statistic) if spread and spread.n else None

    return figure


def _llm(*verdicts: str) -> Figure:
    return lambda report: _share(sum(getattr(report.llm, name) for name in verdicts), report.llm.judged)


_LATENCIES = {
    "turn": _latency(lambda report: report.turn_ms),
    "turn_cold": _latency(lambda report: report.turn_ms_cold),
    "turn_detected_complete": _latency(lambda report: report.turn_ms_detected_complete),
    "turn_silence": _latency(lambda report: report.turn_ms_fallback),
    "turn_fallback": _latency(lambda report: report.turn_ms_fallback),
    "turn_barge_in": _latency(lambda report: report.turn_ms_barge_in),
    "answer": _latency(lambda report: report.answer_ms),
    "whole_answer": _latency(lambda report: report.whole_answer_ms),
}

FIGURES: dict[str, Figure] = {
    **{f"{name} {key}": figure for name, figures in _LATENCIES.items() for key, figure in figures.items()},
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
    "total": lambda report: report.turns.total or None,
    "expected": lambda report: report.turns.expected or None,
    "answered": lambda report: report.turns.answered if report.turns.expected else None,
    "unanswered": lambda report: sum(report.turns.unanswered.values()) if report.turns.expected else None,
    "answers_ok": lambda report: _share(report.turns.answers_ok or 0, report.scored),
    "cut_offs": lambda report: report.quality.cut_offs,
    "pauses": lambda report: report.quality.pauses,
    "gaps": lambda report: report.quality.gaps,
    "wer": lambda report: report.quality.wer,
    "false_cut_off_rate": lambda report: report.quality.false_cut_off_rate,
    "barge_in n": lambda report: report.barge_in.n or None,
    "barge_in stop_p50": lambda report: report.barge_in.stop_p50_ms,
    "barge_in stop_p95": lambda report: report.barge_in.stop_p95_ms,
    "barge_in false": lambda report: report.barge_in.false,
}
"""Every figure a threshold may name, and how it is read from a report."""

_SHARES = {name for name in FIGURES if "within_" in name} | {
    "llm within", "llm rescued", "llm bridged", "llm missed", "llm wasted", "answers_ok", "false_cut_off_rate",
}  # fmt: skip

_WITHOUT_CLOCK = {
    "total", "expected", "answered", "unanswered", "answers_ok", "wer", "pauses", "barge_in n", "llm judged",
}  # fmt: skip
"""Figures of which late audio changes nothing; where it stutters, pauses grow and speech is cut off."""


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
