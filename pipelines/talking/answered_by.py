"""Which model answered a turn, at which speed, why, and for how much, as one line for the terminal. Pure."""

from latency.record.requests import is_fast
from latency.record.turn import ServerTurn
from pipelines.talking.swap_keys import FAST


def answered_by(turn: ServerTurn, *, several: bool) -> str | None:
    """The line; None where there is nothing to tell: one model at its usual speed, without a price.

    Args:
        turn: as the server reports it, when nothing in it will change any more.
        several: whether the call has more than one model.
    """
    last = turn.responses[-1] if turn.responses else None
    if last is None or last.tier is None:
        return None
    spoken = [one for one in turn.attempts if one.tier == last.tier and one.outcome in ("spoken", "called")]
    served = spoken[-1].served or spoken[-1].speed if spoken else None
    slowed = next((one.slowed for one in turn.attempts if one.slowed), None)
    costs = [one.usd for one in turn.attempts if one.usd is not None]
    fast = f" {FAST}" if is_fast(served) else ""
    cost = f" · ${sum(costs):.4f}" if costs else ""
    if not (several or fast or cost or slowed):
        return None
    why = f"; {slowed}" if slowed else ""
    return f"{last.tier}{fast} answered ({last.policy}: {last.reason}{why}){cost}"
