"""A turn as the server reports it: to its client while the call runs, and in a run folder."""

from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from latency.record.hang import HangRecord
from latency.record.json_form import TurnError, from_json, shown, to_json
from latency.record.llm.answer import AnswerRecord
from latency.record.llm.answer_part import AnswerPart
from latency.record.marks import Marks
from latency.record.overlap import OverlapRecord
from latency.record.requests import AttemptRecord
from latency.record.stall import Stall
from latency.record.units import Count, Instant, Milliseconds, Probability, Seconds

EndedBy = Literal[
    "smart_turn", "fallback", "whole_request", "nothing_heard", "own_voice", "recogniser_failed", "timeout"
]
"""What ended the user's turn: the words were judged complete, by Smart Turn and all other evidence; the words were in
doubt, and the silence that they need had passed; the words are a whole request; the recogniser heard no words; what it
heard was the agent's own voice; the recogniser failed; or pipecat's watchdog stopped waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartTurnOpinion:
    """What Smart Turn and the other evidence said about the end of a turn."""

    probability: Probability | None = None
    """Smart Turn's probability that the turn is complete."""
    ms: Milliseconds | None = None
    """How long Smart Turn ran."""
    finished: Probability | None = None
    """Probability that the turn is complete, by all evidence; None when there was none."""
    silence_ms: Milliseconds | None = None
    """The silence that the turn needed; None when silence did not decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationRecord:
    """What was done for the answer before the turn was committed."""

    hints: Count = 0
    """How often a short silence hinted at the end of the turn."""
    started: Count = 0
    """Speculative answers that were started."""
    discarded: Count = 0
    """Those of them that were not used."""
    early: Count = 0
    """How many were started because of how the words read, before silence or Smart Turn said that they were over."""
    used: bool = False
    """Whether the turn's answer is the last one started."""
    request: Instant | None = None
    """When the used answer was requested."""
    spoken_ahead: bool = False
    """Whether its first clause went to synthesis before the commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What the server says about a turn, whether the turn is one of its own or one of the user's."""

    heard: str | None = None
    """What the recogniser heard, or what was typed."""
    said: str | None = None
    """What the bot said, without phrases that bridged a wait."""
    ended_by: EndedBy | None = None
    """None while the turn is not committed, and for one that was typed."""
    smart_turn: SmartTurnOpinion | None = None
    """None when Smart Turn did not run."""
    interrupted: bool = False
    """Whether the user spoke before the answer was over."""
    failed: str | None = None
    """What broke, in one sentence."""
    hung: HangRecord | None = None
    """The last part that hung in it; None when none did."""
    marks: Marks = field(default_factory=Marks)
    attempts: tuple[AttemptRecord, ...] = ()
    """Requests to language models, in order."""
    responses: tuple[AnswerRecord, ...] = ()
    """Answers that were asked for under a budget, in order; empty for a language model without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTurn(Reported):
    """One of the server's own turns; the user's turn makes several when a pause is taken for its end."""

    turn: Count
    """Position in the call, from 0."""
    final: bool = False
    """Whether nothing will change any more."""
    opening: str | None | UnsetType = UNSET
    """Phrases that were said because no answer was there; None when there were none, unset when that is unknown."""
    opening_seconds: Seconds | None = None
    """How long these phrases are."""
    played: str | None = None
    """The words of `said` whose audio was played; None from a server that does not say."""
    speculation: SpeculationRecord | None = None
    """None from a server that does not speculate."""
    typed: bool = False
    """Whether the user typed it: nothing was spoken, so it has no turn latency."""
    joined: bool = False
    """Whether it continues the turn before it, which was committed too early: their words are one message."""
    overlaps: tuple[OverlapRecord, ...] | None = None
    """The caller's sounds during its answer, in order; None from a server that does not decide on them."""
    part: AnswerPart | None = None
    """What its answer was of a longer one; None for a whole answer, and from a server that speaks no parts."""
    answer_pending: bool = False
    """Whether an answer, or the rest of it, is still to come."""
    stalls: Count | None = None
    """How many stalls of the event loop were reported with it; None when the loop was not watched."""

    @property
    def is_opening_known(self) -> bool:
        """Whether the server says which phrases were said because no answer was there."""
        return self.opening is not UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReport:
    """What the server sends its client about a turn, again whenever it changes; instants are on the server's clock."""

    turn: ServerTurn
    stalls: tuple[Stall, ...] = ()
    """The stalls that `turn.stalls` counts; a run folder keeps them with the user's turn in which they were."""

    def to_json(self) -> dict[str, Any]:
        """The report as one JSON object: the turn with its stalls in place of their number."""
        content: dict[str, Any] = to_json(self.turn)
        return content | {"stalls": None if self.turn.stalls is None else to_json(self.stalls)}

    @classmethod
    def from_json(cls, content: object) -> "TurnReport":
        """Read a report; keys of newer versions are ignored.

        Raises:
            TurnError: It is no object, a key is missing, or a value has another form than its field.
        """
        if not isinstance(content, dict):
            raise TurnError(f"a turn is an object, not {shown(content)}")
        if "marks" not in content:
            raise TurnError("the key marks is missing")
        stalls = from_json(_Stalls, content).stalls
        count = None if stalls is None else len(stalls)
        return cls(turn=from_json(ServerTurn, content | {"stalls": count}), stalls=stalls or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stalls:
    stalls: tuple[Stall, ...] | None = None
