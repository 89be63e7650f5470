"""The requests of a run by answer, and what of them and of their tokens was wasted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from latency.record.requests import AttemptOutcome, AttemptRecord, Tokens
from latency.record.server_turn import Reported, ServerTurn
from latency.record.turn import TurnRecord

USED: tuple[AttemptOutcome, ...] = ("spoken", "called", "opened", "verdict")
"""Outcomes of requests that were of use: their words were spoken, or their tools were run."""
LOST: tuple[AttemptOutcome, ...] = ("cancelled", "failed", "withdrawn", "rejected")
"""Outcomes of requests whose tokens were paid for but never heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waste:
    """What an answer in time costs: requests beyond each answer's first, discarded ones, unheard tokens."""

    extra: int
    spoken: int
    """Extra requests that were needed: their text was spoken, or their tools were run."""
    cancelled: int
    failed: int
    tokens: int | None
    """Prompt and completion, of all cancelled, failed and discarded requests, and those of `tokens_interrupted`; None
    when no request reports any."""
    tokens_interrupted: int | None
    """Completion of answers that were interrupted, as far as their words were not played."""
    tokens_estimated: int | None
    """The part of `tokens` that is an estimate, because the provider reported none."""
    tokens_total: int | None
    """Of all requests."""
    share: float | None
    withdrawn: int
    """Requests for speculative answers that were discarded; none of them is `extra`."""


def server_turns(turns: Iterable[TurnRecord]) -> Iterator[Reported]:
    """The server's own turns; a turn of the user has several when a pause was taken for its end."""
    for turn in turns:
        yield from turn.server_turns or (turn,)


def answers_of(turns: Iterable[TurnRecord]) -> Iterator[list[AttemptRecord]]:
    """The requests made for each answer, in order; their outcome is "withdrawn" when the answer was discarded."""
    for server_turn in server_turns(turns):
        yield from _answers(server_turn)


def _answers(turn: Reported) -> Iterable[list[AttemptRecord]]:
    discarded = {answer.response for answer in turn.responses if not answer.is_committed}
    answers: dict[int | None, list[AttemptRecord]] = {}
    for attempt in turn.attempts:
        number = attempt.response
        if number in discarded and attempt.outcome in (*USED, "cancelled"):
            attempt = replace(attempt, outcome="withdrawn")
        answers.setdefault(number, []).append(attempt)
    return answers.values()


def waste_of(turns: Sequence[TurnRecord]) -> Waste:
    """What of all requests of a run was wasted."""
    answers = list(answers_of(turns))
    kept = [[attempt for attempt in answer if attempt.outcome != "withdrawn"] for answer in answers]
    # The request for an opening or a verdict is no second try at the answer.
    tries = [[attempt for attempt in answer if attempt.is_answer] for answer in kept]
    extra = Counter(attempt.outcome for answer in tries for attempt in answer[1:])
    known = [(attempt.outcome, attempt.tokens) for answer in answers for attempt in answer if attempt.tokens]
    lost = [tokens for outcome, tokens in known if outcome in LOST]
    interrupted = _interrupted(turns)
    tokens, total = _sum(lost) + interrupted, _sum(tokens for _, tokens in known)
    return Waste(
        extra=extra.total(),
        spoken=sum(extra[outcome] for outcome in USED),
        cancelled=extra["cancelled"],
        failed=extra["failed"],
        tokens=tokens if known else None,
        tokens_interrupted=interrupted if known else None,
        tokens_estimated=_sum(one for one in lost if one.estimated) if known else None,
        tokens_total=total if known else None,
        share=round(tokens / total, 4) if total else None,
        withdrawn=sum(map(len, answers)) - sum(map(len, kept)),
    )


def _interrupted(turns: Sequence[TurnRecord]) -> int:
    """Tokens of interrupted answers whose words were not played: they are taken to be spread evenly over its text."""
    lost = 0.0
    for one in server_turns(turns):
        if not (isinstance(one, ServerTurn) and one.interrupted and one.said) or one.played is None:
            continue
        unheard = 1 - min(1.0, len(one.played) / len(one.said))
        attempts = (attempt for answer in _answers(one) for attempt in answer)
        spoken = (attempt.tokens for attempt in attempts if attempt.outcome == "spoken" and attempt.tokens)
        lost += unheard * sum(tokens.completion or 0 for tokens in spoken)
    return round(lost)


def _sum(tokens: Iterable[Tokens]) -> int:
    return sum((one.prompt or 0) + (one.completion or 0) for one in tokens)
