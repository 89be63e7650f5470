"""How one turn kept its LLM budget: was the answer's text there by the deadline, and from which model?

A turn is *within* when the tier that was asked first had answer text for synthesis by the deadline, *rescued* when only
another tier had, *bridged* when mere opening words or a hold phrase were spoken by then, else *missed*. A turn that was
given up is missed, whatever was said before. The deadline is the one that was enforced, of the first answer to the
committed turn; a record that has none is judged by the commit plus the budget.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from latency.record.marks import Mark
from latency.record.turn import TurnRecord

Verdict = Literal["within", "rescued", "bridged", "missed"]
Reported = Mapping[str, Any]
"""A request (`attempts`) or an answer (`responses`) as the server reports it."""
WITHDRAWN = "withdrawn"
"""Outcome of a request for an answer that was begun before its turn was committed, and not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What became of a turn's requests; None is unknown."""

    verdict: Verdict | None
    """None: not committed, or interrupted before the deadline."""
    asked: str | None
    """The tier that was asked first."""
    tier: str | None
    """The tier that spoke first."""
    model: str | None
    policy: str | None
    """None for a language model that has no budget."""
    reason: str | None
    """Why the policy asked in this order."""
    late_ms: float | None
    """From the deadline to the answer's text; negative when that came sooner."""
    limit: str | None
    """What set the deadline: "llm", "turn" or "floor"."""
    charged: str | None
    """The stage that overspent, when the deadline is a floor."""
    phrases: tuple[str, ...]
    """What was said before the answer and is none."""
    gave_up: str | None
    """Why no (whole) answer came."""

    @property
    def lateness(self) -> str | None:
        """How late the answer's text was, for people; None when it was in time or never came."""
        if self.late_ms is None or self.late_ms <= 0:
            return None
        return f"{self.late_ms:.0f} ms" if self.late_ms >= 1 else "under 1 ms"


def judge(
    marks: Mapping[Any, float | None],
    attempts: Sequence[Reported],
    responses: Sequence[Reported],
    *,
    interrupted: bool,
    budget: float,
) -> Judged | None:
    """Judge a turn by its marks, requests and answers, all on one clock; None when no model was asked.

    Args:
        marks: instants by name, seconds.
        attempts: requests, in order.
        responses: answers, in order; empty for a language model without a budget.
        interrupted: the user spoke before the answer was over.
        budget: seconds from the commit, for a record without a deadline.
    """
    if not attempts and marks.get(Mark.LLM_REQUEST) is None:
        return None
    committed = [response for response in responses if is_committed(response)]
    first: Reported = next(iter(committed), {})
    used = in_use(attempts, responses)
    spoken = next((attempt for attempt in used if attempt.get("outcome") == "spoken"), None)
    answer = _answer_of(spoken, committed) or first
    clause = _answer_text(spoken, responses, marks)
    deadline = None if responses and not committed else _deadline(first, marks, budget)
    gave_up = next((response["gave_up"] for response in committed if response.get("gave_up")), None)
    number = (spoken or answer).get("response")
    asked = next((attempt for attempt in used if attempt.get("response") == number), None)
    said = [one for response in committed for one in response.get("said") or () if _is_before(one, clause)]
    return Judged(
        verdict=_verdict(
            clause,
            deadline,
            another=bool(spoken and asked and spoken.get("tier") != asked.get("tier")),
            bridged_at=_bridged_at(responses, said, marks),
            given_up=spoken is None and _is_given_up(used, responses),
            cut_at=_cut_at(used) if interrupted else None,
            interrupted=interrupted,
        ),
        asked=asked.get("tier") if asked else None,
        tier=spoken.get("tier") if spoken else None,
        model=spoken.get("model") if spoken else None,
        policy=answer.get("policy"),
        reason=answer.get("reason"),
        late_ms=None if clause is None or deadline is None else round((clause - deadline) * 1000, 1),
        limit=first.get("limit"),
        charged=first.get("charged"),
        phrases=tuple(str(one["text"]) for one in said if one.get("text")),
        gave_up=gave_up,
    )


def judge_turn(turn: TurnRecord, budget: float) -> Judged | None:
    """Judge a recorded turn; `budget` in seconds."""
    return judge(turn.marks, turn.attempts, turn.responses, interrupted=turn.interrupted, budget=budget)


UNHEARD = frozenset({"recogniser_failed", "nothing_heard"})
"""Ends of turns of which the agent knows no words."""


def is_answerless(turn: TurnRecord) -> bool:
    """Whether what the user heard, if anything, answered nothing that was said.

    That is an apology, a phrase that bridged a wait for nothing, or whatever follows words that were never recognised.
    """
    if turn.ended_by in UNHEARD:
        return True
    used = in_use(turn.attempts, turn.responses)
    if any(attempt.get("outcome") == "spoken" for attempt in used):
        return False
    return _is_given_up(used, turn.responses) or any(response.get("said") for response in turn.responses)


def is_committed(response: Reported) -> bool:
    """Whether an answer was for a turn that was over; one that ran ahead and was withdrawn was not.

    Without aligned clocks the instants are unknown, but not what set the deadline.
    """
    return response.get("commit") is not None or response.get("limit") is not None


def in_use(attempts: Iterable[Reported], responses: Sequence[Reported]) -> list[Reported]:
    """The requests without those of withdrawn answers, of which nothing was heard whatever their outcome says."""
    withdrawn = {response.get("response") for response in responses if not is_committed(response)}
    return [
        attempt
        for attempt in attempts
        if attempt.get("outcome") != WITHDRAWN and (not responses or attempt.get("response") not in withdrawn)
    ]


def _is_given_up(used: Iterable[Reported], responses: Iterable[Reported]) -> bool:
    return any(response.get("gave_up") for response in responses) or any(a.get("outcome") == "failed" for a in used)


def _answer_of(spoken: Reported | None, committed: Sequence[Reported]) -> Reported | None:
    number = spoken.get("response") if spoken else None
    return next((response for response in committed if response.get("response") == number), None)


def _answer_text(
    spoken: Reported | None, responses: Sequence[Reported], marks: Mapping[Any, float | None]
) -> float | None:
    """When the answer's first clause was handed to synthesis.

    A clause that was held back, because a better tier might still have come, was whole before that.
    """
    whole = spoken.get("first_clause") if spoken else None
    if whole is None and responses:
        return None
    handed = marks.get(Mark.LLM_FIRST_CLAUSE)
    if whole is None and handed is None:
        return None
    known = (whole, handed, marks.get(Mark.CLAUSE_TO_TTS))
    return max(float(at) for at in known if at is not None)


def _deadline(response: Reported, marks: Mapping[Any, float | None], budget: float) -> float | None:
    if (deadline := response.get("deadline")) is not None:
        return float(deadline)
    commit = marks.get(Mark.TURN_COMMIT)
    return None if commit is None else commit + budget


def _is_before(said: Reported, clause: float | None) -> bool:
    return clause is None or said.get("at") is None or said["at"] <= clause


def _bridged_at(
    responses: Sequence[Reported], said: Sequence[Reported], marks: Mapping[Any, float | None]
) -> float | None:
    if responses:
        return min((one["at"] for one in said if one.get("at") is not None), default=None)
    # Without a record of what bridged, the first words were no answer when the answer's came after them.
    return marks.get(Mark.CLAUSE_TO_TTS)


def _cut_at(attempts: Sequence[Reported]) -> float | None:
    return max((attempt["end"] for attempt in attempts if attempt.get("end") is not None), default=None)


def _verdict(
    clause: float | None,
    deadline: float | None,
    *,
    another: bool,
    bridged_at: float | None,
    given_up: bool,
    cut_at: float | None,
    interrupted: bool,
) -> Verdict | None:
    if deadline is None:
        return None
    if clause is not None and clause <= deadline:
        return "rescued" if another else "within"
    # Who was interrupted after the deadline had missed it; before it, nobody knows.
    if clause is None and interrupted and (cut_at is None or cut_at < deadline):
        return None
    return "bridged" if bridged_at is not None and bridged_at <= deadline and not given_up else "missed"
