"""A policy's input and output: the state of a turn's requests, and the next steps. Values only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from latency.budget import Deadline
from latency.record.requests import PhraseKind

Outcome = Literal["complete", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestState:
    """The state of one request to a tier; instants in seconds on the clock of `Situation.now`."""

    number: int
    """Position among the turn's attempts, from 0."""
    tier: str
    request: float
    first_token: float | None = None
    first_clause: float | None = None
    """When its first speakable clause was complete; role-only, empty and reasoning chunks do not count."""
    called: float | None = None
    """When it asked for tools."""
    clauses: int = 0
    """Speakable clauses that it has delivered."""
    outcome: Outcome | None = None
    """How it ended; None while it runs."""
    continues: int | None = None
    """The attempt whose unfinished answer it was asked to continue."""
    heard: int = 0
    """How many clauses of that attempt its request contained."""
    opens: bool = False
    """It was asked for an opening, and is no answer."""
    follows: int | None = None
    """The attempt whose opening its request contained as already said."""
    overreached: bool = False
    """It failed because it called a tool that is left to another tier."""
    candidate: int | None = None
    """Its number among the candidates of which the best is spoken; None for a request that is no candidate."""
    verifies: int | None = None
    """The attempt whose draft it was asked to verify; it is no answer."""
    reviewed: bool = False
    """Its first sentence may be spoken, and the others only once it is verified."""
    drafted: float | None = None
    """When a draft that is reviewed was whole."""
    dismissed: str | None = None
    """Why this candidate should not be spoken; None when it may be."""
    support: int = 0
    """How many whole candidates agree with this whole one, itself included; 0 for all other requests."""

    @property
    def ready(self) -> float | None:
        """When it first had a clause or a tool call; None before that."""
        return self.called if self.first_clause is None else self.first_clause

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.outcome is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A turn at one instant."""

    now: float
    commit: float | None
    """When the user's turn was committed; None while a request runs ahead of it."""
    deadline: Deadline | None
    """For the first speakable clause. Before the commit it is what the turn leaves, if its end is not later still;
    None when nothing is known of that."""
    attempts: Sequence[RequestState] = ()
    speaking: int | None = None
    """The attempt whose text goes to synthesis."""
    dry_at: float | None = None
    """When all that was handed to synthesis will have been played; None while nothing was."""
    held: int = 0
    """Filler phrases said so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A request to make."""

    tier: str
    continues: int | None = None
    """The attempt whose answer it continues; None for an answer from the beginning."""
    hedge: bool = False
    """It is a hedge request: it doubles a late request, and uses the hedging allowance."""
    opens: bool = False
    """It asks for an opening only: a sentence that is said while the answer is made."""
    follows: int | None = None
    """The attempt whose opening the request contains, as words that were already said."""
    candidate: int | None = None
    """Its number among the candidates for one answer; their sampling differs."""
    verifies: int | None = None
    """The attempt whose draft it is asked to verify."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do now, in this order: speak, cancel, start, say a phrase; and when to ask again if nothing happens.

    After it starts or speaks anything, or says an opening, it is asked again at once.
    """

    speak: int | None = None
    """From now on this attempt's text goes to synthesis; None changes nothing."""
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
