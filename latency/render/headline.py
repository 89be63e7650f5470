"""The first lines of a report: doubts about its figures, the main figures, and a histogram of latencies."""

from collections.abc import Iterable, Iterator

from latency.budget import EARLY, TURN_LIMIT
from latency.render.numbers import ms, plural, statistic
from latency.report.report import Report
from latency.report.stats import Distribution

Line = tuple[str, str]
"""Text and style."""
HEADLINE = 14
"""Characters of a label in the headline."""


def headline(report: Report) -> Iterator[Line]:
    """The run, doubts about its figures, and the latencies compared with 400 and 800 ms."""
    yield f"Turnaround: {report.run}", "bold"
    yield from doubts(report)
    yield "", ""
    yield f"Turn latency{_refused(report)}  {turn_latency(report)}", "bold"
    yield from further(report)


def doubts(report: Report) -> Iterator[Line]:
    """The reasons to doubt the figures: simulated parts, faults, missing data, and the limits of the evidence."""
    if report.simulated:
        yield f"SIMULATED, not real: {', '.join(report.simulated)}", "bold magenta"
    if (chaos := report.header.chaos) is not None:
        yield f"FAULTS INJECTED (--chaos {chaos}): these are not the figures of an ordinary run", "bold magenta"
    if report.refused:
        yield f"LATENCIES REFUSED: {report.refused}", "bold red"
    for note in report.notes:
        yield f"note: {note}", "yellow"
    if report.rests_on:
        yield f"Rests on      {', '.join(report.rests_on)}", "yellow"


def further(report: Report) -> Iterator[Line]:
    """The latency of the answers themselves, the turns without a latency, and those with one that is too good."""
    turns = report.turns
    if report.llm.phrases and report.has_latencies:
        answer = f"First answer{_refused(report)}  {_figures(report.answer_ms)}; {_within(report.answer_ms)}"
        yield f"{answer} (without phrases)", "bold"
    unanswered = sum(turns.unanswered.values()) - turns.lost
    if unanswered:
        yield f"Unanswered    {plural(unanswered, 'turn')}: each counts as later than any limit", "bold red"
    if cut := report.quality.cut_offs:
        yield f"Cut off       {plural(cut, 'turn')}: the bot answered too soon, so no latency counts", "bold red"
    if early := report.quality.early:
        within = f"within {EARLY * 1000:.0f} ms, sooner than people answer"
        yield f"Early         {plural(early, 'answer')} {within}", "yellow"


def _refused(report: Report) -> str:
    return " (refused)" if report.refused else ""


def turn_latency(report: Report) -> str:
    """The latencies of the turns that count, and how many turns were answered."""
    turns = report.turns
    if report.only_cold:
        return (
            f"{ms(report.turn_ms_cold.p50)} ms, cold: the only turn that was answered (of {turns.expected}) was the "
            "first of its process; for a warm figure, replay it with --repeat 2"
        )
    answered = f"{turns.answered} of {turns.expected} answered"
    if not report.has_latencies:
        return f"none; {answered if turns.expected else 'no turn wants an answer'}"
    return f"{_figures(report.turn_ms)}; {_within(report.turn_ms, 'turn')}; {answered}"


def _figures(one: Distribution) -> str:
    p50, p95, longest = (statistic(one, key) for key in ("p50", "p95", "max"))
    return f"p50 {p50}  p95 {p95}  max {longest} ms"


def _within(one: Distribution, of_what: str | None = None) -> str:
    whole = plural(one.total, of_what) if of_what else str(one.total)
    return f"{one.within_800} of {whole} within 800 ms, {one.within_400} within 400 ms"


BIN_MS = 50
BINS = 40
_BARS = " ▁▂▃▄▅▆▇█"


def histogram(latencies: Iterable[float]) -> list[str]:
    """A line of bars of 50 ms from 0 to 2 s, split at 800 ms, and its scale; the last bar includes all later ones."""
    counts = [0] * (BINS + 1)
    for latency in latencies:
        # A latency of exactly 800 ms is within 800 ms, so a bar includes its upper edge.
        counts[min(max(-int(-latency * 1000 // BIN_MS) - 1, 0), BINS)] += 1
    tallest = max(counts)
    if not tallest:
        return []
    drawn = "".join(_BARS[-(-count * (len(_BARS) - 1) // tallest)] for count in counts)
    split = round(TURN_LIMIT * 1000) // BIN_MS
    scale = "".join(f"{ms:<{400 // BIN_MS}}" for ms in (0, 400)) + " "
    scale += "".join(f"{ms:<{400 // BIN_MS}}" for ms in (800, 1200, 1600)) + "2000+ ms"
    return [f"  {drawn[:split]}│{drawn[split:]}", f"  {scale}"]
