"""What a policy may know of the turn that it plans. Values only."""

from dataclasses import dataclass

from voice.language import Language
from voice.llm.routing.settling import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInfo:
    """A turn that is to be answered. Policies that do not look at the words ignore it."""

    text: str | None = None
    """The caller's words; None when they are unknown."""
    asked: str | None = None
    """What the agent had said just before; None at the beginning of a call."""
    turn: int = 0
    """How many turns of the call were committed before this one."""
    tools: tuple[str, ...] = ()
    """Names of the tools that a model may call."""
    irreversible: tuple[str, ...] = ()
    """Those of them whose effects cannot be undone."""
    route: Route = Route()
    """Where earlier turns went."""
    escalated: bool = False
    """Whether the large tier took this turn over already: it answers what its tools return, too."""
    language: Language = "en"
    """That of the call; words are told apart in English only."""


ANY_TURN = TurnInfo()
"""A turn of which nothing is known."""
