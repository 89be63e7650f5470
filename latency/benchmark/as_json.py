"""A benchmark as JSON."""

import json
from dataclasses import asdict
from typing import Any

from latency.benchmark.benchmark import OURS, SCHEMA, Benchmark, worth
from latency.benchmark.row import BenchmarkRow
from latency.report.stats import INTERVAL_METHOD, METHOD, Distribution


def to_json(benchmark: Benchmark) -> dict[str, Any]:
    """The benchmark as one JSON object; `ratio_p50` is our agent's with the first language model."""
    rows = [_plain(benchmark, row) for row in benchmark.rows]
    ours = next((row for row in rows if row["variant"] == OURS), {"ratio_p50": None, "ratio_p50_ci": None})
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
        "simulated": benchmark.simulated,
        "rows": rows,
        "method": {"percentiles": METHOD, "intervals": f"{INTERVAL_METHOD} of recordings"},
    }


def text(benchmark: Benchmark) -> str:
    """The benchmark as indented JSON text."""
    return json.dumps(to_json(benchmark), indent=2, ensure_ascii=False)


def _plain(benchmark: Benchmark, row: BenchmarkRow) -> dict[str, Any]:
    ratio, piece, tally, finished = benchmark.ratio(row), worth(benchmark, row), row.tally, benchmark.finished(row)
    halves = benchmark.by_fit(row)
    return {
        "llm": row.llm,
        "variant": row.variant,
        "about": row.about,
        "set": list(row.settings),
        "calls": row.calls,
        "turn_ms": _numbers(row.turn_ms),
        "turn_ms_finished_words": None if finished is None else _numbers(finished),
        "turn_ms_outside_fit": None if halves is None else _numbers(halves[0]),
        "turn_ms_in_fit": None if halves is None else _numbers(halves[1]),
        "ratio_p50": None if ratio is None else ratio.value,
        "ratio_p50_ci": None if ratio is None else ratio.interval,
        "ratio_n": 0 if ratio is None else ratio.n,
        "turns": {
            "n": tally.turns,
            "answered": len(tally.latencies),
            "cut_off": len(tally.cut_off),
            "unanswered": len(tally.unanswered),
            "early": tally.early,
        },
        "all_turns": {"expected": row.expected, "unanswered": dict(row.unanswered)},
        "cut_offs": {**asdict(row.cut_offs), "rate": row.cut_offs.rate},
        "broken_off": row.broken_off,
        "barge_in": {
            "planned": row.interruptions.planned,
            "stopped": row.interruptions.stopped,
            "ended": row.interruptions.ended,
            "ignored": row.interruptions.ignored,
            "obeyed": row.interruptions.obeyed,
            "missed": row.interruptions.missed,
            "unplayed": row.interruptions.unplayed,
            "stop_ms": _numbers(row.interruptions.stop_ms),
        },
        "sounds": {**asdict(row.sounds), "planned": row.sounds.planned},
        "llm_requests": None if row.requests is None else asdict(row.requests),
        "cpu_s_per_minute": row.cpu_s_per_minute,
        "cpu_s_per_answer": row.cpu_s_per_answer,
        "without": row.without,
        "of": row.of,
        "worth": None if piece is None else asdict(piece),
        "rss_peak_mb": row.rss_peak_mb,
        "refused": row.refused,
        "repeated": row.repeated,
        "run": str(row.run),
    }


def _numbers(found: Distribution) -> dict[str, Any]:
    """A distribution; a percentile that is null although n is not 0 falls on an unanswered turn."""
    figures = {"n": found.total, "unanswered": found.unanswered}
    return figures | {"p50": found.p50, "p50_ci": found.p50_ci, "p95": found.p95, "p95_ci": found.p95_ci}
