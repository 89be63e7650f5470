from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from latency.judge.llm_budget import LlmVerdict
from latency.record.run import Run
from latency.record.turn import Stall
from latency.render.turn_table import BLANK, legend, llm_remark, turn_table
from latency.report.report import Report, build

IN_TIME = LlmVerdict(
    verdict="within",
    asked="large",
    tier="large",
    model="sim:sonnet",
    policy="adaptive",
    reason="large first",
    late_ms=-120.0,
    limit="llm",
    charged=None,
    phrases=(),
    gave_up=None,
)


@pytest.mark.parametrize(
    ("how", "remark"),
    [
        ({}, None),
        ({"verdict": None}, None),
        ({"verdict": None, "tier": None}, None),
        ({"asked": "fast", "tier": "fast", "reason": "large is too slow these days"},
         "fast: large is too slow these days"),
        ({"verdict": "rescued", "tier": "fast"}, "rescued by fast"),
        ({"verdict": "bridged", "phrases": ("One moment.",), "late_ms": 820.4},
         "bridged: One moment. (answer 820 ms late)"),
        ({"verdict": "bridged", "phrases": ("One moment.",), "late_ms": 820.4, "tier": "fast"},
         "bridged: One moment. (answer by fast 820 ms late)"),
        ({"verdict": "bridged", "phrases": ("One moment.",), "late_ms": None, "tier": None},
         "bridged: One moment. (no answer)"),
        ({"verdict": "missed", "late_ms": 320.0}, "deadline missed by 320 ms"),
        ({"verdict": "missed", "late_ms": 0.4, "tier": "fast"}, "deadline missed by under 1 ms (fast)"),
        ({"verdict": "missed", "late_ms": None, "tier": None}, "deadline missed: no answer text"),
        ({"verdict": "missed", "late_ms": 320.0, "policy": None}, None),
    ],
)  # fmt: skip
def test_a_remark_names_the_tier_unless_the_usual_one_was_in_time(how: dict[str, object], remark: str) -> None:
    assert llm_remark(replace(IN_TIME, **how), usual="large") == remark  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "remark"),
    [
        ({}, ""),
        ({"late_ms_max": 44.6}, "audio sent 45 ms late"),
        ({"late_ms_max": 20.0}, ""),
        ({"stalls": (Stall(at=1.0, ms=153.4, kind="event loop"),)}, "153 ms stall"),
        (
            {"stalls": (Stall(at=1.0, ms=31.0, kind="event loop"), Stall(at=2.0, ms=60.0, kind="garbage collection"))},
            "2 stalls, longest 60 ms",
        ),
    ],
)
def test_late_audio_and_stalls_are_remarked(
    short_run: Path, load: Callable[[Path], Run], values: dict[str, object], remark: str
) -> None:
    report = build(load(short_run))
    first = report.sessions[0].outcomes[0]
    turn = replace(first.turn, **values)  # type: ignore[arg-type]
    session = replace(report.sessions[0], outcomes=(replace(first, turn=turn),))
    *_, line = lines(replace(report, sessions=(session,)))
    assert line == f"0      what is seven times eight   7 times 8 is 56.   600   smart turn   yes   {remark}".rstrip()


def lines(report: Report, *, width: int = 120) -> list[str]:
    return [line for line, _ in turn_table(report, width=width)]


def test_columns_are_aligned_and_figures_right_aligned(short_run: Path, load: Callable[[Path], Run]) -> None:
    assert lines(build(load(short_run))) == [
        "turn   heard                       said                    ms   ended by     ok?   remarks",
        "─" * 120,
        "0      what is seven times eight   7 times 8 is 56.       600   smart turn   yes",
        "1      tell me a lorry             I can't answer that.   900   silence      NO    CUT OFF",
        "2      never mind                  Okay.                  700   smart turn   yes   bot stopped in 500 ms",
        "3" + " " * 59 + "-   -            NO    UNANSWERED: nothing heard",
    ]


def test_an_answer_sooner_than_people_give_one_is_marked(short_run: Path, load: Callable[[Path], Run]) -> None:
    report = build(load(short_run))
    (session,) = report.sessions
    early = replace(session, outcomes=(replace(session.outcomes[0], latency=0.15),))
    assert lines(replace(report, sessions=(early,)))[2].endswith("150   smart turn   yes   EARLY: within 200 ms")


def test_the_legend_explains_a_blank_where_one_stands(short_run: Path, load: Callable[[Path], Run]) -> None:
    report = build(load(short_run))
    assert "blank" not in legend(report)
    (session,) = report.sessions
    unknown = replace(session, outcomes=(replace(session.outcomes[0], right=None),))
    assert legend(replace(report, sessions=(unknown,))).endswith(BLANK)


def test_rows_are_coloured_by_their_problems(short_run: Path, load: Callable[[Path], Run]) -> None:
    styles = [style for _, style in turn_table(build(load(short_run)), width=120)]
    assert styles == ["bold", "dim", "", "red", "", "red"]


def test_long_texts_are_cut_and_long_remarks_wrapped(short_run: Path, load: Callable[[Path], Run]) -> None:
    report = build(load(short_run))
    first = report.sessions[0].outcomes[0]
    turn = replace(first.turn, heard="one\ntwo " * 9, said="字" * 20, late_ms_max=99.0, failed="It broke in the middle")
    told = replace(report, sessions=(replace(report.sessions[0], outcomes=(replace(first, turn=turn),)),))
    _, _, line, *more = lines(told, width=115)
    assert line == (
        "0      one two one two one two o…   " + "字" * 12 + "…    600   smart turn   yes   It broke in the middle;"
    )
    assert more == [" " * 90 + "audio sent 99 ms late"]
    narrow = lines(told, width=20)
    assert narrow[1] == "─" * 20
    assert "one two…" in narrow[2]


def test_a_turn_that_asked_no_model_has_no_remark() -> None:
    assert llm_remark(None, usual=None) is None


def test_a_narrow_terminal_shortens_texts_and_puts_remarks_below(short_run: Path, load: Callable[[Path], Run]) -> None:
    report = build(load(short_run))
    narrow, wide = lines(report, width=60), lines(report, width=120)
    assert all(len(line) <= 60 for line in narrow)
    assert narrow[0].split()[-1] == "ok?"
    latencies = [f" {outcome.latency * 1000:.0f} " for outcome in report.outcomes if outcome.latency is not None]
    assert all(any(latency in line for line in narrow) for latency in latencies)
    assert len(narrow) > len(wide)
