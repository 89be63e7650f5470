"""One sentence of advice with its evidence: the tiers and policy, their benefit and their cost. Pure.

Of the rows with text in time for at least `ENOUGH` of the turns (or, if there is none, those within a point of the
best), the one with the fewest seconds to a correct answer is advised; among those within `TIE` of it, the cheapest.
Without figures of quality, the median turn latency decides. A row whose cost is unknown is advised only if there is no
other.
"""

from collections.abc import Sequence

from pipelines.lab.whatif.row import Row

ENOUGH = 0.95
TIE = 1.05
LONE = "single"


def best(rows: Sequence[Row]) -> Row | None:
    """The row to advise; None when none is comparable."""
    judged = [row for row in rows if row.in_time is not None and row.turn_p50_ms is not None]
    if not judged:
        return None
    most = max(row.in_time or 0.0 for row in judged)
    good = [row for row in judged if (row.in_time or 0.0) >= min(ENOUGH, most - 0.01)]
    good = [row for row in good if row.usd_per_100_turns is not None] or good
    known = [row for row in good if row.seconds_to_correct is not None]
    if len(known) == len(good):
        least = min(row.seconds_to_correct or 0.0 for row in known)
        good = [row for row in known if (row.seconds_to_correct or 0.0) <= least * TIE]
    else:
        least = min(row.turn_p50_ms or 0.0 for row in good)
        good = [row for row in good if (row.turn_p50_ms or 0.0) <= least * TIE]
    return min(good, key=lambda row: (_or_most(row.usd_per_100_turns), -(row.in_time or 0.0), row.turn_p50_ms or 0.0))


def baseline(rows: Sequence[Row], advised: Row) -> Row | None:
    """The row to compare the advised one with: its large tier alone, else the best tier alone."""
    alone = [row for row in rows if row.policy == LONE and row.fast is None and row is not advised]
    own = next((row for row in alone if row.large == advised.large), None)
    return own or max(alone, key=lambda row: row.quality or 0.0, default=None)


def advice(rows: Sequence[Row], *, chain: int) -> str:
    """The sentence."""
    advised = best(rows)
    if advised is None:
        return "No advice: no row has turns that can be judged."
    other = baseline(rows, advised)
    said = [
        f"Take {advised.name} under {advised.policy}: {_percent(advised.in_time)} of {advised.turns:,} turns have "
        f"answer text in time and half are answered within {_ms(advised.turn_p50_ms)}"
    ]
    if other is not None:
        said.append(f" ({other.name} alone: {_percent(other.in_time)} and {_ms(other.turn_p50_ms)})")
    said.append(_cost(advised, other))
    said.append(_quality(advised, other, chain))
    return "".join(said) + "."


def _cost(advised: Row, other: Row | None) -> str:
    if advised.usd_per_100_turns is None:
        return "; what that costs is unknown"
    text = f"; that costs ${advised.usd_per_100_turns:.2f} for 100 turns"
    if other is not None and other.usd_per_100_turns is not None:
        text += f" instead of ${other.usd_per_100_turns:.2f}"
    return text


def _quality(advised: Row, other: Row | None, chain: int) -> str:
    if advised.right is None:
        return ", and how often it is right is not known by one measure"
    text = f", and {_percent(advised.right)} of turns get a right answer"
    if other is not None and other.right is not None:
        text += f" instead of {_percent(other.right)}"
    if advised.chain is not None:
        text += f" (all {chain} of a call: {_percent(advised.chain)}"
        text += f" instead of {_percent(other.chain)})" if other is not None and other.chain is not None else ")"
    if advised.seconds_to_correct is not None:
        text += f", {advised.seconds_to_correct:.1f} s to a correct answer"
        if other is not None and other.seconds_to_correct is not None:
            text += f" instead of {other.seconds_to_correct:.1f} s"
    return text


def _percent(share: float | None) -> str:
    return "an unknown share" if share is None else f"{share * 100:.1f} %"


def _ms(value: float | None) -> str:
    return "no known time" if value is None else f"{value:,.0f} ms"


def _or_most(value: float | None) -> float:
    return float("inf") if value is None else value
