"""A benchmark for people, as tables for each language model."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from latency.benchmark.ablation import Worth, worth
from latency.benchmark.benchmark import Benchmark
from latency.benchmark.callers_in_words import sentences
from latency.benchmark.notes import notes
from latency.benchmark.row import BenchmarkRow
from latency.render.console import console_for
from latency.render.layout import fitted, table
from latency.render.numbers import NEVER, UNKNOWN, count, ms, percent, things
from latency.report.stats import Distribution, Interval, Ratio

LATENCY = ("agent", "n", "p50", "p95", "ratio of p50")
SOME = ("agent", "n", "p50", "p95")
TURNS = ("agent", "turns", "answered", "cut off", "unanswered", "early")
CONDUCT = ("agent", "cut in pauses", "elsewhere", "broken off")
BARGE_INS = ("agent", "planned", "stopped", "ended", "ignored", "missed", "stop p50", "p95")
SOUNDS = ("agent", "planned", "went on", "resumed", "stopped", "missed")
COST = ("agent", "requests", "wasted", "CPU s/min", "peak MB")
PIECES = ("without", "n", "p50", "p95", "CPU s/min", "per ms")
TEXT_COLUMNS = ("agent", "without")
"""Headings of columns that hold text."""
NOTE = 4
"""Characters by which a note goes on indented."""


def write(benchmark: Benchmark, file: TextIO) -> None:
    """Write the tables to a text stream."""
    console = console_for(file)
    rounds = "in one round" if benchmark.rounds == 1 else f"in {benchmark.rounds} rounds, in rotating order"
    called = f"each agent was called {rounds}, with {', '.join(benchmark.fixtures)}"
    console.print(f"Benchmark: {benchmark.folder}; {called}")
    for line in sentences(benchmark.callers):
        console.print(fitted(line, console.width, indent=NOTE))
    host = benchmark.host
    if host.get("load_before") is not None:
        console.print(f"Machine: {things(host.get('cpus'), 'CPU')}, load {host['load_before']:.1f} at the start")
    if not benchmark.is_complete:
        had = ", ".join(f"{row.variant} ({row.llm}) {row.calls}" for row in benchmark.rows)
        console.print(f"NOT COMPLETE: of {things(benchmark.calls, 'call')} each, there are: {had or 'none'}")
    if pretending := benchmark.simulated:
        console.print(f"SIMULATED, not real: {', '.join(pretending)}")
    for llm in dict.fromkeys(row.llm for row in benchmark.rows):
        rows = [row for row in benchmark.rows if row.llm == llm]
        ttft, rate = llm.split(":")
        console.print(f"\nLanguage model: first token after {ttft} ms, then {rate} tokens/s. Latencies in ms")
        for title, headings, cells in _tables(benchmark, rows):
            if title:
                console.print(title)
            console.print(table(headings, cells, text=TEXT_COLUMNS))
            console.print()
    for line in notes(benchmark):
        console.print(fitted(line, console.width, indent=NOTE))


def _tables(
    benchmark: Benchmark, rows: Sequence[BenchmarkRow]
) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
    """Title, headings and cells of the tables for one language model."""
    yield "", LATENCY, [_latency(row, benchmark.ratio(row)) for row in rows]
    halves = [(row, *both) for row in rows if (both := benchmark.by_fit(row))]
    if halves:
        yield "Speakers outside the fit", SOME, [_some(row, outside) for row, outside, _ in halves]
        yield "Speakers that endpointing was fitted to", SOME, [_some(row, inside) for row, _, inside in halves]
    if finished := [_some(row, words) for row in rows if (words := benchmark.finished(row))]:
        yield "Recordings whose words are finished", SOME, finished
    yield "", TURNS, [_turns(row) for row in rows]
    yield "", CONDUCT, [_conduct(row) for row in rows]
    if any(row.interruptions.planned for row in rows):
        yield "Barge-ins", BARGE_INS, [_barge_ins(row) for row in rows]
    if any(row.sounds.planned for row in rows):
        yield "Backchannels, coughs and other sounds that must not interrupt", SOUNDS, [_sounds(row) for row in rows]
    yield "", COST, [_cost(row) for row in rows]
    if pieces := [_piece(row, found) for row in rows if (found := worth(benchmark, row))]:
        yield "What each part is worth: an agent of ours without the part, minus one with it", PIECES, pieces


def _latency(row: BenchmarkRow, ratio: Ratio | None) -> list[str]:
    name = f"{row.variant} (REFUSED)" if row.refused else row.variant
    compared = UNKNOWN if ratio is None else f"{ratio.value:.2f}" + _between(ratio.interval, "{:.2f}")
    return [name, *_distribution(row.turn_ms), compared]


def _some(row: BenchmarkRow, found: Distribution) -> list[str]:
    return [row.variant, *_distribution(found)]


def _distribution(found: Distribution) -> list[str]:
    p50 = _figure(found, "p50") + _between(found.p50_ci, "{:.0f}")
    return [str(found.total), p50, _figure(found, "p95") + _between(found.p95_ci, "{:.0f}")]


def _figure(found: Distribution, key: str) -> str:
    return NEVER if found.is_never(key) else ms(getattr(found, key))


def _turns(row: BenchmarkRow) -> list[str]:
    tally = row.tally
    counts = (tally.turns, len(tally.latencies), len(tally.cut_off), len(tally.unanswered), tally.early)
    return [row.variant, *map(str, counts)]


def _conduct(row: BenchmarkRow) -> list[str]:
    cut = row.cut_offs
    return [row.variant, f"{cut.in_pauses} of {cut.pauses}", str(cut.elsewhere), count(row.broken_off)]


def _barge_ins(row: BenchmarkRow) -> list[str]:
    found = row.interruptions
    counts = (found.planned, found.stopped, found.ended, found.ignored, found.missed + found.unplayed)
    stop = found.stop_ms
    return [row.variant, *map(str, counts), ms(stop.p50) + _between(stop.p50_ci, "{:.0f}"), ms(stop.p95)]


def _sounds(row: BenchmarkRow) -> list[str]:
    found = row.sounds
    return [row.variant, *map(str, (found.planned, found.went_on, found.resumed, found.stopped, found.silent))]


def _cost(row: BenchmarkRow) -> list[str]:
    asked = row.requests
    return [
        row.variant,
        UNKNOWN if asked is None else str(asked.n),
        UNKNOWN if asked is None else percent(asked.wasted_share),
        count(row.cpu_s_per_minute),
        UNKNOWN if row.rss_peak_mb is None else f"{row.rss_peak_mb:.0f}",
    ]


def _piece(row: BenchmarkRow, found: Worth) -> list[str]:
    return [
        f"{row.without} (REFUSED)" if row.refused else str(row.without),
        str(found.n),
        f"{found.p50_ms:+.0f}" + _between(found.p50_ci, "{:+.0f}", ", "),
        f"{found.p95_ms:+.0f}" + _between(found.p95_ci, "{:+.0f}", ", "),
        UNKNOWN if found.cpu_s_per_minute is None else f"{found.cpu_s_per_minute:+.1f}",
        UNKNOWN if found.cpu_ms_per_ms_saved is None else f"{found.cpu_ms_per_ms_saved:.1f}",
    ]


def _between(interval: Interval | None, form: str, to: str = "-") -> str:
    return "" if interval is None else f" [{form.format(interval[0])}{to}{form.format(interval[1])}]"
