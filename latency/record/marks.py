"""The instants of a turn, the units of recorded values, and moving a record from one clock to another.

Each mark is defined in one sentence and belongs to one process's clock. A field's type gives its unit and its range in
a file: a field of type `Instant` is an instant, and so is every value of `Marks`.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

from msgspec import Meta

_FURTHEST = 1e9
"""Beyond any instant, duration or count of a recording."""

Instant = Annotated[float, Meta(ge=0, le=_FURTHEST, description="instant")]
"""A point in time, seconds: on the server's monotonic clock while a call runs, on the recording's clock in a run
folder, where 0 is the first sample of the session's WAV file."""
EarlierInstant = Annotated[float, Meta(ge=-_FURTHEST, le=_FURTHEST, description="earlier instant")]
"""The same, but perhaps before the recording, such as for the server's work at the beginning of the call."""
Seconds = Annotated[float, Meta(ge=-_FURTHEST, le=_FURTHEST, description="seconds")]
"""A duration."""
Milliseconds = Annotated[float, Meta(ge=-_FURTHEST, le=_FURTHEST, description="milliseconds")]
"""A duration."""
Number = Annotated[float, Meta(ge=-_FURTHEST, le=_FURTHEST)]
Probability = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=int(_FURTHEST))]
"""A number of things, or a position, which counts from 0."""


class Mark(StrEnum):
    """An instant of a turn; its value is its name on the wire and in files."""

    SPEECH_END = "speech_end"
    """Server: the user's speech ended, by the server's estimate; a label outranks it."""
    VAD_STOP = "vad_stop"
    """Server: the voice detector had heard enough silence to report the end of speech."""
    EAGER_HINT = "eager_hint"
    """Server: a shorter silence hinted that speech may have stopped."""
    TURN_COMMIT = "turn_commit"
    """Server: the user's turn was committed; the LLM budget runs from here."""
    TRANSCRIPT_FINAL = "transcript_final"
    """Server: the recogniser delivered the last words of the turn."""
    LLM_REQUEST = "llm_request"
    """Server: the request whose answer was spoken went to its model."""
    TOOL_CALLED = "tool_called"
    """Server: the first tool began that ran before anything was spoken."""
    TOOL_RETURNED = "tool_returned"
    """Server: the last of these tools ended; the model then answers with their results."""
    LLM_FIRST_TOKEN = "llm_first_token"
    """Server: that model's first text arrived; role-only, empty and reasoning chunks are not text."""
    CLAUSE_READY = "clause_ready"
    """Server: that model's first speakable clause was complete; a policy may hold it while it awaits a better model."""
    LLM_FIRST_CLAUSE = "llm_first_clause"
    """Server: that clause, the first of the answer, was handed to synthesis."""
    CLAUSE_TO_TTS = "clause_to_tts"
    """Server: the first words to be spoken, answer or opening, were handed to synthesis."""
    TTS_FIRST_SAMPLE = "tts_first_sample"
    """Server: synthesis delivered the first audible sample."""
    FIRST_SENT = "first_sent"
    """Server: the first audio of the turn was written to the socket."""
    FIRST_RECEIVED = "first_received"
    """Client: the first audio of the turn arrived."""
    FIRST_AUDIBLE = "first_audible"
    """Client: the first audible bot sample of the turn was played."""
    FIRST_ANSWER_AUDIBLE = "first_answer_audible"
    """Client: the first audible sample of the answer itself was played; filler phrases and openings are no answers."""
    ANSWER_END = "answer_end"
    """Client: the answer's last audible sample was played."""
    USER_ONSET = "user_onset"
    """Client: the user began to speak while the bot was audible."""
    BOT_SILENT = "bot_silent"
    """Client: the bot's last audible sample after that onset was played."""
    SILENT_ENOUGH = "silent_enough"
    """Server: the silence had reached the length that this turn needed; absent when silence did not decide."""

    @property
    def clock(self) -> Literal["server", "client"]:
        """The owner of the monotonic clock of this instant."""
        return "client" if self in _CLIENT else "server"


class Marks(dict[Mark, float]):
    """The known instants of a turn, all on one clock, seconds; an unknown one is absent."""


_CLIENT = frozenset(
    {
        Mark.FIRST_RECEIVED,
        Mark.FIRST_AUDIBLE,
        Mark.FIRST_ANSWER_AUDIBLE,
        Mark.ANSWER_END,
        Mark.USER_ONSET,
        Mark.BOT_SILENT,
    }
)

# Orders that cause and effect require, each within one clock. Instants of different stages may
# overlap (speculation starts a model before the commit, a bridge is spoken before the model's first token).
CHAINS: tuple[tuple[Mark, ...], ...] = (
    (Mark.VAD_STOP, Mark.TURN_COMMIT),
    (Mark.TURN_COMMIT, Mark.TOOL_CALLED, Mark.TOOL_RETURNED),
    (Mark.LLM_REQUEST, Mark.LLM_FIRST_TOKEN, Mark.CLAUSE_READY, Mark.LLM_FIRST_CLAUSE),
    (Mark.CLAUSE_TO_TTS, Mark.TTS_FIRST_SAMPLE, Mark.FIRST_SENT),
    (Mark.FIRST_AUDIBLE, Mark.FIRST_ANSWER_AUDIBLE, Mark.ANSWER_END),
    (Mark.USER_ONSET, Mark.BOT_SILENT),
)

ROUNDING = 0.001
"""Seconds by which two marks may be out of order, because files and wires hold rounded numbers."""


def disorder(marks: Mapping[Mark, float]) -> str | None:
    """A sentence that names two marks of a clock in an impossible order; None if the order is possible."""
    for chain in CHAINS:
        for earlier, later in pairwise(mark for mark in chain if mark in marks):
            if marks[later] < marks[earlier] - ROUNDING:
                return f"{later} ({marks[later]:.3f} s) lies before {earlier} ({marks[earlier]:.3f} s)"
    return None


Record = TypeVar("Record")
Convert = Callable[[float], float | None]
"""An instant on one clock to the same instant on another, seconds; None when that is not known."""


def moved(record: Record, convert: Convert) -> Record:
    """A copy of a record on another clock; instants that cannot be converted are unknown in it."""
    return _moved(record, convert)  # type: ignore[no-any-return]


def _moved(value: Any, convert: Convert) -> Any:
    if isinstance(value, Marks):
        known = ((mark, convert(at)) for mark, at in value.items())
        return Marks({mark: at for mark, at in known if at is not None})
    if isinstance(value, tuple):
        return tuple(_moved(item, convert) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    instants = _instants_of(type(value))
    changes = {}
    for field in fields(value):
        found = getattr(value, field.name)
        if field.name not in instants:
            changes[field.name] = _moved(found, convert)
        elif found is not None:
            changes[field.name] = convert(found)
    return replace(value, **changes)


@cache
def _instants_of(kind: type) -> frozenset[str]:
    hints = get_type_hints(kind, include_extras=True)
    kinds = (Instant, Instant | None, EarlierInstant)
    return frozenset(name for name, hint in hints.items() if hint in kinds)
