from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from latency.judge.unexplained import Unexplained
from latency.record.run import Run
from latency.record.turn import TurnStall
from latency.render.method import conditions, method
from latency.report.report import Report, build
from latency.report.turn_figures import PacingFigures


@pytest.fixture
def report(short_run: Path, load: Callable[[Path], Run]) -> Report:
    return build(load(short_run))


def line(report: Report, label: str) -> str:
    (found,) = (line for line in conditions(report) if line.startswith(label))
    return found.removeprefix(label).strip()


def test_host_versions_and_the_command_are_lines(report: Report) -> None:
    host = {"cpus": 2, "load_before": 1.2588, "load_after": None, "python": "3.11.7", "platform": "Linux-x86_64"}
    versions = {"pipecat-ai": "1.14.0", "piper-tts": "1.8.0"}
    header = replace(report.header, host=host, versions=versions, command=("voice", "replay"))
    told = replace(report, header=header)
    assert line(told, "host") == "2 CPUs, load 1.26 before and - after; Python 3.11.7; Linux-x86_64"
    assert line(told, "versions") == "pipecat-ai 1.14.0, piper-tts 1.8.0"
    assert line(told, "run") == "2026-11-20T17:03:12+01:00: voice replay"


def test_an_unknown_host_is_a_row_of_dashes(report: Report) -> None:
    nothing = dict.fromkeys(("cpus", "load_before", "load_after", "python", "platform"))
    unknown = replace(report, header=replace(report.header, host=nothing))
    assert line(unknown, "host") == "- CPUs, load - before and - after; Python -; -"


def stall(at: float, ms: float, turn: int | None, kind: str = "event loop") -> TurnStall:
    return TurnStall(at=at, ms=ms, kind=kind, session="commands", turn=turn)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("watched", "stalls", "told"),
    [
        (False, (), "unknown (the server's event loop was not watched)"),
        (True, (), "none: the server's event loop never stood still for 20 ms"),
        (True, (stall(1.0, 31.0, None),), "1 of the server, of 20 ms or more: event loop 1; longest 31 ms (event loop) "
         "before the first turn"),
        (True, (stall(1.0, 31.0, 0), stall(2.3, 153.4, 1, "garbage collection"), stall(3.0, 22.0, 1)),
         "3 of the server, of 20 ms or more: event loop 2, garbage collection 1; longest 153 ms (garbage collection) "
         "in turn 1"),
    ],
)  # fmt: skip
def test_stalls_are_counted_and_the_longest_is_placed(
    report: Report, watched: bool, stalls: tuple[TurnStall, ...], told: str
) -> None:
    assert line(replace(report, watched=watched, stalls=stalls), "stalls") == told


def test_late_frames_and_late_turns_stand_together(report: Report) -> None:
    assert line(report, "pacing") == "unknown"
    pacing = PacingFigures(
        ok=False, frames=1000, late_over_20ms=50, late_max_ms=61.2, clock_ratio=1.0001, complaints=("x",)
    )
    assert line(replace(report, pacing=pacing, late_turns=3), "pacing") == (
        "BAD: 50 of 1000 audio frames sent over 20 ms late, in 3 of 4 turns; worst 61 ms; "
        "clock ratio 1.0001 (1 is real time)"
    )


def test_a_flagged_turn_is_named_with_its_unexplained_time(report: Report) -> None:
    one = Unexplained(
        session="commands", turn=2, ms=35.0, after="vad_stop", before="first_sent", sentence="35 ms lie here"
    )
    told = list(conditions(replace(report, unexplained=(one,))))
    assert told[1] == "             turn 2: 35 ms lie here"


def test_the_method_states_truth_percentiles_intervals_and_limits(report: Report) -> None:
    text = " ".join(method(report))
    for part in (
        "labelled end", "above -45 dBFS", "linear interpolation", "p99 from 100 samples on",
        "95 % bootstrap intervals, 1000 resamples, from 8 samples on", "more than 2 % of its audio frames",
        "more than 0.1 %",
        "People answer each other within 400 ms", '"answers_ok == 1"',
    ):  # fmt: skip
        assert part in text, part
