"""What a turn took, as one line for the terminal: a bar against 800 ms, and its stages. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from latency.budget import TURN_LIMIT
from latency.record.marks import Mark
from latency.record.turn import ServerTurn

AXIS = 1.6
"""Seconds that the bar shows; what is later than that ends it."""
CELLS, FEWEST_CELLS = 32, 8
"""Characters of the bar, where there is room for them, and at least."""
STAGES = (
    (Mark.TURN_COMMIT, "turn end", "blue"),
    (Mark.LLM_FIRST_CLAUSE, "answer", "yellow"),
    (Mark.TTS_FIRST_SAMPLE, "voice", "magenta"),
)
WAY = ("way", "cyan")
"""From the voice's first sample to the loudspeaker."""


@dataclass(frozen=True, slots=True)
class StageSpan:
    """A stage of a turn, seconds after the end of the user's speech."""

    name: str
    style: str
    start: float
    end: float


def speech_end(turn: ServerTurn) -> float | None:
    """When the user's speech ended, as the server heard it, on the server's clock; None while unknown."""
    return turn.marks.get(Mark.SPEECH_END, turn.marks.get(Mark.VAD_STOP))


def spans(turn: ServerTurn, latency: float) -> Sequence[StageSpan]:
    """The stages that made up the latency of a turn, one after the other.

    Args:
        turn: as the server reports it.
        latency: seconds from the end of speech to the first sound.
    """
    zero = speech_end(turn)
    if zero is None:
        return ()
    found, start = [], 0.0
    for mark, name, style in STAGES:
        if mark in turn.marks:
            end = min(latency, max(start, turn.marks[mark] - zero))
            found.append(StageSpan(name, style, start, end))
            start = end
    return (*found, StageSpan(*WAY, start, max(start, latency)))


def turn_line(turn: ServerTurn, latency: float, *, room: int) -> Text:
    """The line, in `room` characters if they suffice for the stages and a short bar."""
    line = Text(f"{latency * 1000:4.0f} ms ", "bold green" if latency <= TURN_LIMIT else "bold yellow")
    parts = spans(turn, latency)
    stages = "  " + " · ".join(f"{part.name} {(part.end - part.start) * 1000:.0f}" for part in parts)
    # The mark at the limit is a character of its own.
    cells = max(FEWEST_CELLS, min(CELLS, room - len(line) - len(stages) - 1))
    return line.append_text(_bar(parts, cells)).append(stages, "dim")


def _bar(parts: Sequence[StageSpan], cells: int) -> Text:
    bar = Text()
    limit = round(TURN_LIMIT / AXIS * cells)
    for cell in range(cells):
        at = (cell + 0.5) / cells * AXIS
        style = next((part.style for part in parts if part.start <= at < part.end), None)
        if cell == limit:
            bar.append("│")
        bar.append("━" if style else "╌", style or "dim")
    return bar
