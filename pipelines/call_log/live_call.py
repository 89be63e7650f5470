"""What a server shows of a call under way: figures and states, but no words. Pure."""

from collections.abc import Sequence

from latency.budget import P95_NEEDS, TURN_LIMIT
from latency.record.marks import Mark
from latency.record.requests import RequestRecord
from latency.record.turn import ServerTurn
from latency.report.stats import percentile
from pipelines.call_log.call_account import UNHEARD
from voice.server.accounting import CallFigures, CallState


def call_figures(
    *,
    number: int,
    seconds: float,
    away: bool,
    latest: ServerTurn | None,
    turns: int,
    typed: int,
    latencies: Sequence[float],
    by: str | None,
) -> CallFigures:
    """The figures of a call.

    Args:
        number: of the call.
        seconds: since it began.
        away: whether its connection is lost.
        latest: its latest turn; None before the first.
        turns: how many there were.
        typed: how many of them were typed.
        latencies: of the turns that were answered, seconds.
        by: who gave its latest answer, see `answered_by`.
    """
    return CallFigures(
        number=number,
        seconds=seconds,
        state="away" if away else _state(latest),
        turns=turns,
        typed=typed,
        late=sum(latency > TURN_LIMIT for latency in latencies),
        p50=percentile(latencies, 50),
        p95=percentile(latencies, 95) if len(latencies) >= P95_NEEDS else None,
        slowest=max(latencies, default=None),
        answered_by=by,
    )


def _state(turn: ServerTurn | None) -> CallState:
    if turn is None or turn.final or turn.ended_by in UNHEARD or Mark.TURN_COMMIT not in turn.marks:
        return "listening"
    return "speaking" if Mark.FIRST_SENT in turn.marks else "answering"


def answered_by(attempts: Sequence[RequestRecord]) -> str | None:
    """The tier and the model whose words are spoken; None when no language model has answered (yet)."""
    spoken = [attempt for attempt in attempts if attempt.outcome == "spoken"]
    return " · ".join(filter(None, (spoken[0].tier, spoken[0].model))) or None if spoken else None
