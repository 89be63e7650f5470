"""The LLM budget, the outcome of each tier's requests, the waste and the cost."""

from collections.abc import Iterator, Mapping

from latency.render.layout import labelled
from latency.render.numbers import counted, ms, percent, plural, usd
from latency.report.explain import LIMITS
from latency.report.llm.cost import Cost
from latency.report.llm.figures import Llm, TierFigures
from latency.report.llm.requests import SENT_IN_WORDS, Waste


def llm_lines(llm: Llm) -> Iterator[str]:
    """A line of verdicts; more lines only for a language model that ran under a budget."""
    if not llm.policies:
        yield labelled(
            "LLM budget",
            f"{llm.budget_ms:g} ms: within {llm.within}, rescued {llm.rescued}, bridged {llm.bridged}, "
            f"missed {llm.missed}",
        )
        return
    yield labelled(
        "LLM budget",
        f"{llm.budget_ms:g} ms: within {llm.within}, rescued by another tier {llm.rescued}, bridged by a phrase "
        f"{llm.bridged}, missed {llm.missed}; within or rescued {percent(llm.share_within)} of "
        f"{plural(llm.judged, 'judged turn')}",
    )
    yield _line("overshoot", _overshoot(llm))
    if llm.deadlines:
        ordered = sorted(llm.deadlines.items(), key=lambda item: -item[1])
        limits = ", ".join(f"{n} set by {LIMITS.get(limit, limit)}" for limit, n in ordered)
        charged = f"; stage that had overspent: {counted(llm.charged)}" if llm.charged else ""
        yield _line("deadlines", f"{limits}{charged}")
    yield _line("policy", f"{counted(llm.policies)}: {counted(llm.reasons)}")
    if llm.phrases:
        yield _line("phrases", f"{counted(llm.phrases)}, said while the answer was late; they count as no answer")
    if llm.phrases.get("opening"):
        yield _line(
            "openings",
            f"{llm.rejected} in known words, because the tier's own claimed too much; {llm.repairs} taken back openly "
            "by the answer",
        )
    if llm.votes:
        yield _line("candidates", f"{plural(sum(llm.votes.values()), 'answer')} picked: {counted(llm.votes)}")
    if llm.verifications:
        yield _line("drafts", f"{counted(llm.verifications)}; {plural(llm.repairs, 'answer')} took back what was said")
    if llm.forgetful:
        yield _line("forgotten", f"{plural(llm.forgetful, 'answer')} came from requests without the whole call")
    for name, tier in llm.tiers.items():
        yield _line(name, _tier(tier))
    yield _line("wasted", _waste(llm.waste))


def _line(label: str, text: str) -> str:
    return labelled(f"  {label:<10} ", text)


def _tier(tier: TierFigures) -> str:
    """The requests to a tier and their ends; counts of 0 are left out."""
    cut = {
        f"with {SENT_IN_WORDS[what]} received in {ms(those.after_p50_ms)} ms, p50": those.n
        for what, those in tier.cut_short.items()
    }
    ends = {
        "spoken": str(tier.spoken),
        "tools": str(tier.called),
        "cancelled": f"{tier.cancelled}{_listed(cut)}",
        "failed": f"{tier.failed}{_listed(tier.failures)}",
        "opened": str(tier.opened),
        "verdicts": str(tier.verdicts),
        "rejected": str(tier.rejected),
        "discarded": str(tier.withdrawn),
    }
    parts = [plural(tier.attempts, "request"), *(f"{end} {how}" for end, how in ends.items() if how != "0")]
    parts += [f"{n} ended before the model had finished ({why})" for why, n in tier.shortened.items()]
    parts += [f"{n} asked for speed {speed}" for speed, n in tier.served_otherwise.items()]
    clause = tier.first_clause_ms
    if clause.n:
        times = f"p50 {ms(clause.p50)}, p95 {ms(clause.p95)}, max {ms(clause.max)} ms"
        parts.append(f"first clause (n {clause.n}) {times}")
    if (sooner := tier.sooner_ms).n:
        parts.append(f"{plural(sooner.n, 'introduction')} {ms(sooner.p50)} ms ahead of the clause, {tier.dry} ran dry")
    return (f"{tier.model}: " if tier.model else "") + ", ".join(parts)


def _listed(reasons: Mapping[str, int]) -> str:
    """Reasons in brackets, with their counts where there are several."""
    if len(reasons) < 2:
        return "".join(f" ({reason})" for reason in reasons)
    return f" ({'; '.join(f'{n} {reason}' for reason, n in reasons.items())})"


def _overshoot(llm: Llm) -> str:
    late = llm.overshoot_ms
    tail = f"max {ms(late.max)} ms" if llm.overshoot_p99_ms is None else f"p99 {ms(llm.overshoot_p99_ms)} ms"
    text = f"p50 {ms(late.p50)}, {tail} after the deadline, of {plural(late.n, 'turn')} with text"
    text += f"; textless {llm.textless} (no answer text at all)"
    if (bridged := llm.bridged_answer_ms).n:
        text += f"; bridged answers p50 {ms(bridged.p50)}, max {ms(bridged.max)} ms"
    return text


def _waste(waste: Waste) -> str:
    # An extra request is no waste if it gave the answer or ran its tools.
    ends = ", ".join(
        f"{n} {name}"
        for name, n in (("used", waste.spoken), ("cancelled", waste.cancelled), ("failed", waste.failed))
        if n
    )
    requests = f"{plural(waste.extra, 'request')} beyond each answer's first" + (f" ({ends})" if ends else "")
    if waste.withdrawn:
        requests += f", {plural(waste.withdrawn, 'speculative request')} discarded"
    if waste.tokens is None or waste.tokens_total is None:
        return f"tokens unknown; {requests}"
    parts = ((waste.tokens_interrupted, "of interrupted answers"), (waste.tokens_estimated, "estimated"))
    of_them = ", ".join(f"{tokens:,} {what}" for tokens, what in parts if tokens)
    listed = f" ({of_them})" if of_them else ""
    share = f"{percent(waste.share)} of {waste.tokens_total:,} tokens"
    return f"{share} were not heard: {waste.tokens:,}{listed}; {requests}"


def cost_lines(cost: Cost) -> Iterator[str]:
    """Nothing for a run that asked no language model."""
    if not cost.requests:
        return
    if cost.usd is None:
        part = "" if cost.known is None else f"; the requests with a price cost {usd(cost.known)}"
        yield labelled("cost", f"unknown: no price known for {' and '.join(cost.unpriced)}{part}")
    else:
        rates = [] if cost.usd_per_100_turns is None else [f"{usd(cost.usd_per_100_turns)} for 100 turns"]
        if len(cost.calls) > 1:
            rates.append(f"{usd(cost.usd_per_call)} for a call on average")
        listed = f"; {', '.join(rates)}" if rates else ""
        yield labelled("cost", f"{usd(cost.usd)}{_kind(cost)} for {plural(cost.requests, 'request')}{listed}")
        yield _line("winners", f"{_part(cost.winners, cost.usd)}: their words were spoken, or their tools run")
        yield _line("losers", f"{_part(cost.losers, cost.usd)}: cancelled, failed or rejected")
        yield _line("discarded", f"{_part(cost.speculation, cost.usd)}: speculative answers that were not used")
    if cost.usd is not None and len(cost.tiers) > 1:
        yield _line("tiers", ", ".join(f"{name} {usd(amount)}" for name, amount in cost.tiers.items()))
    for cap, turns in cost.capped.items():
        yield _line("cap", f"reached for a {cap}: the cheapest tier alone was asked in {plural(turns, 'turn')}")


def _kind(cost: Cost) -> str:
    """Whether the sum is simulated or estimated."""
    remarks = []
    if cost.simulated:
        whole = cost.simulated == cost.usd
        remarks.append("simulated" if whole else f"{usd(cost.simulated)} of it simulated")
    if cost.estimated and cost.usd:
        remarks.append(f"{percent(round(cost.estimated / cost.usd, 3))} of it estimated")
    return f" ({', '.join(remarks)})" if remarks else ""


def _part(amount: float | None, whole: float) -> str:
    share = f" ({percent(round(amount / whole, 3))})" if amount and whole else ""
    return f"{usd(amount)}{share}"
