"""A turn: as the server reports it to its client while the call runs, and as a line of turns.jsonl."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from latency.record.contributions import Step, contributions, known_instants, steps
from latency.record.json_form import TurnError, from_json, parse, shown, to_json
from latency.record.marks import (
    Count,
    EarlierInstant,
    Instant,
    Marks,
    Milliseconds,
    Probability,
    Seconds,
    disorder,
)
from latency.record.requests import AnswerPart, AnswerRecord, RequestRecord

StallKind = Literal["event loop", "garbage collection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A time of at least `SHORTEST_STALL_MS` during which the server's event loop did nothing."""

    at: EarlierInstant
    """When it began."""
    ms: Milliseconds
    """How long it lasted."""
    kind: StallKind

    @property
    def end(self) -> float:
        """When it ended, on the clock of `at`."""
        return self.at + self.ms / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStall(Stall):
    """A stall and where in the conversation it was."""

    session: str
    turn: int | None
    """The latest turn that had begun; None before the first."""


Part = Literal[
    "voice detector", "recogniser", "turn taking", "language model", "tool", "synthesis", "transport", "processor"
]
"""The part that hung. The "tool" is one that the language model called; "processor" is any other of the pipeline."""

HEARING: frozenset[Part] = frozenset({"voice detector", "recogniser", "turn taking", "processor"})
"""The parts that a caller's words pass before they are answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HangRecord:
    """One part that hung in a turn."""

    part: Part
    at: Instant | None = None
    """When the call stopped waiting for it."""
    seconds: Seconds | None = None
    """How long the call had waited for it."""
    answered: bool = False
    """Whether a part of the turn's answer had been spoken before."""
    ended_call: bool = False
    """Whether the call was ended, because nothing could be said or it had hung repeatedly."""


Because = Literal[
    "at_once", "stop_word", "request", "answer", "words", "no_words", "backchannel", "nothing_heard", "own_words",
    "short", "far", "no_speech",
]  # fmt: skip
"""Why an answer was stopped or resumed. Stopped: by any words, because it had hardly begun or was still awaited
(at_once); by words that stop a speaker, a whole request, an answer to the agent's question, or other words that went
on; or without any words, because the recogniser failed. Resumed: the words were backchannels, none, or the agent's own;
the sound was short and asked for nothing, too soft to be the caller's, or no speech; or no words came."""
OverlapVerdict = Literal["stopped", "resumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapRecord:
    """One stretch of sound during an answer."""

    onset: Instant
    """When it began, by the voice detector's reports."""
    ducked: Instant | None = None
    """When the answer was made softer; None if it was stopped at once."""
    silenced: Instant | None = None
    """When the answer was silenced to wait for words; None if it was not."""
    decided: Instant | None = None
    verdict: OverlapVerdict | None = None
    """None while undecided."""
    because: Because | None = None
    words: str | None = None
    """The words recognised by then; None for none."""


EndedBy = Literal[
    "smart_turn", "fallback", "whole_request", "nothing_heard", "own_voice", "recogniser_failed", "timeout"
]
"""Why the user's turn was ended: its words were judged complete, by Smart Turn and all other evidence; they were in
doubt, and the required silence had passed; they are a whole request; the recogniser heard no words; it heard the
agent's own voice; the recogniser failed; or pipecat's watchdog stopped waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartTurnOpinion:
    """The opinion of Smart Turn and of the other evidence about the end of a turn."""

    probability: Probability | None = None
    """Smart Turn's probability that the turn is complete."""
    ms: Milliseconds | None = None
    """How long Smart Turn ran."""
    finished: Probability | None = None
    """The probability that the turn is complete, by all evidence; None without evidence."""
    silence_ms: Milliseconds | None = None
    """The silence that the turn needed; None when silence did not decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationRecord:
    """Work on the answer before the turn was committed."""

    hints: Count = 0
    """How often a short silence hinted at the end of the turn."""
    started: Count = 0
    """Speculative answers that were started."""
    discarded: Count = 0
    """The unused ones among them."""
    early: Count = 0
    """The number started because the words read as finished, before silence or Smart Turn indicated the end."""
    used: bool = False
    """Whether the turn's answer is the last one started."""
    request: Instant | None = None
    """When the used answer was requested."""
    spoken_ahead: bool = False
    """Whether its first clause went to synthesis before the commit."""


CheckOutcome = Literal["same", "changed", "late", "shed", "withdrawn", "failed"]
"""The result of the second recognition of a turn's words: the words mean the same; others that matter took their place;
the answer was to be heard before the result; other work came first; the caller went on, or was answered without a
language model; or the recogniser failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRecord:
    """A check of a turn's words by a second, longer pass of the recogniser."""

    outcome: CheckOutcome
    began: Instant | None = None
    """When it was asked for: the first pass's words were final."""
    ended: Instant | None = None
    seconds: Seconds | None = None
    """How long its pass ran, about its processor time; None for one that never began."""
    before: str | None = None
    """The words that matter and that were replaced, in lower case and with numbers in words; None if none were."""
    after: str | None = None
    """Their replacement."""
    held_ms: Milliseconds | None = None
    """How long the first clause, otherwise ready to be spoken, waited for it; None if it did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedTurn:
    """The server's account of a turn, one of its own or one of the user's."""

    heard: str | None = None
    """The recognised words, or the typed ones."""
    said: str | None = None
    """The answer of the bot, without phrases that bridged a wait."""
    ended_by: EndedBy | None = None
    """None for a turn that is not committed or was typed."""
    smart_turn: SmartTurnOpinion | None = None
    """None when Smart Turn did not run."""
    interrupted: bool = False
    """Whether the user spoke before the answer was over."""
    failed: str | None = None
    """The failure, in one sentence."""
    hung: HangRecord | None = None
    """The last part that hung in it; None when none did."""
    marks: Marks = field(default_factory=Marks)
    attempts: tuple[RequestRecord, ...] = ()
    """Requests to language models, in order."""
    responses: tuple[AnswerRecord, ...] = ()
    """Answers requested under a budget, in order; empty for a language model without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTurn(ReportedTurn):
    """One of the server's own turns; a user's turn becomes several if a pause is taken for its end."""

    turn: Count
    """Position in the call, from 0."""
    final: bool = False
    """Whether it is final."""
    opening: str | None | UnsetType = UNSET
    """Phrases said because no answer was ready; None if there were none, unset if unknown."""
    opening_seconds: Seconds | None = None
    """The length of these phrases."""
    played: str | None = None
    """The words of `said` whose audio was played; None from a server that does not report them."""
    speculation: SpeculationRecord | None = None
    """None from a server that does not speculate."""
    typed: bool = False
    """Whether the user typed it: nothing was spoken, so it has no turn latency."""
    joined: bool = False
    """Whether it continues the turn before it, which was committed too early: their words are one message."""
    overlaps: tuple[OverlapRecord, ...] | None = None
    """The caller's sounds during its answer, in order; None from a server that does not decide on them."""
    part: AnswerPart | None = None
    """The part of a longer answer that was spoken; None for a whole answer, and from a server that speaks no parts."""
    checks: tuple[CheckRecord, ...] = ()
    """The checks of its words, in order; a turn with pauses may have several."""
    answer_pending: bool = False
    """Whether an answer, or the rest of it, is still to come."""
    stalls: Count | None = None
    """The number of stalls of the event loop reported with it; None when the loop was not watched."""

    @property
    def is_opening_known(self) -> bool:
        """Whether the server reports the phrases that bridged the wait for an answer."""
        return self.opening is not UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReport:
    """The server's message about a turn, sent again whenever it changes; instants are on the server's clock."""

    turn: ServerTurn
    stalls: tuple[Stall, ...] = ()
    """The stalls that `turn.stalls` counts; a run folder keeps them with the user's turn that they hit."""

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


SCHEMA = 1
"""Of a line of turns.jsonl. Keys are only ever added; a key that an older line lacks is unknown."""
SHORTEST_PAUSE = 0.1
"""Seconds; a shorter silence inside a turn is part of a word, not a pause."""

Truth = Literal["labelled", "estimated"]
JUDGED_COMPLETE: frozenset[EndedBy] = frozenset({"smart_turn", "whole_request"})
"""Ends of turns whose words were judged complete, perhaps after more silence than the voice detector needs."""


class NewerTurnError(TurnError):
    """A record of a newer schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord(ReportedTurn):
    """A turn of the user and the agent's answer; instants are on the recording's clock.

    The report is that of the server's last committed turn, but `heard` and `said` join the texts of all its turns.

    Raises:
        TurnError: Speech stretches or marks are out of order, or a turn without speech wants an answer.
    """

    session: str
    turn: Count
    """Position in the session, from 0."""
    scenario: str = ""
    fixture: str | None = None
    text: str | None = None
    """The true words of the user."""
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
    """The words that a right answer contains; empty when the fixture defines no right answer."""
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
    """When the caller marked this turn as bad during the call; None if not marked."""
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
        """When the user began to speak; None for a turn of noise alone."""
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
        """How often the server ended the turn too early and then joined later words to it."""
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
        return contributions(known_instants(self.marks, speech_end=self.end))

    def steps(self) -> list[Step]:
        """The turn's steps between known instants, in order, from the first one at which a stage starts or ends."""
        return steps(known_instants(self.marks, speech_end=self.end))

    def to_json(self) -> dict[str, Any]:
        """The record as one JSON object, as turns.jsonl holds it."""
        content: dict[str, Any] = to_json(self)
        first = {"schema": SCHEMA, "session": content.pop("session"), "turn": content.pop("turn")}
        return first | content

    @classmethod
    def from_json(cls, line: object) -> "TurnRecord":
        """Read a line of turns.jsonl, or its object; keys of newer versions are ignored.

        Raises:
            NewerTurnError: A newer version wrote it in an unknown form.
            TurnError: Not an object, another schema, a missing key, or impossible values.
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
