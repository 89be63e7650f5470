"""Lines about a turn for the terminal: its latency, its answer as it is heard, and the model. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from latency.budget import TURN_LIMIT
from latency.record.marks import Mark
from latency.record.requests import is_fast
from latency.record.turn import ServerTurn
from pipelines.talking.keys import FAST

AXIS = 1.6
"""Seconds that the bar shows; later stages are cut off."""
CELLS, FEWEST_CELLS = 32, 8
"""Characters of the bar if there is room, and at least."""
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


LABEL = ("agent", "bold green")
HEARD, UNHEARD, UNSAID = "", "dim", "dim strike"
"""Styles of words that were played, that are still to come, and that will never be played."""


class AnswerLine:
    """The words of an answer, in the server's pieces; false while there are none.

    Words that have been played are bright, the others dim.
    """

    def __init__(self) -> None:
        self._pieces: dict[object, tuple[str, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._pieces)

    @property
    def is_heard(self) -> bool:
        """Whether all of it has been played."""
        return not any(left.strip() for _, left in self._pieces.values())

    def spoken(self, piece: object, heard: str, left: str) -> None:
        """Note how far a piece has been played.

        Args:
            piece: the server's name of it.
            heard: its beginning, which has been played.
            left: the rest of its words.
        """
        self._pieces[piece] = heard, left

    def line(self, *, over: bool = False) -> Text:
        """The line; `over` if no more of it will be played."""
        line = Text.assemble(LABEL, " ")
        for heard, left in self._pieces.values():
            line.append(" ")
            line.append(heard, HEARD)
            # Only words are struck out, not the space before them.
            rest = left.lstrip()
            line.append(left[: len(left) - len(rest)]).append(rest, UNSAID if over else UNHEARD)
        return line


def answered_by(turn: ServerTurn, *, several: bool) -> str | None:
    """The line about the model; None for a single model at its usual speed without a price.

    Args:
        turn: the server's final report of it.
        several: whether the call has more than one model.
    """
    last = turn.responses[-1] if turn.responses else None
    if last is None or last.tier is None:
        return None
    spoken = [one for one in turn.attempts if one.tier == last.tier and one.outcome in ("spoken", "called")]
    served = spoken[-1].served or spoken[-1].speed if spoken else None
    slowed = next((one.slowed for one in turn.attempts if one.slowed), None)
    costs = [one.usd for one in turn.attempts if one.usd is not None]
    fast = f" {FAST}" if is_fast(served) else ""
    cost = f" · ${sum(costs):.4f}" if costs else ""
    if not (several or fast or cost or slowed):
        return None
    why = f"; {slowed}" if slowed else ""
    return f"{last.tier}{fast} answered ({last.policy}: {last.reason}{why}){cost}"
