"""A benchmark for people, as tables for each language model, and for programs, as JSON."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, TextIO

from latency.benchmark.ablation import Worth, worth
from latency.benchmark.benchmark import SCHEMA, Benchmark, BenchmarkRow
from latency.render.callers import sentences
from latency.render.terminal.console import console_for
from latency.render.terminal.layout import fitted, table
from latency.render.terminal.numbers import UNKNOWN, count, ms, percent, things
from latency.report.stats import INTERVAL, INTERVAL_METHOD, METHOD, Interval, Ratio

LATENCY = ("agent", "n", "p50", "p95", "ratio of p50")
CONDUCT = ("agent", "unanswered", "cut in pauses", "elsewhere", "broken off", "barge-in (n)")
COST = ("agent", "requests", "wasted", "CPU s/min", "peak MB")
PIECES = ("without", "n", "p50", "p95", "CPU s/min", "per ms")
TEXT_COLUMNS = ("agent", "without")
"""Headings of columns that hold text."""
NOTE = 4
"""Characters by which a note goes on indented."""


def write(benchmark: Benchmark, file: TextIO) -> None:
    """Write the tables to a text stream."""
    console = console_for(file)
    times = "once" if benchmark.rounds == 1 else f"{benchmark.rounds} times"
    console.print(f"Benchmark: {benchmark.folder}; each agent was called {times} with {', '.join(benchmark.fixtures)}")
    for line in sentences(benchmark.callers):
        console.print(fitted(line, console.width, indent=NOTE))
    if not benchmark.is_complete:
        had = ", ".join(f"{row.variant} ({row.llm}) {row.calls}" for row in benchmark.rows)
        console.print(f"NOT COMPLETE: of {things(benchmark.calls, 'call')} each, there are: {had or 'none'}")
    if pretending := _simulated(benchmark):
        console.print(f"SIMULATED, not real: {', '.join(pretending)}")
    for llm in dict.fromkeys(row.llm for row in benchmark.rows):
        rows = [row for row in benchmark.rows if row.llm == llm]
        ttft, rate = llm.split(":")
        console.print(f"\nLanguage model: first token after {ttft} ms, then {rate} tokens/s. Latencies in ms")
        for headings, cells in (
            (LATENCY, [_latency(row, benchmark.ratio(row)) for row in rows]),
            (CONDUCT, [_conduct(row) for row in rows]),
            (COST, [_cost(row) for row in rows]),
        ):
            console.print(table(headings, cells, text=TEXT_COLUMNS))
            console.print()
        if pieces := [_piece(row, found) for row in rows if (found := worth(benchmark, row))]:
            console.print("What each part is worth: an agent of ours without the part, minus one with it")
            console.print(table(PIECES, pieces, text=TEXT_COLUMNS))
            console.print()
    for line in _notes(benchmark):
        console.print(fitted(line, console.width, indent=NOTE))


def to_json(benchmark: Benchmark) -> dict[str, Any]:
    """The benchmark as one JSON object; `ratio_p50` is our agent's with the first language model."""
    rows = [_plain(row, benchmark.ratio(row), worth(benchmark, row)) for row in benchmark.rows]
    ours = next((row for row in rows if row["variant"] == "ours"), {"ratio_p50": None, "ratio_p50_ci": None})
    return {
        "schema": SCHEMA,
        "ratio_p50": ours["ratio_p50"],
        "ratio_p50_ci": ours["ratio_p50_ci"],
        "baseline": benchmark.baseline,
        "created": benchmark.created,
        "folder": str(benchmark.folder),
        "rounds": benchmark.rounds,
        "complete": benchmark.is_complete,
        "fixtures": list(benchmark.fixtures),
        "callers": asdict(benchmark.callers),
        "host": dict(benchmark.host),
        "skipped": dict(benchmark.skipped),
        "simulated": _simulated(benchmark),
        "rows": rows,
        "method": {"percentiles": METHOD, "intervals": INTERVAL_METHOD},
    }


def text(benchmark: Benchmark) -> str:
    """The benchmark as indented JSON text."""
    return json.dumps(to_json(benchmark), indent=2, ensure_ascii=False)


def _simulated(benchmark: Benchmark) -> list[str]:
    return sorted({name for row in benchmark.rows for name in row.simulated})


def _latency(row: BenchmarkRow, ratio: Ratio | None) -> list[str]:
    turn = row.turn_ms
    return [
        f"{row.variant} (REFUSED)" if row.refused else row.variant,
        str(turn.n),
        ms(turn.p50) + _between(turn.p50_ci, "{:.0f}"),
        ms(turn.p95) + _between(turn.p95_ci, "{:.0f}"),
        UNKNOWN if ratio is None else f"{ratio.value:.2f}" + _between(ratio.interval, "{:.2f}"),
    ]


def _conduct(row: BenchmarkRow) -> list[str]:
    cut, stop = row.cut_offs, row.barge_in
    return [
        row.variant,
        f"{sum(row.unanswered.values())} of {row.expected}",
        f"{cut.in_pauses} of {cut.pauses}",
        str(cut.elsewhere),
        count(row.broken_off),
        f"{ms(stop['stop_p50_ms'])}/{ms(stop['stop_p95_ms'])} ({stop['n']})",
    ]


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


def _notes(benchmark: Benchmark) -> Iterator[str]:
    for name, why in benchmark.skipped.items():
        yield f"{name} is left out: {why}"
    for row in benchmark.rows:
        if row.refused:
            yield f"REFUSED: {row.variant} with {row.llm}: {row.refused}"
        if row.repeated:
            again = things(row.repeated, "call")
            yield f"repeated, because the audio was not sent in real time: {again} of {row.variant} with {row.llm}"
    for name, about, settings in dict.fromkeys((row.variant, row.about, tuple(row.settings)) for row in benchmark.rows):
        yield f"{name}: {about}" + (f"; set: {', '.join(settings)}" if settings else "")
    yield (
        "p50, p95: turn latency, from the labelled end of speech to the answer's first audible sample, without the "
        f"first turn of each process and without barge-ins; [...]: {INTERVAL} % interval, by resampling the turns"
    )
    yield f"ratio of p50: relative to {benchmark.baseline}, on the turns that both answered"
    yield "unanswered: turns without an answer"
    yield (
        "cut in pauses: labelled pauses that the agent took for the end of the turn; elsewhere: cut-offs at another "
        "place; broken off: answers that stopped although the user was silent"
    )
    yield "barge-in: p50/p95 of the milliseconds from an interruption until the agent is silent, and their number"
    yield "requests: to the language model; wasted: share of requests beyond one for each answered turn"
    if any(worth(benchmark, row) for row in benchmark.rows):
        yield (
            "without: a + means slower, or more CPU time, without the part, on the turns that both answered; per ms: "
            "the part's cost in CPU ms for each answered turn and each ms of the median that it saves; - where it "
            "saves or costs nothing"
        )


def _plain(row: BenchmarkRow, ratio: Ratio | None, piece: Worth | None) -> dict[str, Any]:
    turn = row.turn_ms
    return {
        "llm": row.llm,
        "variant": row.variant,
        "about": row.about,
        "calls": row.calls,
        "turn_ms": {"n": turn.n, "p50": turn.p50, "p50_ci": turn.p50_ci, "p95": turn.p95, "p95_ci": turn.p95_ci},
        "ratio_p50": None if ratio is None else ratio.value,
        "ratio_p50_ci": None if ratio is None else ratio.interval,
        "ratio_n": 0 if ratio is None else ratio.n,
        "turns": {"expected": row.expected, "unanswered": dict(row.unanswered)},
        "cut_offs": {**asdict(row.cut_offs), "rate": row.cut_offs.rate},
        "broken_off": row.broken_off,
        "barge_in": dict(row.barge_in),
        "llm_requests": None if row.requests is None else asdict(row.requests),
        "cpu_s_per_minute": row.cpu_s_per_minute,
        "cpu_s_per_answer": row.cpu_s_per_answer,
        "set": list(row.settings),
        "without": row.without,
        "of": row.of,
        "worth": None if piece is None else asdict(piece),
        "rss_peak_mb": row.rss_peak_mb,
        "refused": row.refused,
        "repeated": row.repeated,
        "run": str(row.run),
    }
