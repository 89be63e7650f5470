"""A waterfall as lines of characters: a row for each stage, a column for each stretch of time."""

import textwrap
from collections.abc import Iterator

from latency.budget import NATURAL, TURN_LIMIT
from latency.render.numbers import ms
from latency.report.waterfall import Bar, Kind, Waterfall, WaterfallRow

LABEL, NUMBER, NOTE = 20, 6, 34
"""Widths of the columns next to the bars; a longer note is printed below its row."""
NOTES_FIT_FROM = 100
"""Characters of a line below which all notes are printed below their rows."""
NARROWEST, INDENT = 30, 4

KINDS: dict[Kind, str] = {
    "path": "critical path", "work": "in parallel", "stream": "text still arriving", "speech": "audible speech",
    "stall": "stall", "instant": "instant",
}  # fmt: skip
"""Words for the kinds of bars."""
_TICKS = (0.2, 0.4, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0)
_APART = 7
"""Columns between two numbers of the scale, at least."""
_GLYPHS: dict[Kind, str] = {"path": "█", "work": "░", "stream": "·", "speech": "▒", "stall": "▓", "instant": "◆"}
_UPON: tuple[Kind, ...] = ("stream", "speech", "work", "path", "stall", "instant")
"""The order of drawing; later kinds cover earlier ones."""


def bars(waterfall: Waterfall, *, width: int) -> Iterator[tuple[WaterfallRow | None, str]]:
    """The waterfall's lines, each with the row that it shows: a scale, the rows and a legend (without a row)."""
    beside = LABEL + 2 * NUMBER + 4
    cells = max(NARROWEST, width - beside - (NOTE if width >= NOTES_FIT_FROM else 0))
    room = width - beside - cells
    step = (waterfall.end - waterfall.start) / cells
    background = [" "] * cells
    for at, glyph in ((0.0, "│"), (NATURAL, "┊"), (TURN_LIMIT, "│")):
        if (cell := round((at - waterfall.start) / step)) < cells:
            background[cell] = glyph
    yield None, f"{'ms':<{LABEL}}{'took':>{NUMBER}}{'wait':>{NUMBER}}  {_scale(waterfall, step, width - beside + 2)}"
    for row in waterfall.rows:
        drawn = list(background)
        for kind in _UPON:
            for bar in row.bars:
                if bar.kind == kind:
                    _draw(drawn, bar, waterfall, step, _GLYPHS[kind])
        is_beside = len(row.note) <= room
        times = "".join(f"{'' if took is None else ms(took * 1000):>{NUMBER}}" for took in (row.took, row.waited))
        note = row.note if is_beside else ""
        yield row, f"{_cut(row.label, LABEL):<{LABEL}}{times}  {''.join(drawn)}  {note}".rstrip()
        if not is_beside:
            yield row, " " * INDENT + _cut(row.note, width - INDENT)
    legend = " \n".join(part.replace(" ", "\xa0") for part in _legend(waterfall))
    yield from ((None, line.replace("\xa0", " ")) for line in textwrap.wrap(legend, width))


def _cut(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return f"{text[: room - 3]}..." if room > 3 else ""


def _draw(drawn: list[str], bar: Bar, waterfall: Waterfall, step: float, glyph: str) -> None:
    if bar.end < waterfall.start or bar.start > waterfall.end:
        return
    first = round((bar.start - waterfall.start) / step)
    # The shortest event still gets a cell.
    last = max(first + 1, round((bar.end - waterfall.start) / step))
    for cell in range(max(first, 0), min(last, len(drawn))):
        drawn[cell] = glyph
    if first >= len(drawn):
        drawn[-1] = glyph


def _scale(waterfall: Waterfall, step: float, room: int) -> str:
    every = next((every for every in _TICKS if every / step >= _APART), _TICKS[-1])
    scale = [" "] * room
    for number in range(int(waterfall.end / every) + 1):
        cell = round((number * every - waterfall.start) / step)
        label = f"{number * every * 1000:.0f}"
        if cell + len(label) <= room:
            scale[cell : cell + len(label)] = label
    return "".join(scale).rstrip()


def _legend(waterfall: Waterfall) -> Iterator[str]:
    used = {bar.kind for row in waterfall.rows for bar in row.bars}
    for kind, name in KINDS.items():
        if kind in used:
            yield f"{_GLYPHS[kind]} {name}"
    yield "┊ 400 ms"
    yield "│ 0 and 800 ms"
    yield "took: the stage's own work"
    yield "wait: its part of the latency"
