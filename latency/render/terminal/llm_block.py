"""How the LLM budget was kept, for people: verdicts, lateness, what decided, what it cost, and each tier."""

from collections.abc import Iterator

from rich import box
from rich.table import Table

from latency.render.terminal.numbers import UNKNOWN, counted, ms, percent, things
from latency.report.llm_budget import Llm, Waste
from latency.report.request_endings import CutShort


def llm_lines(llm: Llm) -> Iterator[str]:
    """A line of verdicts; the lines below it only for a language model that ran under a budget."""
    verdicts = (
        f"LLM budget   {llm.budget_ms:g} ms: within {llm.within}, rescued {llm.rescued}, bridged {llm.bridged}, "
        f"missed {llm.missed}"
    )
    if not llm.policies:
        yield verdicts
        return
    yield f"{verdicts}; answer text in time in {percent(llm.share_within)} of {things(llm.judged, 'turn')}"
    yield _line("overshoot", _overshoot(llm))
    charged = f"; floors charged to {counted(llm.charged)}" if llm.charged else ""
    yield _line("deadlines", f"set by {counted(llm.deadlines) or UNKNOWN}{charged}")
    yield _line("policy", f"{counted(llm.policies)}: {counted(llm.reasons)}")
    if llm.phrases:
        yield _line("phrases", f"{counted(llm.phrases)}, said while no answer was there; none counts as one")
    for name, tier in llm.tiers.items():
        if tier.failures:
            yield _line("failed", "; ".join(f"{name} {things(n, 'time')}: {why}" for why, n in tier.failures.items()))
        if tier.cut_short:
            yield _line("cancelled", f"{name} had " + ", ".join(_cut(*item) for item in tier.cut_short.items()))
    yield _line("waste", _waste(llm.waste))


def tier_table(llm: Llm) -> Table | None:
    """What was asked of each tier and what came of it; None for a language model without a budget."""
    if not llm.policies:
        return None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("tier", "model"):
        table.add_column(heading)
    # Only who speculates withdraws, and the table is wide as it is.
    withdrew = ("withdrawn",) if llm.waste.withdrawn else ()
    ends = ("asked", "spoken", "tools", "cancelled", "failed", *withdrew)
    for heading in (*ends, "first clause, ms: n", "p50", "p95", "max"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, tier in llm.tiers.items():
        clause = tier.first_clause_ms
        counts = (tier.attempts, tier.spoken, tier.called, tier.cancelled, tier.failed, tier.withdrawn)[: len(ends)]
        table.add_row(
            name, tier.model or UNKNOWN, *map(str, (*counts, clause.n)), ms(clause.p50), ms(clause.p95), ms(clause.max)
        )
    return table


def _line(label: str, text: str) -> str:
    return f"  {label:<10} {text}"


def _cut(what: str, those: CutShort) -> str:
    return f"{what} {those.n} (after p50 {ms(those.after_p50_ms)} ms)"


def _overshoot(llm: Llm) -> str:
    late = llm.overshoot_ms
    tail = f"max {ms(late.max)} ms" if llm.overshoot_p99_ms is None else f"p99 {ms(llm.overshoot_p99_ms)} ms"
    text = f"p50 {ms(late.p50)}, {tail} after the deadline (n {late.n})"
    if llm.textless:
        text += f"; {llm.textless} without any answer text"
    if (bridged := llm.bridged_answer_ms).n:
        text += f"; bridged answers p50 {ms(bridged.p50)}, max {ms(bridged.max)} ms"
    return text


def _waste(waste: Waste) -> str:
    # A request beyond the first is no waste where it gave the answer, or ran its tools.
    ends = ", ".join(
        f"{n} {name}"
        for name, n in (("needed", waste.spoken), ("cancelled", waste.cancelled), ("failed", waste.failed))
        if n
    )
    asked = f"{things(waste.extra, 'request')} beyond an answer's first" + (f": {ends}" if ends else "")
    if waste.withdrawn:
        asked += f"; {things(waste.withdrawn, 'request')} withdrawn"
    if waste.tokens is None or waste.tokens_total is None:
        return f"tokens unknown; {asked}"
    estimated = f" ({waste.tokens_estimated:,} estimated)" if waste.tokens_estimated else ""
    return f"{percent(waste.share)} of {waste.tokens_total:,} tokens unheard: {waste.tokens:,}{estimated}; {asked}"
