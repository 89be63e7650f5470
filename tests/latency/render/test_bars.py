from latency.render.bars import bars
from latency.report.waterfall import Bar, Row, Waterfall

ROWS = (
    Row(label="user", group="speech", bars=(Bar(-1.0, 0.0, "speech"),)),
    Row(label="turn detection", group="stage", took=0.3, waited=0.1, note="fallback",
        bars=(Bar(0.2, 0.5, "work"), Bar(0.4, 0.5, "path"))),
    Row(label="large", group="model", took=0.2, bars=(Bar(0.5, 0.7, "work"), Bar(0.7, 5.0, "stream"))),
    Row(label="LLM deadline", group="model", bars=(Bar(0.9, 0.9, "instant"),)),
)  # fmt: skip
MADE = Waterfall(start=-0.1, end=1.0, rows=ROWS)
WIDTH = 125
"""Leaves 55 columns of 20 ms."""


def drawn(*, width: int = WIDTH, ascii_only: bool = False) -> list[str]:
    return [line for _, line in bars(MADE, width=width, ascii_only=ascii_only)]


def axis(line: str) -> str:
    return line[34 : 34 + 55]


def test_bars_lie_on_one_axis_with_lines_at_the_end_of_speech_at_400_and_at_800_ms() -> None:
    scale, user, detection, large, deadline, legend = drawn()
    assert scale == "ms                    took  path       0         200       400       600       800       1000"
    assert axis(user) == "▒▒▒▒▒│" + " " * 19 + "┊" + " " * 19 + "│"
    assert axis(detection).rstrip() == "     │         ░░░░░░░░░░█████               │"
    assert detection.startswith("turn detection         300   100  ")
    assert detection.endswith("  fallback")
    assert axis(large) == "     │                   ┊    ░░░░░░░░░░···············"
    assert large.startswith("large                  200        ")
    assert axis(deadline).rstrip() == "     │                   ┊                   │    ◆"
    assert legend == (
        "█ critical path  ░ beside it  · text still coming  ▒ audible speech  ◆ instant  ┊ 400 ms  │ 0 and 800 ms"
    )


def test_each_line_comes_with_its_row() -> None:
    assert [row for row, _ in bars(MADE, width=WIDTH)] == [None, *ROWS, None]


def test_ascii_is_drawn_where_unicode_cannot_be() -> None:
    lines = drawn(ascii_only=True)
    assert all(line.isascii() for line in lines)
    assert axis(lines[2]).rstrip() == "     |         ----------#####               |"
    assert lines[-1].startswith("# critical path  - beside it")


def test_the_shortest_event_is_seen_and_what_lies_beyond_the_axis_is_marked_at_its_edge() -> None:
    rows = (
        Row(label="short", group="stage", bars=(Bar(0.1, 0.1001, "path"),)),
        Row(label="at the end", group="model", bars=(Bar(1.0, 1.0, "instant"),)),
        Row(label="beyond", group="model", bars=(Bar(1.4, 1.5, "path"),)),
    )
    made = Waterfall(start=-0.1, end=1.0, rows=rows)
    lines = [line for row, line in bars(made, width=WIDTH) if row]
    assert lines[0].count("█") == 1
    assert axis(lines[1])[-1] == "◆"
    assert "█" not in lines[2]


def test_long_labels_and_notes_are_cut_and_narrow_terminals_lose_the_notes_first() -> None:
    rows = (Row(label="a tier with a very long name", group="model", bars=(), note="n" * 50),)
    made = Waterfall(start=-0.1, end=1.0, rows=rows)
    (line,) = (line for row, line in bars(made, width=120) if row)
    assert line.startswith("a tier with a ver...")
    assert line.endswith("n" * 31 + "...")
    assert len(line) == 120
    (line,) = (line for row, line in bars(made, width=66) if row)
    assert "n" not in line.removeprefix("a tier with a ver...")


def test_long_turns_get_a_coarser_scale() -> None:
    scale, *_ = (line for _, line in bars(Waterfall(start=-0.1, end=12.0, rows=()), width=120))
    assert scale.split()[3:6] == ["0", "2000", "4000"]
