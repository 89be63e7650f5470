import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from latency.record.run import Run
from latency.render.terminal.console import console_for
from latency.render.terminal.tables import contribution_table, latency_table, worst_table
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


def test_percentiles_stand_with_the_intervals_they_lie_in(report: Report) -> None:
    measured = replace(Distribution.of([0.5] * 10), p50_ci=(480.4, 512.0), p95_ci=(490.0, 730.0))
    lines = drawn(latency_table(replace(report, turn_ms=measured)))
    assert "ms n p50 [95 %] p90 p95 [95 %] p99 max <= 400 <= 800" in lines
    assert "turn latency 10 500 [480-512] 500 500 [490-730] - 500 0 10" in lines
    assert "barge-in turns (apart) 1 700 700 700 - 700 0 1" in lines


def test_too_few_turns_have_no_interval_and_no_column_for_it(report: Report) -> None:
    lines = drawn(latency_table(report))
    assert "ms n p50 p90 p95 p99 max <= 400 <= 800" in lines
    assert "waited for the fallback 1 900 900 900 - 900 0 0" in lines
    assert "cold turns (apart) 0 - - - - - 0 0" in lines


def test_the_slowest_stage_is_marked_and_bars_show_what_is_waited_for(report: Report) -> None:
    made = {**report.contributions_ms, "transcription": Spread.of([0.1]), "llm_inference": Spread.of([0.4])}
    lines = drawn(contribution_table(replace(report, contributions_ms=made)))
    assert f"llm inference 1 400 400 {'█' * 28} slowest stage" in lines
    assert f"transcription 1 100 100 {'█' * 7}" in lines
    assert not any(line.startswith("tier hold") for line in lines)
    plain = drawn(contribution_table(replace(report, contributions_ms=made), ascii_only=True))
    assert f"llm inference 1 400 400 {'#' * 28} slowest stage" in plain


def test_no_stage_is_the_slowest_when_none_is_known(report: Report) -> None:
    nothing = {key: Spread.of([]) for key in report.contributions_ms}
    assert not any("slowest" in line for line in drawn(contribution_table(replace(report, contributions_ms=nothing))))


def test_the_slowest_turns_are_explained(report: Report) -> None:
    lines = drawn(worst_table(report))
    assert lines[1] == "turn the slowest 3, and why"
    assert lines[3].startswith("1 900 ms: ")
    assert lines[5] == "0 600 ms: synthesis took 170 ms to its first sample; then sending and playout took 100 ms"


def test_turns_of_several_sessions_are_named_with_theirs_and_none_answered_is_no_table(report: Report) -> None:
    session = report.sessions[0]
    other = replace(session, session=replace(session.session, name="empty"), outcomes=())
    assert drawn(worst_table(replace(report, sessions=(session, other))))[3].startswith("commands 1 900 ms")
    assert worst_table(replace(report, sessions=(other,))) is None


def test_a_narrow_terminal_wraps_names_and_cuts_no_figure(report: Report) -> None:
    for table in (latency_table(report, width=60), contribution_table(report, width=60)):
        file = io.StringIO()
        Console(file=file, width=60).print(table)
        told = file.getvalue()
        assert "\u2026" not in told
        assert all(len(line) <= 60 for line in told.splitlines())
