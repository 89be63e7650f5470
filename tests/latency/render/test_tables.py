import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from latency.record.run import Run
from latency.render.layout import console_for
from latency.render.tables import contribution_table, interval_lines, latency_table, worst_table
from latency.report.checks import FIGURES
from latency.report.report import Report, build
from latency.report.stats import Distribution, Spread


@pytest.fixture
def report(short_run: Path, load: Callable[[Path], Run]) -> Report:
    return build(load(short_run))


def drawn(table: Table | None) -> list[str]:
    assert table is not None
    file = io.StringIO()
    console_for(file).print(table)
    return [" ".join(line.split()) for line in file.getvalue().splitlines()]


def test_intervals_of_percentiles_are_a_line_below_the_table(report: Report) -> None:
    measured = replace(Distribution.of([0.5] * 10), p50_ci=(480.4, 512.0), p95_ci=(490.0, 730.0))
    lines = drawn(latency_table(replace(report, turn_ms=measured)))
    assert "latency, ms n no answer p50 p90 p95 max <= 400 <= 800" in lines
    assert "turn 10 0 500 500 500 500 0 10" in lines
    assert "turn barge in 1 0 700 700 700 700 0 1" in lines
    assert list(interval_lines(replace(report, turn_ms=measured, answer_ms=measured))) == [
        "95 % intervals of turn: p50 480-512, p95 490-730 ms"
    ]


def test_too_few_turns_have_no_intervals(report: Report) -> None:
    lines = drawn(latency_table(report))
    assert "latency, ms n no answer p50 p90 p95 max <= 400 <= 800" in lines
    assert "turn 1 1 never never never never 0 1" in lines
    assert "turn detected complete 1 0 600 600 600 600 0 1" in lines
    assert not any(line.startswith("turn cold") for line in lines)
    assert list(interval_lines(report)) == []


def test_a_hundred_turns_have_a_99th_percentile(report: Report) -> None:
    hundred = Distribution.of([0.5] * 100)
    lines = drawn(latency_table(replace(report, turn_ms=hundred, answer_ms=hundred)))
    assert "latency, ms n p50 p90 p95 p99 max <= 400 <= 800" in lines
    assert "turn 100 500 500 500 500 500 0 100" in lines


def test_each_latency_has_the_name_that_a_check_uses(report: Report) -> None:
    budgeted = replace(report, llm=replace(report.llm, policies={"single": 1}), turn_ms_cold=report.turn_ms)
    budgeted = replace(budgeted, turn_ms_fallback=report.turn_ms, answer_ms=Distribution.of([1.0]))
    names = [re.split(r" \d", line)[0] for line in drawn(latency_table(budgeted))[2:]]
    assert len(names) == 7
    assert {f"{name.replace(' ', '_')} p95" for name in names} <= set(FIGURES)


def test_the_slowest_stage_has_the_longest_bar(report: Report) -> None:
    made = {**report.contributions_ms, "transcription": Spread.of([0.1]), "llm_inference": Spread.of([0.4])}
    lines = drawn(contribution_table(replace(report, contributions_ms=made)))
    assert f"llm inference 1 400 400 {'█' * 28} the model's first token" in lines
    assert f"transcription 1 100 100 {'█' * 7} the recogniser's last words" in lines
    assert not any(line.startswith("tier hold") for line in lines)


def test_unknown_stages_have_no_bars(report: Report) -> None:
    nothing = {key: Spread.of([]) for key in report.contributions_ms}
    assert not any("█" in line for line in drawn(contribution_table(replace(report, contributions_ms=nothing))))


def test_the_slowest_turns_are_explained(report: Report) -> None:
    lines = drawn(worst_table(report))
    assert lines[0] == "turn the slowest 2, and why"
    assert lines[2].startswith("2 700 ms: ")
    assert lines[3] == "0 600 ms: synthesis took 170 ms to its first sample; then sending and playout took 100 ms"


def test_turns_of_several_sessions_are_named_with_theirs_and_none_answered_is_no_table(report: Report) -> None:
    session = report.sessions[0]
    other = replace(session, session=replace(session.session, name="empty"), outcomes=())
    assert drawn(worst_table(replace(report, sessions=(session, other))))[2].startswith("commands 2 700 ms")
    assert worst_table(replace(report, sessions=(other,))) is None


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_cuts_no_figure(report: Report, width: int) -> None:
    for table in (latency_table(report, width=width), contribution_table(report, width=width)):
        file = io.StringIO()
        Console(file=file, width=width).print(table)
        shown = file.getvalue()
        assert "\u2026" not in shown
        assert all(len(line) <= width for line in shown.splitlines())
