"""The cost of a run's requests to language models: of heard ones, of others, and of speculation.

A figure is None if one of its requests has no known cost, because a sum without it would be too small.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from latency.record.requests import Cap, RequestRecord
from latency.record.turn import TurnRecord
from latency.report.llm.requests import USED, answers_of, server_turns

UNREAL = ("sim:", "scripted:")
"""The prefix of simulated models, which charge nothing; their cost is that of the real ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The cost of some requests, US dollars; `winners`, `losers` and `speculation` add up to `usd`."""

    usd: float | None
    winners: float | None
    """Requests whose words were spoken, or whose tools were run."""
    losers: float | None
    """Requests that were cancelled, failed or rejected, such as hedges and rescued ones."""
    speculation: float | None
    """Requests for speculative answers that were discarded."""
    estimated: float | None
    """The part of `usd` for which the provider did not report the tokens, or the speed that it served."""
    simulated: float | None
    """The part of `usd` that simulated models would cost if they were real."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of a run's requests, US dollars."""

    usd: float | None
    usd_per_100_turns: float | None
    """For 100 turns of the caller that want an answer."""
    usd_per_call: float | None
    winners: float | None
    losers: float | None
    speculation: float | None
    estimated: float | None
    simulated: float | None
    tiers: dict[str, float | None]
    """By tier."""
    calls: dict[str, float | None]
    """By session."""
    requests: int
    """Requests of which the tokens are known or estimated."""
    unpriced: tuple[str, ...]
    """The models asked that have no known price."""
    known: float | None
    """The part that has a price; None when no request has one."""
    capped: dict[Cap, int]
    """Turns for which a spending cap had been reached, by cap."""


def cost_figures(turns: Sequence[TurnRecord]) -> Cost:
    """Sum up the requests of all turns."""
    attempts = _requests(turns)
    whole = spent(attempts)
    expected = sum(turn.wants_answer for turn in turns)
    sessions = dict.fromkeys(turn.session for turn in turns)
    by_call = {name: spent(_requests([t for t in turns if t.session == name])).usd for name in sessions}
    tiers = sorted({attempt.tier or "unnamed" for attempt in attempts})
    known = [attempt.usd for attempt in attempts if attempt.usd is not None]
    capped = ({answer.cap for own in server_turns([turn]) for answer in own.responses if answer.cap} for turn in turns)
    return Cost(
        **asdict(whole),
        usd_per_100_turns=_rounded(whole.usd / expected * 100) if whole.usd is not None and expected else None,
        usd_per_call=_rounded(whole.usd / len(sessions)) if whole.usd is not None else None,
        tiers={name: spent([a for a in attempts if (a.tier or "unnamed") == name]).usd for name in tiers},
        calls=by_call,
        requests=len(attempts),
        unpriced=tuple(dict.fromkeys(_model(attempt) for attempt in attempts if attempt.usd is None)),
        known=_sum(known) if known else None,
        capped=dict(Counter(cap for caps in capped for cap in caps)),
    )


def turn_cost(turn: TurnRecord) -> Spent:
    """The cost of the requests of one turn."""
    return spent(_requests([turn]))


def spent(attempts: Sequence[RequestRecord]) -> Spent:
    """The cost of the requests; nothing is known when there are none."""
    won = [attempt for attempt in attempts if attempt.outcome in USED]
    ahead = [attempt for attempt in attempts if attempt.outcome == "withdrawn"]
    lost = [attempt for attempt in attempts if attempt.outcome not in (*USED, "withdrawn")]
    is_known = bool(attempts) and all(attempt.usd is not None for attempt in attempts)

    def of(those: Iterable[RequestRecord]) -> float | None:
        return _sum(attempt.usd or 0.0 for attempt in those) if is_known else None

    return Spent(
        usd=of(attempts),
        winners=of(won),
        losers=of(lost),
        speculation=of(ahead),
        estimated=of(attempt for attempt in attempts if attempt.is_usd_estimated),
        simulated=of(attempt for attempt in attempts if _model(attempt).startswith(UNREAL)),
    )


def _requests(turns: Sequence[TurnRecord]) -> list[RequestRecord]:
    """Every request with tokens; answers without a language model have none."""
    return [attempt for answer in answers_of(turns) for attempt in answer if attempt.tokens is not None]


def _model(attempt: RequestRecord) -> str:
    return attempt.model or attempt.tier or "unnamed"


def _sum(amounts: Iterable[float]) -> float:
    return _rounded(math.fsum(amounts))


def _rounded(usd: float) -> float:
    # A token of the cheapest model costs hundredths of a millionth.
    return round(usd, 10)
