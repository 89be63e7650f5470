import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from latency.render.terminal import write
from latency.report import Report, build
from latency.run import Run
from latency.thresholds import Threshold


@pytest.fixture
def report(short_run: Path, load: Callable[[Path], Run]) -> Report:
    return build(load(short_run), [Threshold.parse("cut_offs == 0"), Threshold.parse("turn_cold p50 < 800")])


def drawn(report: Report) -> str:
    file = io.StringIO()
    write(report, file)
    return file.getvalue()


def test_a_pipe_gets_plain_lines_of_bounded_width(report: Report) -> None:
    text = drawn(report)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 120


def test_everything_a_reader_needs_is_there(report: Report) -> None:
    text = drawn(report)
    for part in (
        "20261120-170312-embedded", "Turn latency  p50 750", "1 of 2 turns within 800 ms", "3 of 4 answered",
        "what is seven times eight", "7 times 8 is 56.", "UNANSWERED: nothing heard", "CUT OFF",
        "stopped in 500 ms", "waited for the fallback", "2 of 4 that say what a right answer contains",
        "endpointing wait", "LLM budget   450 ms: within 1", "0.21 CPU cores", "410 MB", "labelled end", "4 turns",
        "failed       cut_offs == 0 (is 1)", "no data      turn_cold p50 < 800", "linear interpolation", "│",
    ):  # fmt: skip
        assert part in text, part


def test_simulated_parts_and_bad_pacing_stand_at_the_top(report: Report) -> None:
    pacing = replace(report.pacing, ok=False, complaints=("session 'commands': audio ran at 0.9 of real time",))
    _, second, third, *_ = drawn(replace(report, simulated=("sim:tier",), pacing=pacing)).splitlines()
    assert second == "SIMULATED, not real: sim:tier"
    assert third.startswith("DO NOT TRUST THESE LATENCIES: session 'commands'")


def test_an_estimated_end_of_speech_is_marked(report: Report) -> None:
    session = report.sessions[0]
    outcomes = tuple(replace(o, turn=replace(o.turn, truth="estimated")) for o in session.outcomes)
    text = drawn(replace(report, truth="estimated", sessions=(replace(session, outcomes=outcomes),)))
    assert "end of speech estimated" in text
    assert "4 of the turns have no label" in text.replace("\n", " ")


def test_text_that_looks_like_markup_is_printed_as_it_is(report: Report) -> None:
    session = report.sessions[0]
    outcomes = tuple(replace(o, turn=replace(o.turn, heard="[red]one[/red] :smile:")) for o in session.outcomes)
    assert "[red]one[/red] :smile:" in drawn(replace(report, sessions=(replace(session, outcomes=outcomes),)))


def test_a_stream_without_unicode_gets_a_report_too(report: Report) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    write(report, file)
    file.flush()
    assert b"Turn latency" in raw.getvalue()
