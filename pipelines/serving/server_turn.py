"""One turn as the server saw it, and as it is told to the client. Pure: times are passed in.

Times are seconds on the server's monotonic clock; the names of instants are those of `latency.record.marks`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Stalls = Callable[[float, float], Sequence[Mapping[str, Any]]]
"""The stalls of the event loop that ended after one instant and not after another; see `voice.server.loop_watch`."""


@dataclass(slots=True)
class ServerTurn:
    """One user turn and the answer to it, as the server saw it."""

    number: int
    marks: dict[str, float] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    ended_by: str | None = None
    smart_turn: dict[str, float] | None = None
    speculation: dict[str, Any] | None = None
    """What was begun ahead of the commit; None where nothing is."""
    ahead_since: float | None = None
    """When the answer that is being begun ahead was asked for."""
    interrupted: bool = False
    failed: str | None = None
    final: bool = False
    tier: str | None = None
    llm_end: float | None = None
    contexts: set[str] = field(default_factory=set)
    """Those of TTS that speak this turn's answer."""
    awaits_context: bool = False
    apologises: bool = False
    """The language model failed before its first words: what is spoken is not its answer."""
    opening: list[str] = field(default_factory=list)
    """Phrases spoken because no answer was there."""
    opening_seconds: float = 0.0
    opening_contexts: set[str] = field(default_factory=set)
    responses: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    """What became of the requests for each answer, by its number in the call; more than one after a tool."""
    models: Mapping[str, str] = field(default_factory=dict)
    answer_sampled: bool = False
    stalls: Stalls | None = None
    """None: nobody watches the event loop."""
    since: float = -math.inf
    """When the turn before had last been reported: stalls from then on are told with this one."""
    until: float = math.inf

    @property
    def awaits_answer(self) -> bool:
        """Whether a language model is still at it, or its first words are still to be spoken."""
        if any(not response["final"] for response in self.responses.values()):
            return True
        return bool(self.opening) and not self.answer_sampled and not self.failed

    def report(self) -> dict[str, Any]:
        """The turn as the client is told it (JSON)."""
        return {
            "turn": self.number,
            "final": self.final,
            "marks": dict(self.marks),
            "heard": " ".join(self.heard),
            "said": " ".join(self.said),
            "opening": " ".join(self.opening) or None,
            "opening_seconds": round(self.opening_seconds, 4) or None,
            "ended_by": self.ended_by or ("timeout" if "turn_commit" in self.marks else None),
            "smart_turn": self.smart_turn,
            "speculation": self.speculation,
            "interrupted": self.interrupted,
            "failed": self.failed,
            "attempts": self._attempts(),
            "answer_pending": self.awaits_answer,
            "responses": [self._response(number, response) for number, response in self.responses.items()],
            "stalls": None if self.stalls is None else list(self.stalls(self.since, self.until)),
        }

    def _response(self, number: int, response: Mapping[str, Any]) -> dict[str, Any]:
        told = ("policy", "reason", "commit", "deadline", "limit", "charged", "said", "gave_up")
        spoken = first_spoken(response)
        return {"response": number, **{key: response[key] for key in told}, "tier": spoken["tier"] if spoken else None}

    def _attempts(self) -> list[dict[str, Any]]:
        if self.responses:
            return [
                {"response": number, "model": self.models.get(attempt["tier"]), **attempt}
                for number, response in self.responses.items()
                for attempt in response["attempts"]
            ]
        if "llm_request" not in self.marks:
            return []
        return [
            {
                "tier": self.tier,
                "request": self.marks["llm_request"],
                "first_token": self.marks.get("llm_first_token"),
                "first_clause": self.marks.get("llm_first_clause"),
                "end": self.llm_end,
                "outcome": self._outcome(),
            }
        ]

    def _outcome(self) -> str:
        if self.apologises:
            return "failed"
        return "spoken" if self.said else "cancelled" if self.interrupted else "silent"


def first_spoken(response: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The attempt whose text was spoken first."""
    return next((attempt for attempt in response["attempts"] if attempt["outcome"] == "spoken"), None)
