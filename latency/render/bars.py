"""A waterfall as lines of characters: one row a stage, one column a stretch of time."""

from collections.abc import Iterator

from latency.render.terminal.histogram import TARGET_MS
from latency.render.terminal.numbers import ms
from latency.report.waterfall import Bar, Kind, Row, Waterfall

NATURAL, TARGET = 0.4, TARGET_MS / 1000
"""Seconds after the end of speech: the rhythm of human turns, and what a turn may take."""
LABEL, NUMBER, NOTE = 20, 6, 34
"""Widths of the columns beside the bars."""
NARROWEST = 30

_TICKS = (0.2, 0.4, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0)
_APART = 7
"""Columns between two numbers of the scale, at least."""
_GLYPHS: dict[Kind, tuple[str, str]] = {
    "path": ("█", "#"), "work": ("░", "-"), "stream": ("·", "."), "speech": ("▒", "="), "stall": ("▓", "X"),
    "instant": ("◆", "*"),
}  # fmt: skip
_UPON: tuple[Kind, ...] = ("stream", "speech", "work", "path", "stall", "instant")
"""What is drawn over what."""


def bars(waterfall: Waterfall, *, width: int, ascii_only: bool = False) -> Iterator[tuple[Row | None, str]]:
    """The waterfall's lines and the row that each shows: a scale, the rows and a legend.

    Args:
        waterfall: The turn.
        width: Characters in a line.
        ascii_only: Draw with ASCII characters.
    """
    cells = max(NARROWEST, width - LABEL - 2 * NUMBER - NOTE - 4)
    room = width - LABEL - 2 * NUMBER - cells - 4
    step = (waterfall.end - waterfall.start) / cells
    pick = 1 if ascii_only else 0
    background = [" "] * cells
    for at, glyphs in ((0.0, "│|"), (NATURAL, "┊:"), (TARGET, "│|")):
        if (cell := round((at - waterfall.start) / step)) < cells:
            background[cell] = glyphs[pick]
    yield None, f"{'ms':<{LABEL}}{'took':>{NUMBER}}{'path':>{NUMBER}}  {_scale(waterfall, step, cells)}"
    for row in waterfall.rows:
        drawn = list(background)
        for kind in _UPON:
            for bar in row.bars:
                if bar.kind == kind:
                    _draw(drawn, bar, waterfall, step, _GLYPHS[kind][pick])
        yield row, _line(row, "".join(drawn), room)
    yield None, "  ".join(_legend(waterfall, pick))


def _line(row: Row, drawn: str, room: int) -> str:
    took = "" if row.took is None else ms(row.took * 1000)
    waited = "" if row.waited is None else ms(row.waited * 1000)
    return (
        f"{_cut(row.label, LABEL):<{LABEL}}{took:>{NUMBER}}{waited:>{NUMBER}}  {drawn}  {_cut(row.note, room)}".rstrip()
    )


def _cut(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return f"{text[: room - 3]}..." if room > 3 else ""


def _draw(drawn: list[str], bar: Bar, waterfall: Waterfall, step: float, glyph: str) -> None:
    if bar.end < waterfall.start or bar.start > waterfall.end:
        return
    first = round((bar.start - waterfall.start) / step)
    # However short, what happened is seen.
    last = max(first + 1, round((bar.end - waterfall.start) / step))
    for cell in range(max(first, 0), min(last, len(drawn))):
        drawn[cell] = glyph
    if first >= len(drawn):
        drawn[-1] = glyph


def _scale(waterfall: Waterfall, step: float, cells: int) -> str:
    every = next((every for every in _TICKS if every / step >= _APART), _TICKS[-1])
    scale = [" "] * (cells + _APART)
    for number in range(int(waterfall.end / every) + 1):
        cell = round((number * every - waterfall.start) / step)
        label = f"{number * every * 1000:.0f}"
        scale[cell : cell + len(label)] = label
    return "".join(scale).rstrip()


def _legend(waterfall: Waterfall, pick: int) -> Iterator[str]:
    names: dict[Kind, str] = {
        "path": "critical path", "work": "beside it", "stream": "text still coming", "speech": "audible speech",
        "stall": "stall", "instant": "instant",
    }  # fmt: skip
    used = {bar.kind for row in waterfall.rows for bar in row.bars}
    for kind, name in names.items():
        if kind in used:
            yield f"{_GLYPHS[kind][pick]} {name}"
    yield f"{'┊:'[pick]} 400 ms"
    yield f"{'│|'[pick]} 0 and 800 ms"
