from latency.render.bars import bars
from latency.report.waterfall import Bar, Waterfall, WaterfallRow

ROWS = (
    WaterfallRow(label="user", group="speech", bars=(Bar(-1.0, 0.0, "speech"),)),
    WaterfallRow(label="turn detection", group="stage", took=0.3, waited=0.1, note="silence",
        bars=(Bar(0.2, 0.5, "work"), Bar(0.4, 0.5, "path"))),
    WaterfallRow(label="large", group="model", took=0.2, bars=(Bar(0.5, 0.7, "work"), Bar(0.7, 5.0, "stream"))),
    WaterfallRow(label="LLM deadline", group="model", bars=(Bar(0.9, 0.9, "instant"),)),
)  # fmt: skip
MADE = Waterfall(start=-0.1, end=1.0, rows=ROWS)
WIDTH = 125
"""Leaves 55 columns of 20 ms."""


def drawn(*, width: int = WIDTH) -> list[str]:
    return [line for _, line in bars(MADE, width=width)]


def axis(line: str) -> str:
    return line[34 : 34 + 55]


def test_bars_lie_on_one_axis_with_lines_at_the_end_of_speech_at_400_and_at_800_ms() -> None:
    scale, user, detection, large, deadline, *legend = drawn()
    assert scale == "ms                    took  wait       0         200       400       600       800       1000"
    assert axis(user) == "▒▒▒▒▒│" + " " * 19 + "┊" + " " * 19 + "│"
    assert axis(detection).rstrip() == "     │         ░░░░░░░░░░█████               │"
    assert detection.startswith("turn detection         300   100  ")
    assert detection.endswith("  silence")
    assert axis(large) == "     │                   ┊    ░░░░░░░░░░···············"
    assert large.startswith("large                  200        ")
    assert axis(deadline).rstrip() == "     │                   ┊                   │    ◆"
    assert legend == [
        "█ critical path  ░ in parallel  · text still arriving  ▒ audible speech  ◆ instant  ┊ 400 ms  │ 0 and 800 ms",
        "took: the stage's own work  wait: its part of the latency",
    ]


def test_each_line_comes_with_its_row() -> None:
    assert [row for row, _ in bars(MADE, width=WIDTH)] == [None, *ROWS, None, None]


def test_the_shortest_event_is_visible_and_events_beyond_the_axis_are_marked_at_its_edge() -> None:
    rows = (
        WaterfallRow(label="short", group="stage", bars=(Bar(0.1, 0.1001, "path"),)),
        WaterfallRow(label="at the end", group="model", bars=(Bar(1.0, 1.0, "instant"),)),
        WaterfallRow(label="beyond", group="model", bars=(Bar(1.4, 1.5, "path"),)),
    )
    made = Waterfall(start=-0.1, end=1.0, rows=rows)
    lines = [line for row, line in bars(made, width=WIDTH) if row]
    assert lines[0].count("█") == 1
    assert axis(lines[1])[-1] == "◆"
    assert "█" not in lines[2]


def test_long_labels_are_cut_and_long_notes_stand_below() -> None:
    rows = (WaterfallRow(label="a tier with a very long name", group="model", bars=(), note="n" * 50),)
    made = Waterfall(start=-0.1, end=1.0, rows=rows)
    line, note = (line for row, line in bars(made, width=120) if row)
    assert line.startswith("a tier with a ver...")
    assert note == " " * 4 + "n" * 50
    assert "n" not in line.removeprefix("a tier with a ver...")


def test_a_narrow_terminal_has_notes_below_and_loses_nothing() -> None:
    lines = drawn(width=80)
    assert all(len(line) <= 80 for line in lines)
    assert lines[3].strip() == "silence"
    assert "0 and 800 ms" in " ".join(lines)


def test_long_turns_get_a_coarser_scale() -> None:
    scale, *_ = (line for _, line in bars(Waterfall(start=-0.1, end=12.0, rows=()), width=120))
    assert scale.split()[3:6] == ["0", "2000", "4000"]
