"""All instants of a turn; each mark is defined in one sentence and belongs to one process's clock."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Literal


class Mark(StrEnum):
    """An instant of a turn; its value is its name on the wire and in files."""

    SPEECH_END = "speech_end"
    """Server: the user's speech ended, as far as the server can tell; a label outranks it."""
    VAD_STOP = "vad_stop"
    """Server: the voice detector had heard enough silence to say that speech stopped."""
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
    """Server: the last of these tools ended; the model then answers with what they returned."""
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
    """Server: the silence had lasted as long as this turn needed; absent when silence did not decide."""

    @property
    def clock(self) -> Literal["server", "client"]:
        """Whose monotonic clock reads this instant."""
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
    """Say in one sentence which two marks contradict cause and effect; None when the order is possible.

    Args:
        marks: Known instants, seconds, all on one time base; unknown ones are left out.
    """
    for earlier, later in _neighbours(marks):
        if marks[later] < marks[earlier] - ROUNDING:
            return f"{later} ({marks[later]:.3f} s) lies before {earlier} ({marks[earlier]:.3f} s)"
    return None


def _neighbours(marks: Mapping[Mark, float]) -> Iterator[tuple[Mark, Mark]]:
    for chain in CHAINS:
        known = [mark for mark in chain if mark in marks]
        yield from zip(known, known[1:], strict=False)
