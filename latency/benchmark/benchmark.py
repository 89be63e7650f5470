"""Compares agents: the figures of a benchmark, derived from its folder alone.

The agents were called in turn with the same recordings, in one run, and each has a run folder of its own. The figures
come from the recordings, or from outside the agents: requests at the language model's server, CPU time of the process
(see `latency.benchmark.row`).

* Ratio: one agent's median divided by the other's, over the turns that both answered. Its interval draws turns of the
  fixture, each with its repetitions, with replacement, because repeating a recording says little about others.
* Finished words: the recordings whose words our default agent took for finished in most of the rounds. All agents are
  compared on the same recordings.
* Worth of a part: an agent without it minus the one that has it, on the turns that both answered, so that a positive
  difference is what the part saves. The intervals draw as for ratios.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from latency.benchmark.row import BenchmarkRow, ComparedTurns, row
from latency.record.json_form import read_file, read_json
from latency.record.run import Run, RunError
from latency.report import stats
from latency.report.report import build
from latency.report.stats import Distribution, Interval, Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """The recordings that each agent was called with."""

    turns: int
    """Turns that speak, in one round."""
    speakers: tuple[str, ...]
    """The known speakers."""
    fitted: tuple[str, ...]
    """The speakers among them that endpointing was fitted to."""
    synthetic: int = 0
    """How many of the speakers are synthesisers."""
    unnamed: int = 0
    """Turns by unknown speakers."""
    left_out: int = 0
    """Turns left out because endpointing was fitted to their speakers."""
    estimated: int = 0
    """Turns whose speech was measured, because they have no labels."""
    wordless: int = 0
    """Turns whose words are unknown, so that a scripted recogniser hears a placeholder."""
    at_once: int = 1
    """The number of callers at the same time; each speaks all the turns."""
    fitted_turns: tuple[tuple[str, int], ...] = ()
    """The turns that speakers of the fit speak, each by its scenario and number."""

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "Callers":
        """Read it from the benchmark's index."""
        names = {key: tuple(entry[key]) for key in ("speakers", "fitted")}
        turns = tuple((scenario, number) for scenario, number in entry.get("fitted_turns", ()))
        return cls(**{**entry, **names, "fitted_turns": turns})


SCHEMA = 2
OURS = "ours"
"""Our agent with default settings."""
INDEX, CALLS = "bench.json", "calls.jsonl"
"""The index in a benchmark's folder, and the outside observations of each call in a run's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """All rows, by language model and then in the order of the variants."""

    folder: Path
    created: str
    baseline: str
    """The variant that the others are compared with."""
    rounds: int
    fixtures: Sequence[str]
    callers: Callers
    host: Mapping[str, Any]
    skipped: Mapping[str, str]
    """Variants that did not take part, with the reason."""
    rows: Sequence[BenchmarkRow]

    @property
    def calls(self) -> int:
        """The planned calls of each agent with each language model."""
        return self.rounds * len(self.fixtures) * self.callers.at_once

    @property
    def is_complete(self) -> bool:
        """Whether every agent made its calls."""
        return bool(self.rows) and all(row.calls >= self.calls for row in self.rows)

    @property
    def llms(self) -> tuple[str, ...]:
        """The language models, by their speeds."""
        return tuple(dict.fromkeys(row.llm for row in self.rows))

    @property
    def simulated(self) -> list[str]:
        """The names of all simulated parts."""
        return sorted({name for row in self.rows for name in row.simulated})

    def beside(self, row: BenchmarkRow, variant: str | None) -> BenchmarkRow | None:
        """The row of a variant with the same language model."""
        return next((one for one in self.rows if one.variant == variant and one.llm == row.llm), None)

    def ratio(self, row: BenchmarkRow) -> Ratio | None:
        """A row's latency divided by the baseline's with the same language model; None if one of them has none."""
        other = self.beside(row, self.baseline)
        return None if other is None else stats.compare(row.tally.latencies, other.tally.latencies)

    def finished(self, row: BenchmarkRow) -> Distribution | None:
        """A row's latencies where the words are finished; None without our agent's judgement."""
        ours = self.beside(row, OURS)
        recordings = usually_finished(ours.tally) if ours else frozenset()
        return row.tally.distribution(recordings) if recordings else None

    def by_fit(self, row: BenchmarkRow) -> tuple[Distribution, Distribution] | None:
        """A row's latencies on speakers outside the fit, and on those in it; None unless both spoke."""
        fitted = frozenset(self.callers.fitted_turns)
        turns = {*row.tally.latencies, *row.tally.unanswered}
        outside = frozenset((scenario, number) for scenario, _, number in turns) - fitted
        if not fitted or not outside:
            return None
        return row.tally.distribution(outside), row.tally.distribution(fitted)

    @classmethod
    def load(cls, folder: Path) -> "Benchmark":
        """Read the folder of a benchmark, finished or interrupted.

        Raises:
            RunError: It is no benchmark's folder, or one of its runs is broken.
        """
        try:
            index = read_json(folder / INDEX)
            if index["schema"] != SCHEMA:
                raise RunError(
                    f"{folder} was written by another version of latency bench (schema {index['schema']}, not "
                    f"{SCHEMA}); run the benchmark again"
                )
            rows = [_row(folder, entry) for entry in index["runs"]]
            return cls(
                folder=folder, rows=[row for row in rows if row is not None], callers=Callers.read(index["callers"]),
                **{key: index[key] for key in ("created", "baseline", "rounds", "fixtures", "host", "skipped")},
            )  # fmt: skip
        except OSError as error:
            raise RunError(f"{folder} is not a benchmark: {INDEX}: {error.strerror}") from error
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise RunError(f"{folder / INDEX} is not a benchmark's index: {error!r}") from error


def usually_finished(tally: ComparedTurns) -> frozenset[tuple[str, int]]:
    """The recordings (scenario and number of the turn) whose words were finished in most of the rounds."""
    finished = Counter((scenario, number) for scenario, _, number in tally.finished)
    turns = [*tally.latencies, *tally.cut_off, *tally.unanswered]
    spoken = Counter((scenario, number) for scenario, _, number in turns)
    return frozenset(recording for recording, times in spoken.items() if finished[recording] > times / 2)


def _row(folder: Path, entry: Mapping[str, Any]) -> BenchmarkRow | None:
    """The row for an entry of the index; None when it has no turns yet."""
    run = folder / entry["folder"]
    try:
        report = build(Run.load(run))
    except RunError as error:
        if error.exit_code == 3:
            return None
        raise
    calls = [json.loads(line) for line in read_file(run / CALLS).decode("utf-8").splitlines()]
    return row(report, calls, entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationEffect:
    """The savings and the cost of a part of our agent; latencies in ms, differences of percentiles."""

    n: int
    """Turns that both answered."""
    p50_ms: float
    p50_ci: Interval | None
    p95_ms: float
    p95_ci: Interval | None
    cpu_s_per_minute: float | None
    """CPU seconds per minute of conversation; negative if the piece costs CPU."""
    cpu_ms_per_ms_saved: float | None
    """CPU ms that the piece costs per answered turn for each ms that it saves of the median; None if it saves no
    latency or costs no CPU."""


def worth(benchmark: Benchmark, row: BenchmarkRow) -> AblationEffect | None:
    """The worth of the piece that a row lacks; None if it lacks none, or answered no turn that the other answered."""
    whole = benchmark.beside(row, row.of) if row.without is not None else None
    return None if whole is None else difference(row, whole)


def difference(without: BenchmarkRow, whole: BenchmarkRow) -> AblationEffect | None:
    """The difference between two agents; None without a turn that both answered."""
    answered = stats.paired(without.tally.latencies, whole.tally.latencies)
    groups = [[(a * 1000, b * 1000) for a, b in group] for group in answered]
    pairs = [pair for group in groups for pair in group]
    p50, p95 = stats.excess(pairs, 50), stats.excess(pairs, 95)
    if p50 is None or p95 is None:
        return None
    cost = _less(whole.cpu_s_per_answer, without.cpu_s_per_answer)
    pays = cost is not None and cost > 0 and p50 > 0
    return AblationEffect(
        n=len(pairs),
        p50_ms=round(p50, 1),
        p50_ci=stats.excess_interval(groups, 50),
        p95_ms=round(p95, 1),
        p95_ci=stats.excess_interval(groups, 95),
        cpu_s_per_minute=_less(without.cpu_s_per_minute, whole.cpu_s_per_minute),
        cpu_ms_per_ms_saved=round(cost * 1000 / p50, 2) if cost is not None and pays else None,
    )


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else round(one - other, 3)


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
        "method": {"percentiles": stats.METHOD, "intervals": f"{stats.INTERVAL_METHOD} of recordings"},
    }


def text(benchmark: Benchmark) -> str:
    """The benchmark as indented JSON text."""
    return json.dumps(to_json(benchmark), indent=2, ensure_ascii=False)


def _fields(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _plain(benchmark: Benchmark, row: BenchmarkRow) -> dict[str, Any]:
    ratio, piece, tally, finished = benchmark.ratio(row), worth(benchmark, row), row.tally, benchmark.finished(row)
    outside, in_fit = benchmark.by_fit(row) or (None, None)
    return {
        **_fields(row, "llm", "variant", "about"),
        "set": list(row.settings),
        "calls": row.calls,
        "turn_ms": _numbers(row.turn_ms),
        "turn_ms_finished_words": _numbers(finished),
        "turn_ms_outside_fit": _numbers(outside),
        "turn_ms_in_fit": _numbers(in_fit),
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
            **_fields(row.interruptions, "planned", "stopped", "ended", "ignored", "obeyed", "missed", "unplayed"),
            "stop_ms": _numbers(row.interruptions.stop_ms),
        },
        "sounds": {**row.sounds, "planned": sum(row.sounds.values())},
        "llm_requests": None if row.requests is None else asdict(row.requests),
        **_fields(row, "cpu_s_per_minute", "cpu_s_per_answer", "without", "of"),
        "worth": None if piece is None else asdict(piece),
        **_fields(row, "rss_peak_mb", "refused", "repeated"),
        "run": str(row.run),
    }


def _numbers(found: Distribution | None) -> dict[str, Any] | None:
    """A distribution; a percentile that is null although n is not 0 falls on an unanswered turn."""
    if found is None:
        return None
    return {"n": found.total, **_fields(found, "unanswered", "p50", "p50_ci", "p95", "p95_ci")}
