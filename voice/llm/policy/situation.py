"""The input and output of a policy: the turn, the state of its requests, and the next steps. Values only."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from latency.budget import Deadline
from latency.record.requests import PhraseKind, RequestOutcome
from voice.language import Language
from voice.llm.answer.hold_phrases import HOLD_GUARD
from voice.llm.policy.tier_statistics import Wait

SETTLED_AFTER = 3
"""The least turns between two changes of tier, unless one is forced."""

Outcome = Literal["complete", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Route:
    """The recent routing of a call. It keeps the tier from changing in every turn, which would sound like two voices.

    Parameters:
        tier: the tier that the latest one was routed to; None before the first.
        turns: how many turns in a row.
    """

    tier: str | None = None
    turns: int = 0

    def then(self, tier: str | None) -> "Route":
        """The route after a turn with `tier`; unchanged if None, when the policy does not route."""
        if tier is None:
            return self
        return Route(tier, self.turns + 1 if tier == self.tier else 1)

    def keeps(self, wanted: str) -> str | None:
        """The tier that keeps answering instead of `wanted`; None if the tier may change."""
        if self.tier in (None, wanted) or self.turns >= SETTLED_AFTER:
            return None
        return self.tier


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInfo:
    """A turn to answer. Policies that do not use the words ignore it."""

    text: str | None = None
    """The caller's words; None if unknown."""
    asked: str | None = None
    """The agent's preceding words; None at the beginning of a call."""
    irreversible: tuple[str, ...] = ()
    """Names of the tools whose effects cannot be undone."""
    route: Route = Route()
    """The routing of earlier turns."""
    escalated: bool = False
    """Whether the large tier has already taken over this turn; it then also answers after its tools."""
    language: Language = "en"
    """The call's language; words are classified only in English."""


ANY_TURN = TurnInfo()
"""A turn about which nothing is known."""


@dataclass(slots=True, kw_only=True)
class NewRequest:
    """A request to make."""

    tier: str
    continues: int | None = None
    """The request whose unfinished answer it continues; None for an answer from the beginning."""
    hedge: bool = False
    """Whether it hedges a late request, using the hedging allowance."""
    opens: bool = False
    """Whether it asks only for an opening: a sentence spoken while the answer is generated."""
    follows: int | None = None
    """The request whose opening its context contains, as words already spoken."""
    candidate: int | None = None
    """Its number among the candidates for one answer, which are sampled differently; the best is spoken."""
    verifies: int | None = None
    """The request whose draft it verifies; it is then not an answer."""


@dataclass(slots=True, kw_only=True)
class RequestState(NewRequest):
    """The state of one request to a tier; instants in seconds on the clock of `Situation.now`.

    Policies see nothing else of the request, and the run's record says nothing more about its course.
    """

    number: int
    """Position among the turn's requests, from 0."""
    request: float
    """When it was sent."""
    heard: int = 0
    """The number of clauses in its context from the answer that it continues."""
    alive: float | None = None
    """When its server first responded in any way, for services that report it."""
    first_token: float | None = None
    first_clause: float | None = None
    """When its first speakable clause was complete; role-only, empty and reasoning chunks do not count."""
    introduction: float | None = None
    """Seconds in which the rest must follow its first clause, if that is an introduction ("Sure,"); else None."""
    continued: float | None = None
    """When the clause after such an introduction was complete."""
    last_token: float | None = None
    tokens: int = 0
    """About how many tokens came after the first part of its text."""
    clauses: int = 0
    """Speakable clauses that it has delivered."""
    called: float | None = None
    """When it called tools."""
    end: float | None = None
    outcome: Outcome | None = None
    """How it ended; None while it runs."""
    failed: str | None = None
    """Why it failed, in one sentence."""
    overreached: bool = False
    """Whether it failed because of its own output or calls, and another tier takes over."""
    reviewed: bool = False
    """Whether it is a draft: only its first sentence may be spoken before it is verified."""
    drafted: float | None = None
    """When a draft under review was complete."""
    dismissed: str | None = None
    """Why this candidate should not be spoken; None if it may be."""
    support: int = 0
    """The number of complete candidates, itself included, that agree with this complete one; 0 for other requests."""
    spoken: bool = False
    """Whether its answer was chosen to be spoken."""
    said: bool = False
    """Whether its words were spoken as an opening."""
    rejected: str | None = None
    """Why its words were not spoken as an opening."""
    withdrawn: bool = False
    """Whether its answer was speculative and discarded because the turn had not ended."""

    @classmethod
    def of(
        cls, start: NewRequest, *, number: int, request: float, heard: int = 0, reviewed: bool = False
    ) -> "RequestState":
        """The state of a request sent now."""
        return cls(**asdict(start), number=number, request=request, heard=heard, reviewed=reviewed)

    @property
    def ready(self) -> float | None:
        """When it first had a clause or a tool call; None before that."""
        return self.called if self.first_clause is None else self.first_clause

    @property
    def token(self) -> float | None:
        """Seconds that it has taken for a token, after the first part of its text; None before any."""
        if self.first_token is None or self.last_token is None or not self.tokens:
            return None
        return (self.last_token - self.first_token) / self.tokens

    @property
    def introduced_until(self) -> float | None:
        """When the rest of its first clause must be there, while it is not; None without an introduction."""
        if self.introduction is None or self.first_clause is None or self.continued is not None:
            return None
        return self.first_clause + self.introduction

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.outcome is None

    @property
    def reported_outcome(self) -> RequestOutcome | None:
        """Its outcome, as named in the record; None while it runs."""
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
        # A complete request that was not chosen counts as cancelled.
        return "cancelled" if self.outcome == "complete" else self.outcome

    @property
    def wait(self) -> Wait | None:
        """The tier's response time; None while the request runs, or if it is not representative of the tier."""
        if self.continues is not None or self.verifies is not None or self.end is None:
            return None
        if self.first_clause is not None:
            return Wait(self.first_clause - self.request, reached=True)
        if self.outcome == "cancelled" and not self.withdrawn:
            # Most discarded requests are cancelled within tenths of a second, and say little about a tier's tail.
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
    """The deadline of the first speakable clause. Before the commit, it assumes that the turn ends now; None if
    unknown."""
    requests: Sequence[RequestState] = ()
    speaking: int | None = None
    """The request whose text goes to synthesis."""
    dry_at: float | None = None
    """When all text handed to synthesis will have been played; None before any."""
    held: int = 0
    """Filler phrases said so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The actions to take now, in this order: speak, cancel, start, say a phrase; and when to decide again.

    After a start, a change of speaker or an opening, the policy is asked again at once.
    """

    speak: int | None = None
    """The request whose text goes to synthesis from now on; None for no change."""
    cancel: tuple[int, ...] = ()
    start: tuple[NewRequest, ...] = ()
    say: PhraseKind | None = None
    """A phrase for the wait: "hold", or the "opening" that the answer follows; then "delay" if the answer takes
    unusually long."""
    release: bool = False
    """Whether the rest of the spoken draft is no longer held back for a verdict."""
    give_up: bool = False
    """Whether to apologise and end the turn, because no answer will come."""
    wake_at: float | None = None
    """The next instant at which the decision may change even if nothing happens."""

    @property
    def acts(self) -> bool:
        """Whether it affects the next decision, so that the policy is asked again at once."""
        return bool(self.start) or self.speak is not None or self.say == "opening" or self.release
