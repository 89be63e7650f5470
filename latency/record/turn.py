"""One turn of a replayed conversation: a line of turns.jsonl."""

from dataclasses import dataclass, fields
from typing import Any, Literal

from latency.record.contributions import CONTRIBUTIONS, UNNAMED, Passage, contributions, known_instants, passages
from latency.record.json_form import TurnError, from_json, parse, shown, to_json
from latency.record.marks import Mark, disorder
from latency.record.server_turn import EndedBy, Reported, ServerTurn
from latency.record.stall import Stall
from latency.record.units import Count, Instant, Milliseconds

__all__ = ["CONTRIBUTIONS", "UNNAMED", "NewerTurnError", "TurnError", "TurnRecord"]

SCHEMA = 1
"""Of a line of turns.jsonl. Keys are only ever added: one that an older line lacks is unknown."""
SHORTEST_PAUSE = 0.1
"""Seconds; a shorter silence inside a turn is part of a word, not a pause."""

Truth = Literal["labelled", "estimated"]
JUDGED_COMPLETE: frozenset[EndedBy] = frozenset({"smart_turn", "whole_request"})
"""Ends of turns whose words were judged complete, though they may have needed more silence than the voice detector."""


class NewerTurnError(TurnError):
    """A record of a newer schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord(Reported):
    """What the user said and what the agent made of it; instants are on the recording's clock.

    The server's report is that of its last committed turn, but `heard` and `said` join the texts of all its turns.

    Raises:
        TurnError: Speech stretches or marks are out of order, or a turn without speech wants an answer.
    """

    session: str
    turn: Count
    """Position in the session, from 0."""
    scenario: str = ""
    fixture: str | None = None
    text: str | None = None
    """What the user really says."""
    speaker: str | None = None
    """Who speaks; the name of a synthesiser begins with "sim:". None when that is unknown."""
    truth: Truth = "labelled"
    """Whether `speech` was labelled or measured from the audio."""
    speech: tuple[tuple[Instant, Instant], ...] = ()
    """Stretches of the user's speech, (start, end); silences between them are pauses inside the turn."""
    labels: tuple[tuple[Instant, Instant, str], ...] = ()
    """Other labelled stretches: (start, end, "noise", "echo" or "backchannel")."""
    wants_answer: bool
    contains: tuple[str, ...] = ()
    """Words that a right answer contains, all of them; empty when the fixture defines no right answer."""
    barge_in: bool = False
    """Whether the user was meant to begin while the bot speaks."""
    backchannel: bool = False
    cold: bool = False
    """Whether this was the first turn of the server's process."""
    server_turns: tuple[ServerTurn, ...] = ()
    """The server's own turns that make up this one, in order."""
    late_ms_max: Milliseconds | None = None
    """How late the client sent this turn's latest audio frame."""
    marked_bad: Instant | None = None
    """When the caller marked this turn as a bad one during the call; None when they did not."""
    stalls: tuple[Stall, ...] = ()
    """Stalls of the server's event loop from this turn's onset to the next; see `watched`."""

    def __post_init__(self) -> None:
        where = f"turn {self.turn} of session {self.session!r}"
        edges = [edge for stretch in self.speech for edge in stretch]
        if any(later < earlier for earlier, later in zip(edges, edges[1:], strict=False)):
            raise TurnError(f"{where}: speech stretches must follow one another, got {[list(s) for s in self.speech]}")
        if self.wants_answer and not self.speech:
            raise TurnError(f"{where} wants an answer but has no speech; label the user's speech")
        if complaint := disorder(self.marks):
            raise TurnError(f"{where}: {complaint}")

    @property
    def start(self) -> float | None:
        """When the user began to speak; None for a turn of mere noise."""
        return self.speech[0][0] if self.speech else None

    @property
    def end(self) -> float | None:
        """The true end of the user's speech, from which turn latency runs."""
        return self.speech[-1][1] if self.speech else None

    @property
    def pauses(self) -> tuple[tuple[float, float], ...]:
        """Silences inside the turn of at least `SHORTEST_PAUSE`, (start, end)."""
        gaps = ((a[1], b[0]) for a, b in zip(self.speech, self.speech[1:], strict=False))
        return tuple(gap for gap in gaps if gap[1] - gap[0] >= SHORTEST_PAUSE)

    @property
    def joins(self) -> int:
        """How often the server ended the turn too early and then joined what followed to it."""
        return sum(turn.joined for turn in self.server_turns)

    @property
    def watched(self) -> bool:
        """Whether the server's event loop was watched for stalls."""
        return any(turn.stalls is not None for turn in self.server_turns)

    def contributions(self) -> dict[str, float | None]:
        """Split the time from the true end of speech to the first audible sample; the parts never overlap.

        A stage that ended before the previous one (speculation) took no time of its own: 0. A stage with an unknown
        end is None, and its time is part of "pipeline", which is None unless both ends of the turn are known.
        """
        return contributions(self._instants())

    def passages(self) -> list[Passage]:
        """The turn's way through its known instants, in order, from the first one that a stage ends or begins at."""
        return passages(self._instants())

    def _instants(self) -> dict[Mark, float]:
        return known_instants(self.marks, speech_end=self.end)

    def to_json(self) -> dict[str, Any]:
        """The record as one JSON object, as turns.jsonl holds it."""
        content: dict[str, Any] = to_json(self)
        first = {"schema": SCHEMA, "session": content.pop("session"), "turn": content.pop("turn")}
        return first | content

    @classmethod
    def from_json(cls, line: object) -> "TurnRecord":
        """Read a line of turns.jsonl, or the object that it holds; keys of newer versions are ignored.

        Raises:
            NewerTurnError: A newer version wrote it, in a form that this one does not know.
            TurnError: No object, another schema, a missing key, or values that cannot be.
        """
        content = parse(line) if isinstance(line, str) else line
        if not isinstance(content, dict):
            raise TurnError("a turn is a JSON object")
        if isinstance(schema := content.get("schema", SCHEMA), int) and schema > SCHEMA:
            raise NewerTurnError(f"schema {schema}; this one reads {SCHEMA}")
        if schema != SCHEMA:
            raise TurnError(f"schema is {shown(schema)}, not the {SCHEMA} that this version reads")
        return from_json(cls, content)


KEYS = frozenset({"schema", *(item.name for item in fields(TurnRecord))})
"""The keys of a line that this version reads."""
