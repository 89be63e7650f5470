"""A benchmark for people, as a table for each language model, and for programs, as JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, TextIO

from rich import box
from rich.table import Table

from latency.render.terminal.console import console_for
from latency.render.terminal.numbers import UNKNOWN, count, ms, percent, things
from latency.report.ablation import Worth, worth
from latency.report.benchmark import SCHEMA, Benchmark, Ratio, Row
from latency.report.stats import INTERVAL, INTERVAL_METHOD, METHOD, Interval

LATENCY = ("agent", "n", "p50", "p95", "over stock's p50", "unanswered")
CONDUCT = ("agent", "cut in pauses", "else", "broken off", "barge-in", "requests", "wasted",
           "CPU s/min", "peak MB")  # fmt: skip

PIECES = ("without", "n", "p50", "p95", "CPU s/min", "CPU ms per ms saved")


def write(benchmark: Benchmark, file: TextIO) -> None:
    """Write the tables to a text stream."""
    console = console_for(file)
    times = "once" if benchmark.rounds == 1 else f"{benchmark.rounds} times"
    console.print(f"Benchmark: {benchmark.folder}; each agent called {times} with {', '.join(benchmark.fixtures)}")
    if not benchmark.is_complete:
        had = ", ".join(f"{row.variant} ({row.llm}) {row.calls}" for row in benchmark.rows)
        console.print(f"NOT COMPLETE: of {things(benchmark.calls, 'call')} each, there are: {had or 'none'}")
    if pretending := _simulated(benchmark):
        console.print(f"SIMULATED, not real: {', '.join(pretending)}")
    for llm in dict.fromkeys(row.llm for row in benchmark.rows):
        rows = [row for row in benchmark.rows if row.llm == llm]
        ttft, rate = llm.split(":")
        console.print(f"\nLanguage model: first token after {ttft} ms, then {rate} tokens/s. Latencies in ms")
        console.print(_table(LATENCY, [_latency(row, benchmark.ratio(row)) for row in rows]))
        console.print(_table(CONDUCT, [_conduct(row) for row in rows]))
        if pieces := [_piece(row, found) for row in rows if (found := worth(benchmark, row))]:
            console.print("What each piece is worth: ours without it, less ours")
            console.print(_table(PIECES, pieces))
    for line in _notes(benchmark):
        console.print(line)


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


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        is_name = heading in ("agent", "without")
        table.add_column(heading, justify="left" if is_name else "right", no_wrap=not is_name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _latency(row: Row, ratio: Ratio | None) -> list[str]:
    turn = row.turn_ms
    return [
        f"{row.variant} (REFUSED)" if row.refused else row.variant,
        str(turn.n),
        ms(turn.p50) + _between(turn.p50_ci, "{:.0f}"),
        ms(turn.p95) + _between(turn.p95_ci, "{:.0f}"),
        UNKNOWN if ratio is None else f"{ratio.value:.2f}" + _between(ratio.interval, "{:.2f}"),
        f"{sum(row.unanswered.values())} of {row.expected}",
    ]


def _conduct(row: Row) -> list[str]:
    cut, stop, asked = row.cut_offs, row.barge_in, row.requests
    return [
        row.variant,
        f"{cut.in_pauses} of {cut.pauses}" + (f" ({percent(cut.rate)})" if cut.pauses else ""),
        str(cut.elsewhere),
        count(row.broken_off),
        f"{ms(stop['stop_p50_ms'])}/{ms(stop['stop_p95_ms'])} of {stop['n']}",
        UNKNOWN if asked is None else str(asked.n),
        UNKNOWN if asked is None else percent(asked.wasted_share),
        count(row.cpu_s_per_minute),
        UNKNOWN if row.rss_peak_mb is None else f"{row.rss_peak_mb:.0f}",
    ]


def _piece(row: Row, found: Worth) -> list[str]:
    return [
        f"{row.without} (REFUSED)" if row.refused else str(row.without),
        str(found.n),
        f"{found.p50_ms:+.0f}" + _between(found.p50_ci, "{:+.0f}", " to "),
        f"{found.p95_ms:+.0f}" + _between(found.p95_ci, "{:+.0f}", " to "),
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
            yield f"repeated, not being in real time at first: {again} of {row.variant} with {row.llm}"
    for name, about in dict.fromkeys((row.variant, row.about) for row in benchmark.rows):
        yield f"{name}: {about}"
    yield (
        f"over stock's: the median over {benchmark.baseline}'s, on turns both answered; {INTERVAL} % intervals (turns "
        "of the fixtures drawn with replacement). Latency runs from the labelled end of speech to the answer's "
        "first audible sample; first turns of a process and barge-ins are not in it. Cut in pauses, else: turns taken "
        "for finished in a labelled pause, or elsewhere. Barge-in: p50/p95 of how long the agent speaks on."
    )
    if any(worth(benchmark, row) for row in benchmark.rows):
        yield (
            "without: + is slower, or more CPU, than ours, on turns both answered; CPU per ms saved: CPU ms that the "
            "piece costs each answered turn for each ms of the median that it saves, - where it saves or costs none."
        )


def _plain(row: Row, ratio: Ratio | None, piece: Worth | None) -> dict[str, Any]:
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
        "without": row.without,
        "worth": None if piece is None else asdict(piece),
        "rss_peak_mb": row.rss_peak_mb,
        "refused": row.refused,
        "repeated": row.repeated,
        "run": str(row.run),
    }
