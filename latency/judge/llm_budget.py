"""Judges a turn's LLM budget: was the answer's text ready by the deadline, and from which tier?

A turn is *within* when the tier that was asked first had answer text for synthesis by the deadline, *rescued* when only
another tier had, *bridged* when only a hold phrase or an opening was spoken by then, else *missed*. A turn that was
given up is missed, whatever was said before. The deadline is the one that was enforced for the first answer to the
committed turn; if none is recorded, it is the commit plus the budget.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from latency.budget import Limit, Stage
from latency.record.marks import Mark
from latency.record.requests import AnswerRecord, Phrase, RequestRecord
from latency.record.turn import EndedBy, ReportedTurn

Verdict = Literal["within", "rescued", "bridged", "missed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmVerdict:
    """The outcome of a turn's requests to language models; None is unknown."""

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
    """From the deadline to the answer's text; negative for text before the deadline."""
    limit: Limit | None
    """The limit that set the deadline."""
    charged: Stage | None
    """The stage that overspent, when the deadline is a floor."""
    phrases: tuple[str, ...]
    """Phrases before the answer that bridged the wait for it."""
    gave_up: str | None
    """Why no answer came, or only part of it."""

    @property
    def lateness(self) -> str | None:
        """The lateness of the answer's text, in words; None when it was in time or never came."""
        if self.late_ms is None or self.late_ms <= 0:
            return None
        return f"{self.late_ms:.0f} ms" if self.late_ms >= 1 else "under 1 ms"


def judge(turn: ReportedTurn, *, budget: float) -> LlmVerdict | None:
    """Judge a turn by its marks, requests and answers, all on one clock; None when no model was asked.

    Args:
        turn: a turn of the server's or of the user's.
        budget: seconds from the commit; used when the turn's deadline is not recorded.
    """
    answers = turn.responses
    if not turn.attempts and Mark.LLM_REQUEST not in turn.marks:
        return None
    committed = [answer for answer in answers if answer.is_committed]
    first = next(iter(committed), AnswerRecord())
    used = in_use(turn.attempts, answers)
    spoken = next((attempt for attempt in used if attempt.outcome == "spoken"), None)
    number = spoken.response if spoken else None
    answer = next((one for one in committed if one.response == number), first)
    asked = next((attempt for attempt in used if attempt.response == (spoken or answer).response), None)
    clause, deadline = _answer_text(spoken, turn), None
    if committed or not answers:
        commit = turn.marks.get(Mark.TURN_COMMIT)
        deadline = first.deadline if first.deadline is not None or commit is None else commit + budget
    said = [
        phrase for one in committed for phrase in one.said if clause is None or phrase.at is None or phrase.at <= clause
    ]
    another = bool(spoken and asked and spoken.tier != asked.tier)
    return LlmVerdict(
        verdict=_verdict(turn, used, said, clause, deadline, another=another),
        asked=asked.tier if asked else None,
        tier=spoken.tier if spoken else None,
        model=spoken.model if spoken else None,
        policy=answer.policy,
        reason=answer.reason,
        late_ms=None if clause is None or deadline is None else round((clause - deadline) * 1000, 1),
        limit=first.limit,
        charged=first.charged,
        phrases=tuple(phrase.text for phrase in said if phrase.text),
        gave_up=next((one.gave_up for one in committed if one.gave_up), None),
    )


UNHEARD: frozenset[EndedBy] = frozenset({"recogniser_failed", "nothing_heard", "own_voice"})
"""Ends of turns whose words are unknown."""


def is_answerless(turn: ReportedTurn) -> bool:
    """Whether the user heard no answer.

    The user heard an apology, a phrase that bridged the wait for an answer that never came, the announcement of a hang,
    or speech after words that were never recognised.
    """
    if turn.ended_by in UNHEARD or (turn.hung is not None and not turn.hung.answered):
        return True
    used = in_use(turn.attempts, turn.responses)
    if any(attempt.outcome == "spoken" for attempt in used):
        return False
    return _is_given_up(used, turn.responses) or any(answer.said for answer in turn.responses)


def in_use(attempts: Iterable[RequestRecord], answers: Sequence[AnswerRecord]) -> list[RequestRecord]:
    """The requests for answers, except for discarded ones, which were never heard, whatever their outcome."""
    discarded = {answer.response for answer in answers if not answer.is_committed}
    return [
        attempt
        for attempt in attempts
        if attempt.outcome != "withdrawn" and attempt.is_answer and (not answers or attempt.response not in discarded)
    ]


def _is_given_up(used: Iterable[RequestRecord], answers: Iterable[AnswerRecord]) -> bool:
    return any(answer.gave_up for answer in answers) or any(attempt.outcome == "failed" for attempt in used)


def _answer_text(spoken: RequestRecord | None, turn: ReportedTurn) -> float | None:
    """When the answer's first clause was handed to synthesis.

    A clause that was held back for a better tier was complete before that.
    """
    complete = spoken.first_clause if spoken else None
    if complete is None and turn.responses:
        return None
    handed = turn.marks.get(Mark.LLM_FIRST_CLAUSE)
    if complete is None and handed is None:
        return None
    known = (complete, handed, turn.marks.get(Mark.CLAUSE_TO_TTS))
    return max(at for at in known if at is not None)


def _verdict(
    turn: ReportedTurn,
    used: Sequence[RequestRecord],
    said: Sequence[Phrase],
    clause: float | None,
    deadline: float | None,
    *,
    another: bool,
) -> Verdict | None:
    if deadline is None:
        return None
    if clause is not None and clause <= deadline:
        return "rescued" if another else "within"
    ended = max((attempt.end for attempt in used if attempt.end is not None), default=None)
    # An answer interrupted after its deadline missed it; for one interrupted before, that is unknown.
    if clause is None and turn.interrupted and (ended is None or ended < deadline):
        return None
    if all(attempt.outcome != "spoken" for attempt in used) and _is_given_up(used, turn.responses):
        return "missed"
    # Without a record of phrases, the first words were no answer if the answer's text came after them.
    bridged_at = turn.marks.get(Mark.CLAUSE_TO_TTS)
    if turn.responses:
        bridged_at = min((phrase.at for phrase in said if phrase.at is not None), default=None)
    return "bridged" if bridged_at is not None and bridged_at <= deadline else "missed"
