"""What the requests to language models cost: in all, what of it was heard, by tier, and caps that were reached."""

from collections.abc import Iterator

from latency.record.llm.answer import Cap
from latency.render.layout import labelled
from latency.render.numbers import percent, things, usd
from latency.report.llm.cost import Cost

CAPS: dict[Cap, str] = {"call": "a call", "day": "a day"}


def cost_lines(cost: Cost) -> Iterator[str]:
    """Nothing for a run that asked no language model."""
    if not cost.requests:
        return
    if cost.usd is None:
        part = "" if cost.known is None else f"; the requests with a price cost {usd(cost.known)}"
        yield labelled("cost", f"unknown: no price known for {' and '.join(cost.unpriced)}{part}")
    else:
        yield labelled("cost", f"{usd(cost.usd)}{_kind(cost)} for {things(cost.requests, 'request')}{_rates(cost)}")
        yield _line("winners", f"{_part(cost.winners, cost.usd)}: their words were spoken, or their tools run")
        yield _line("losers", f"{_part(cost.losers, cost.usd)}: cancelled, failed or rejected")
        yield _line("discarded", f"{_part(cost.speculation, cost.usd)}: speculative answers that were not used")
    if cost.usd is not None and len(cost.tiers) > 1:
        yield _line("tiers", ", ".join(f"{name} {usd(amount)}" for name, amount in cost.tiers.items()))
    for cap, turns in cost.capped.items():
        yield _line("cap", f"reached for {CAPS[cap]}: the cheapest tier alone was asked in {things(turns, 'turn')}")


def _kind(cost: Cost) -> str:
    """What the sum is not: charged, or exact."""
    remarks = []
    if cost.simulated:
        whole = cost.simulated == cost.usd
        remarks.append("simulated" if whole else f"{usd(cost.simulated)} of it simulated")
    if cost.estimated and cost.usd:
        remarks.append(f"{percent(round(cost.estimated / cost.usd, 3))} of it estimated")
    return f" ({', '.join(remarks)})" if remarks else ""


def _rates(cost: Cost) -> str:
    rates = [f"{usd(cost.usd_per_100_turns)} for 100 turns"] if cost.usd_per_100_turns is not None else []
    if len(cost.calls) > 1:
        rates.append(f"{usd(cost.usd_per_call)} for a call on average")
    return f"; {', '.join(rates)}" if rates else ""


def _part(amount: float | None, whole: float) -> str:
    share = f" ({percent(round(amount / whole, 3))})" if amount and whole else ""
    return f"{usd(amount)}{share}"


def _line(label: str, text: str) -> str:
    return labelled(f"  {label:<10} ", text)
