"""Which part of a call fails, in which way, at which moment of a turn, and what has to become of the turn."""

from dataclasses import dataclass
from typing import Literal, get_args

Part = Literal[
    "recogniser process",
    "Whisper service",
    "voice detector",
    "Smart Turn",
    "large model",
    "fast model",
    "tool",
    "synthesis",
    "client's socket",
    "provider's socket",
    "recording's disk",
]
Failure = Literal["dies", "hangs", "slow", "garbage", "refuses"]
Moment = Literal["before", "speaking", "deciding", "answering", "after"]
"""Before the caller speaks, while they speak, between the end of speech and the first text, in the answer, after it."""

Outcome = Literal["answered", "rescued", "told", "apologised", "repeated", "closed"]
"""The turn has its right answer in full, by the model that was asked first or (rescued) by the other one; the model
answers what it was given in its place (told): that a tool has failed, or words that nobody said; the caller is told in
words that there is no answer, or no more of it; or is asked to say it again; or the call is closed with the reason."""

PARTS: tuple[Part, ...] = get_args(Part)
FAILURES: tuple[Failure, ...] = get_args(Failure)
MOMENTS: tuple[Moment, ...] = get_args(Moment)
SEPARATOR = " · "


@dataclass(frozen=True, slots=True)
class Cell:
    """A fault: it begins at its moment of the first turn, and is mended when the second one begins."""

    part: Part
    failure: Failure
    moment: Moment

    def __str__(self) -> str:
        return SEPARATOR.join((self.part, self.failure, self.moment))


def left_out(cell: Cell) -> str | None:
    """Why a cell makes no sense; None when it does."""
    part, failure, moment = cell.part, cell.failure, cell.moment
    if failure == "refuses" and part in ("voice detector",):
        return "it is computed in the server's own process, by a session that is there as long as the server is"
    idle = moment in ("answering", "after") and (part != "recogniser process" or failure in ("slow", "garbage"))
    if part in ("recogniser process", "Whisper service", "Smart Turn") and idle:
        return "it has nothing to do there, so there is nothing that could be late or wrong"
    if part == "tool" and moment in ("answering", "after"):
        return "no tool runs there"
    if part == "fast model" and moment in ("answering", "after"):
        return "it has been asked for nothing, or its answer has been dropped"
    if part == "large model" and moment == "after":
        return "its answer is complete"
    if part == "synthesis" and moment == "after":
        return "it has nothing to do there"
    if part == "recording's disk":
        if failure == "garbage":
            return "what a disk gives back changed is found by whoever reads the run (tests/fuzz)"
        if moment in ("before", "speaking", "deciding"):
            return "nothing is written there; a disk that was full before is full when the first turn is over"
    if part == "provider's socket" and moment == "after" and failure in ("slow", "garbage"):
        return "no byte is on its way there"
    return None


CELLS = tuple(
    cell
    for part in PARTS
    for failure in FAILURES
    for moment in MOMENTS
    if left_out(cell := Cell(part, failure, moment)) is None
)
