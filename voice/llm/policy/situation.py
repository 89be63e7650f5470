"""A policy's input and output: the turn, the state of its requests, and the next steps. Values only."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from latency.budget import Deadline
from latency.record.requests import PhraseKind, RequestOutcome
from voice.language import Language
from voice.llm.answer.hold_phrases import HOLD_GUARD
from voice.llm.policy.tier_statistics import Wait

SETTLED_AFTER = 3
"""Turns from one change of tier to the earliest next one that nothing forces."""

Outcome = Literal["complete", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Route:
    """Where the turns of a call went lately, so that the tier does not change in every turn: a caller hears two voices.

    Parameters:
        tier: the tier that the latest one was routed to; None before the first.
        turns: how many turns in a row.
    """

    tier: str | None = None
    turns: int = 0

    def then(self, tier: str | None) -> "Route":
        """After a turn that was routed to `tier`; None, when its policy does not route, changes nothing."""
        if tier is None:
            return self
        return Route(tier, self.turns + 1 if tier == self.tier else 1)

    def keeps(self, wanted: str) -> str | None:
        """The tier that goes on answering although `wanted` would be chosen; None when the change may be made."""
        if self.tier in (None, wanted) or self.turns >= SETTLED_AFTER:
            return None
        return self.tier


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInfo:
    """A turn that is to be answered. Policies that do not look at the words ignore it."""

    text: str | None = None
    """The caller's words; None when they are unknown."""
    asked: str | None = None
    """What the agent had said just before; None at the beginning of a call."""
    irreversible: tuple[str, ...] = ()
    """Names of the tools whose effects cannot be undone."""
    route: Route = Route()
    """Where earlier turns went."""
    escalated: bool = False
    """Whether the large tier took this turn over already: it answers what its tools return, too."""
    language: Language = "en"
    """That of the call; words are told apart in English only."""


ANY_TURN = TurnInfo()
"""A turn of which nothing is known."""


@dataclass(slots=True, kw_only=True)
class Start:
    """A request to make."""

    tier: str
    continues: int | None = None
    """The request whose unfinished answer it continues; None for an answer from the beginning."""
    hedge: bool = False
    """It is a hedge request: it doubles a late request, and uses the hedging allowance."""
    opens: bool = False
    """It asks for an opening only: a sentence that is said while the answer is made."""
    follows: int | None = None
    """The request whose opening it contains, as words that were already said."""
    candidate: int | None = None
    """Its number among the candidates for one answer, of which the best is spoken; their sampling differs."""
    verifies: int | None = None
    """The request whose draft it is asked to verify; it is no answer then."""


@dataclass(slots=True, kw_only=True)
class RequestState(Start):
    """The state of one request to a tier; instants in seconds on the clock of `Situation.now`.

    It is all that a policy sees of the request, and all that the record of the run says of its course.
    """

    number: int
    """Position among the turn's requests, from 0."""
    request: float
    """When it was sent."""
    heard: int = 0
    """How many clauses it contained of the answer that it continues."""
    alive: float | None = None
    """When its server first responded at all, for services that report it."""
    first_token: float | None = None
    first_clause: float | None = None
    """When its first speakable clause was complete; role-only, empty and reasoning chunks do not count."""
    clauses: int = 0
    """Speakable clauses that it has delivered."""
    called: float | None = None
    """When it asked for tools."""
    end: float | None = None
    outcome: Outcome | None = None
    """How it ended; None while it runs."""
    failed: str | None = None
    """Why it failed, in one sentence."""
    overreached: bool = False
    """It failed because of what it said or called, which is left to another tier."""
    reviewed: bool = False
    """It is a draft: its first sentence may be spoken, and the others only once it is verified."""
    drafted: float | None = None
    """When a draft that is reviewed was whole."""
    dismissed: str | None = None
    """Why this candidate should not be spoken; None when it may be."""
    support: int = 0
    """How many whole candidates agree with this whole one, itself included; 0 for all other requests."""
    spoken: bool = False
    """Its answer was chosen to be spoken."""
    said: bool = False
    """Its words were said as an opening."""
    rejected: str | None = None
    """Why its words were not said as an opening."""
    withdrawn: bool = False
    """Its answer was speculative, and was discarded because the turn had not ended."""

    @classmethod
    def of(cls, start: Start, *, number: int, request: float, heard: int = 0, reviewed: bool = False) -> "RequestState":
        """The state of a request that is sent now."""
        return cls(**asdict(start), number=number, request=request, heard=heard, reviewed=reviewed)

    @property
    def ready(self) -> float | None:
        """When it first had a clause or a tool call; None before that."""
        return self.called if self.first_clause is None else self.first_clause

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.outcome is None

    @property
    def reported_outcome(self) -> RequestOutcome | None:
        """What became of it, as the record names it; None while it runs."""
        if self.withdrawn:
            return "failed" if self.outcome == "failed" else "withdrawn"
        if self.opens and self.rejected:
            return "rejected"
        if self.opens and self.said:
            return "opened"
        if self.verifies is not None and self.outcome == "complete":
            return "verdict"
        if self.spoken and self.ready is not None:
            return "spoken" if self.clauses else "called"
        # A request that completed but was not chosen counts as cancelled.
        return "cancelled" if self.outcome == "complete" else self.outcome

    @property
    def wait(self) -> Wait | None:
        """How long the tier took; None while the request runs, or if its duration says nothing about the tier."""
        if self.continues is not None or self.verifies is not None or self.end is None:
            return None
        if self.first_clause is not None:
            return Wait(self.first_clause - self.request, reached=True)
        if self.outcome == "cancelled" and not self.withdrawn:
            # Most discarded requests are cancelled within tenths of a second, which says little about a tier's tail.
            return Wait(self.end - self.request, reached=False)
        return None

    def in_time(self, deadline: Deadline) -> bool | None:
        """Whether a clause or a tool call was ready by the deadline; None while it runs or if cancelled too early."""
        if self.end is None:
            return None
        if self.ready is not None and self.ready <= deadline.at:
            return True
        return False if self.outcome == "failed" or self.end >= deadline.at - HOLD_GUARD else None

    def summary(self, *, since: float) -> str:
        """One line for the log, with times in milliseconds after `since`."""
        clause = "no clause" if self.first_clause is None else f"clause at {(self.first_clause - since) * 1000:.0f}"
        why = f" ({self.failed})" if self.failed else ""
        asked = f"asked at {(self.request - since) * 1000:.0f}"
        return f"{self.tier} {self.reported_outcome or 'running'}{why}, {asked}, {clause}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A turn at one instant."""

    now: float
    commit: float | None
    """When the user's turn was committed; None while a request runs ahead of it."""
    deadline: Deadline | None
    """For the first speakable clause. Before the commit it is what the turn leaves, if its end is not later still;
    None when nothing is known of that."""
    requests: Sequence[RequestState] = ()
    speaking: int | None = None
    """The request whose text goes to synthesis."""
    dry_at: float | None = None
    """When all that was handed to synthesis will have been played; None while nothing was."""
    held: int = 0
    """Filler phrases said so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do now, in this order: speak, cancel, start, say a phrase; and when to ask again if nothing happens.

    After it starts or speaks anything, or says an opening, it is asked again at once.
    """

    speak: int | None = None
    """From now on this request's text goes to synthesis; None changes nothing."""
    cancel: tuple[int, ...] = ()
    start: tuple[Start, ...] = ()
    say: PhraseKind | None = None
    """A phrase that bridges the wait: "hold", or the "opening" that the requests follow; then "delay" when the answer
    takes unusually long."""
    release: bool = False
    """The rest of the draft that is spoken is no longer held back for a verdict."""
    give_up: bool = False
    """No answer will come: apologise, and end the turn."""
    wake_at: float | None = None
    """The next instant at which the decision may change even if nothing happens."""

    @property
    def acts(self) -> bool:
        """Whether it changes what is decided next, so that it is asked again at once."""
        return bool(self.start) or self.speak is not None or self.say == "opening" or self.release
