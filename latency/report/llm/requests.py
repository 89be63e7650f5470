"""The requests of a run by answer: the ends of unused ones, and the wasted requests and tokens.

A request that is cancelled because another one speaks has not failed, but its progress distinguishes a dead server from
a slow one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from latency.record.marks import ROUNDING
from latency.record.requests import USUAL_SPEEDS, RequestOutcome, RequestRecord, Tokens
from latency.record.turn import ReportedTurn, ServerTurn, TurnRecord
from latency.report.stats import Spread

USED: tuple[RequestOutcome, ...] = ("spoken", "called", "opened", "verdict")
"""Outcomes of requests that were of use: their words were spoken, or their tools were run."""
LOST: tuple[RequestOutcome, ...] = ("cancelled", "failed", "withdrawn", "rejected")
"""Outcomes of requests whose tokens were paid for but never heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waste:
    """The cost of answers in time: requests beyond each answer's first, discarded ones, unheard tokens."""

    extra: int
    spoken: int
    """Extra requests that were needed: their text was spoken, or their tools were run."""
    cancelled: int
    failed: int
    tokens: int | None
    """Prompt and completion, of all cancelled, failed and discarded requests, and those of `tokens_interrupted`; None
    when no request reports any."""
    tokens_interrupted: int | None
    """The completion tokens of interrupted answers whose words were not played."""
    tokens_estimated: int | None
    """The part of `tokens` that is an estimate, because the provider reported none."""
    tokens_total: int | None
    """Of all requests."""
    share: float | None
    withdrawn: int
    """Requests for speculative answers that were discarded; none of them is `extra`."""


def server_turns(turns: Iterable[TurnRecord]) -> Iterator[ReportedTurn]:
    """The server's own turns; a user's turn has several if a pause was taken for its end."""
    for turn in turns:
        yield from turn.server_turns or (turn,)


def answers_of(turns: Iterable[TurnRecord]) -> Iterator[list[RequestRecord]]:
    """The requests made for each answer, in order; their outcome is "withdrawn" when the answer was discarded."""
    for server_turn in server_turns(turns):
        yield from _answers(server_turn)


def _answers(turn: ReportedTurn) -> Iterable[list[RequestRecord]]:
    discarded = {answer.response for answer in turn.responses if not answer.is_committed}
    answers: dict[int | None, list[RequestRecord]] = {}
    for attempt in turn.attempts:
        number = attempt.response
        if number in discarded and attempt.outcome in (*USED, "cancelled"):
            attempt = replace(attempt, outcome="withdrawn")
        answers.setdefault(number, []).append(attempt)
    return answers.values()


def simulated_models(turns: Iterable[TurnRecord], known: Sequence[str]) -> list[str]:
    """Language models that turned out to be simulated, although their names did not show it."""
    attempts = (attempt for answer in answers_of(turns) for attempt in answer)
    models = dict.fromkeys(attempt.model or "sim:unnamed" for attempt in attempts if attempt.simulated)
    return [f"{model} (by its answers)" for model in models if not any(model in name for name in known)]


def waste_of(turns: Sequence[TurnRecord]) -> Waste:
    """The waste among all requests of a run."""
    answers = list(answers_of(turns))
    kept = [[attempt for attempt in answer if attempt.outcome != "withdrawn"] for answer in answers]
    # The request for an opening or a verdict is no second try at the answer.
    tries = [[attempt for attempt in answer if attempt.is_answer] for answer in kept]
    extra = Counter(attempt.outcome for answer in tries for attempt in answer[1:])
    known = [(attempt.outcome, attempt.tokens) for answer in answers for attempt in answer if attempt.tokens]
    lost = [tokens for outcome, tokens in known if outcome in LOST]
    interrupted = _interrupted(turns)
    tokens, total = tokens_of(lost) + interrupted, tokens_of(tokens for _, tokens in known)
    return Waste(
        extra=extra.total(),
        spoken=sum(extra[outcome] for outcome in USED),
        cancelled=extra["cancelled"],
        failed=extra["failed"],
        tokens=tokens if known else None,
        tokens_interrupted=interrupted if known else None,
        tokens_estimated=tokens_of(one for one in lost if one.estimated) if known else None,
        tokens_total=total if known else None,
        share=round(tokens / total, 4) if total else None,
        withdrawn=sum(map(len, answers)) - sum(map(len, kept)),
    )


def _interrupted(turns: Sequence[TurnRecord]) -> int:
    """Tokens of interrupted answers whose words were not played, assuming that tokens are spread evenly over it."""
    lost = 0.0
    for one in server_turns(turns):
        if not (isinstance(one, ServerTurn) and one.interrupted and one.said) or one.played is None:
            continue
        unheard = 1 - min(1.0, len(one.played) / len(one.said))
        attempts = (attempt for answer in _answers(one) for attempt in answer)
        spoken = (attempt.tokens for attempt in attempts if attempt.outcome == "spoken" and attempt.tokens)
        lost += unheard * sum(tokens.completion or 0 for tokens in spoken)
    return round(lost)


def tokens_of(tokens: Iterable[Tokens]) -> int:
    """Prompt and completion tokens, where known."""
    return sum((one.prompt or 0) + (one.completion or 0) for one in tokens)


SENT_IN_WORDS = {
    "words too": "a whole clause",
    "only the beginning of a clause": "part of a clause",
    "only a sign of life": "a reply without text",
    "nothing yet": "nothing",
}
"""The text that a server had sent, in words for people, by the text of `progress_of`, a key of the JSON report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutShort:
    """Cancelled requests with the same progress."""

    n: int
    after_p50_ms: float | None
    """From the request to its end, where known."""


def failures(attempts: Iterable[RequestRecord]) -> dict[str, int]:
    """How many requests failed for each observed reason; the most frequent first."""
    failed = (attempt for attempt in attempts if attempt.outcome == "failed")
    return dict(Counter(failure(attempt) for attempt in failed).most_common())


def failure(attempt: RequestRecord) -> str:
    """Why a request failed: a sentence without its full stop."""
    why = (attempt.failed or "no reason given").rstrip(".")
    return f"{why}, after its first words" if attempt.first_token is not None else why


def speed_of(attempt: RequestRecord) -> str:
    """The requested speed, and the served one if it differs; empty for the usual one."""
    if attempt.is_served_otherwise:
        return f"{attempt.speed}, served {attempt.served}"
    speed = attempt.speed or attempt.served
    return "" if speed is None or speed in USUAL_SPEEDS else speed


def attempts_of(turn: TurnRecord) -> list[RequestRecord]:
    """Every request to a language model in a turn, including those for discarded speculative answers, in order."""
    found = [attempt for server_turn in turn.server_turns for attempt in server_turn.attempts]
    return found or list(turn.attempts)


def outcome_of(attempt: RequestRecord) -> str:
    """How a request ended, in a few words."""
    match attempt.outcome:
        case "called":
            return f"called {', '.join(attempt.calls) or 'tools'}"
        case "failed":
            return f"failed: {failure(attempt)}"
        case "rejected":
            return f"its opening was not said: {attempt.failed}" if attempt.failed else "its opening was not said"
        case "opened":
            return "its opening was said"
        case "verdict":
            return "verified the draft"
        case None:
            return "unfinished"
        case "withdrawn":
            return "discarded"
        case outcome:
            return outcome


def provider_remarks(attempt: RequestRecord) -> list[str]:
    """Remarks of the provider, or of our service for it, on a request."""
    queued = f"queued {attempt.queued * 1000:.0f} ms" if attempt.queued and attempt.queued >= ROUNDING else ""
    return [words for words in (attempt.slowed or "", queued) if words]


def cut_short(attempts: Iterable[RequestRecord]) -> dict[str, CutShort]:
    """The cancelled requests by their progress; see `progress_of`."""
    found: dict[str, list[RequestRecord]] = {}
    for attempt in attempts:
        if attempt.outcome == "cancelled":
            found.setdefault(progress_of(attempt), []).append(attempt)
    return {
        what: CutShort(
            n=len(those),
            after_p50_ms=Spread.of(
                one.end - one.request for one in those if one.request is not None and one.end is not None
            ).p50,
        )
        for what, those in found.items()
    }


def progress_of(attempt: RequestRecord) -> str:
    """The progress of a request when it was cancelled, in words."""
    if attempt.first_clause is not None:
        return "words too"
    if attempt.first_token is not None:
        return "only the beginning of a clause"
    return "nothing yet" if attempt.alive is None else "only a sign of life"
