"""One turn of a replayed conversation: a line of turns.jsonl.

Times are seconds on the recording's clock (0 is the first sample of the session's WAV); an instant nobody knows is
absent or None, never 0.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from latency.judge.contributions import CONTRIBUTIONS, UNNAMED, Passage, contributions, known_instants, passages
from latency.record.marks import Mark, disorder
from latency.record.stall import Stall
from latency.record.turn_format import SECONDS, TEXT, TurnError, check_turn, known_marks, shown

__all__ = ["CONTRIBUTIONS", "UNNAMED", "EndedBy", "TurnError", "TurnRecord", "known_marks"]

SCHEMA = 1
SHORTEST_PAUSE = 0.1
"""Seconds; a shorter silence inside a turn is part of a word, not a pause."""

Truth = Literal["labelled", "estimated"]
EndedBy = Literal["smart_turn", "fallback", "whole_request", "nothing_heard", "recogniser_failed", "timeout"]
AT_ONCE = frozenset({"smart_turn", "whole_request"})
"""Ends of turns whose words were taken for complete as soon as the voice detector reported the stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """What the user said and what the agent made of it.

    Raises:
        TurnError: Speech stretches or marks are out of order, or a turn wants an answer to no speech.
    """

    session: str
    turn: int
    """Position in the session, from 0."""
    scenario: str = ""
    fixture: str | None = None
    text: str | None = None
    """What the user really says."""
    truth: Truth = "labelled"
    """Whether `speech` was labelled or measured from the audio."""
    speech: tuple[tuple[float, float], ...] = ()
    """Stretches of the user's speech, (start, end); silences between them are pauses inside the turn."""
    labels: tuple[tuple[float, float, str], ...] = ()
    """Other labelled stretches: (start, end, "noise", "echo" or "backchannel")."""
    wants_answer: bool
    contains: tuple[str, ...] = ()
    """Words a right answer contains, all of them; empty when nobody said what is right."""
    barge_in: bool = False
    """The user was meant to begin while the bot speaks."""
    backchannel: bool = False
    cold: bool = False
    """The first turn of the server's process."""
    heard: str | None = None
    said: str | None = None
    ended_by: EndedBy | None = None
    smart_turn: Mapping[str, float] | None = None
    interrupted: bool = False
    failed: str | None = None
    """What broke, in one sentence."""
    marks: Mapping[Mark, float] = field(default_factory=dict)
    """Known instants of the last committed server turn."""
    server_turns: tuple[Mapping[str, Any], ...] = ()
    """The server's own reports of this turn, in order, their times converted to the recording's clock."""
    attempts: tuple[Mapping[str, Any], ...] = ()
    """Requests to language models: tier, model, request, alive (the server's first sign of life), first_token,
    first_clause, end, outcome (spoken, called, cancelled, failed, silent or withdrawn), tokens, and `response`, the
    number of the answer they were made for."""
    responses: tuple[Mapping[str, Any], ...] = ()
    """Answers that were asked for under a budget, several in a turn with tools: response, policy, reason, commit,
    deadline, limit, charged, said, gave_up; empty for a language model without one."""
    late_ms_max: float | None = None
    """How late the client sent this turn's worst audio frame, ms."""
    stalls: tuple[Stall, ...] = ()
    """Those of the server's event loop from this turn's onset to the next; `watched` says whether anybody looked."""

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
    def watched(self) -> bool:
        """Whether the server's event loop was watched for stalls."""
        return any(report.get("stalls") is not None for report in self.server_turns)

    def contributions(self) -> dict[str, float | None]:
        """Split the time from the true end of speech to the first audible sample; the parts never overlap.

        A stage that ended before the one ahead of it (speculation) took no time of its own: 0. A stage with an unknown
        end is None, and its time is part of "pipeline", which is None unless both ends of the turn are known.
        """
        return contributions(self._instants())

    def passages(self) -> list[Passage]:
        """The turn's way through its known instants, in order, from the first one that a stage ends or begins at."""
        return passages(self._instants())

    def _instants(self) -> dict[Mark, float]:
        return known_instants(self.marks, speech_end=self.end)

    def to_json(self) -> dict[str, Any]:
        """The record as one JSON object; see the contract of turns.jsonl."""
        line: dict[str, Any] = {"schema": SCHEMA}
        line.update((item.name, getattr(self, item.name)) for item in fields(self))
        line["stalls"] = [stall.to_json() for stall in self.stalls]
        line["marks"] = {mark.value: self.marks[mark] for mark in Mark if mark in self.marks}
        return line

    @classmethod
    def from_json(cls, line: str | Mapping[str, Any]) -> "TurnRecord":
        """Read one line of turns.jsonl, or the object it holds.

        Raises:
            TurnError: Not an object, a newer schema, unknown keys or marks, or values that cannot be.
        """
        try:
            data = json.loads(line) if isinstance(line, str) else line
        except (ValueError, RecursionError) as error:
            raise TurnError(f"not JSON: {getattr(error, 'msg', error)}") from error
        if not isinstance(data, Mapping):
            raise TurnError("a turn is a JSON object")
        values = dict(data)
        if (schema := values.pop("schema", SCHEMA)) != SCHEMA:
            raise TurnError(f"schema {shown(schema)} is not the {SCHEMA} that this version reads")
        names = {item.name for item in fields(cls)}
        if unknown := sorted(values.keys() - names):
            raise TurnError(f"unknown key {shown(unknown[0])}; a turn has {', '.join(sorted(names))}")
        if missing := sorted({"session", "turn", "wants_answer"} - values.keys()):
            raise TurnError(f"the key {missing[0]!r} is missing")
        for key in ("session", "turn", "wants_answer"):
            if values[key] is None:
                raise TurnError(f"{key} is unknown; every turn has one")
        check_turn(values)
        if (ended_by := values.get("ended_by")) not in (None, *get_args(EndedBy)):
            raise TurnError(f"ended_by is {shown(ended_by)}; it is one of {', '.join(get_args(EndedBy))} or null")
        if values.get("truth", "labelled") not in get_args(Truth):
            raise TurnError(f"truth is {shown(values['truth'])}; it is {' or '.join(get_args(Truth))}")
        values["speech"] = _stretches("speech", "[[start, end], ...]", 2, values.get("speech", ()))
        values["labels"] = _stretches("labels", "[[start, end, label], ...]", 3, values.get("labels", ()))
        values["marks"] = known_marks(values.get("marks") or {})
        for key in ("contains", "server_turns", "attempts", "responses"):
            values[key] = tuple(values.get(key) or ())
        try:
            values["stalls"] = Stall.all_of(values.get("stalls") or ())
        except ValueError as error:
            raise TurnError(str(error)) from error
        for server_turn in values["server_turns"]:
            known_marks(server_turn.get("marks") or {})
        return cls(**values)


def _stretches(key: str, form: str, width: int, found: Any) -> tuple[tuple[Any, ...], ...]:
    """Stretches as a line holds them: start, end, and the label of one that is not speech."""
    items = found if isinstance(found, list | tuple) else (None,)
    for one in items:
        whole = isinstance(one, list | tuple) and len(one) == width
        if not whole or not (SECONDS.holds(one[0]) and SECONDS.holds(one[1]) and all(map(TEXT.holds, one[2:]))):
            raise TurnError(f"{key} is {form} in seconds, not {shown(found)}")
    return tuple((float(one[0]), float(one[1]), *one[2:]) for one in items)
