"""Compares agents: the figures of a benchmark, derived from its folder alone.

The agents were called in turn with the same recordings, and each has a run folder of its own. The figures come from
the recordings, or from outside the agents: requests at the language model's server, CPU time of the process.

* Turn latency: as in a report, to the answer itself, or to the first audible sample if an agent does not report when
  its answer starts. First turns of a process and barge-in turns are excluded.
* Cut-offs: see `latency.judge.cut_offs`.
* Wasted: the share of requests to the language model beyond one for each answered turn.
* Ratio: one agent's median divided by the other's, over the turns that both answered. Its interval draws turns of the
  fixture, each with its repetitions, with replacement, because repeating a recording says little about others.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from latency.benchmark.callers import Callers
from latency.judge.cut_offs import CutOffs, cut_offs
from latency.judge.outcome import Outcome
from latency.record.run import Run, RunError
from latency.report.build import build
from latency.report.report import Report
from latency.report.stats import Distribution, Latencies, Ratio, compare

SCHEMA = 1
INDEX, CALLS = "bench.json", "calls.jsonl"
"""The index in a benchmark's folder, and in a run's folder what was observed of each call from outside."""

_SIMULATED = re.compile(r"\b(?:sim|scripted):[\w.:-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """The requests to a language model."""

    n: int
    cancelled: int
    wasted_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRow:
    """One agent with one language model."""

    llm: str
    variant: str
    about: str
    settings: Sequence[str]
    """What was set, as `key=value`; empty for an agent as shipped."""
    without: str | None
    """The piece of our agent that it lacks, in words; None if it lacks none."""
    of: str | None
    """The variant that has the piece."""
    run: Path
    calls: int
    turn_ms: Distribution
    expected: int
    unanswered: Mapping[str, int]
    cut_offs: CutOffs
    broken_off: int | None
    """Answers that the agent stopped although the user was silent."""
    barge_in: Mapping[str, float | None]
    """n, stop_p50_ms and stop_p95_ms of scripted barge-ins."""
    requests: Requests | None
    cpu_s_per_minute: float | None
    """CPU seconds of the agent's processes per minute of conversation, including models loaded at a call's start."""
    cpu_s_per_answer: float | None
    """The same per answered turn."""
    rss_peak_mb: float | None
    latencies: Latencies = field(repr=False)
    simulated: Sequence[str]
    """The names of its simulated parts."""
    refused: str | None
    """Why its latencies are not credible; None when they are."""
    repeated: int
    """Calls that were repeated because their audio had not been sent in real time."""

    @property
    def answered(self) -> int:
        """Turns that want an answer and got one."""
        return self.expected - sum(self.unanswered.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """All rows, by language model and then in the order of the variants."""

    folder: Path
    created: str
    baseline: str
    """The variant with which the others are compared."""
    rounds: int
    fixtures: Sequence[str]
    callers: Callers
    host: Mapping[str, Any]
    skipped: Mapping[str, str]
    """Variants that did not take part, with the reason."""
    rows: Sequence[BenchmarkRow]

    @property
    def calls(self) -> int:
        """How many calls each agent should have made with each language model."""
        return self.rounds * len(self.fixtures)

    @property
    def is_complete(self) -> bool:
        """Whether every agent made its calls."""
        return bool(self.rows) and all(row.calls >= self.calls for row in self.rows)

    def ratio(self, row: BenchmarkRow) -> Ratio | None:
        """A row's latency divided by the baseline's with the same language model; None if one of them has none."""
        other = next((one for one in self.rows if one.variant == self.baseline and one.llm == row.llm), None)
        return None if other is None else compare(row.latencies, other.latencies)

    @classmethod
    def load(cls, folder: Path) -> "Benchmark":
        """Read the folder of a benchmark, finished or interrupted.

        Raises:
            RunError: It is no benchmark's folder, or one of its runs is broken.
        """
        try:
            index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
            rows = [_row(folder, entry) for entry in index["runs"]]
            return cls(
                folder=folder, rows=[row for row in rows if row is not None], callers=Callers.read(index["callers"]),
                **{key: index[key] for key in ("created", "baseline", "rounds", "fixtures", "host", "skipped")},
            )  # fmt: skip
        except OSError as error:
            raise RunError(f"{folder} is not a benchmark: {INDEX}: {error.strerror}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"{folder / INDEX} is not what a benchmark writes: {error!r}") from error


def row(
    report: Report,
    calls: Sequence[Mapping[str, Any]],
    *,
    llm: str,
    variant: str,
    about: str,
    settings: Sequence[str] = (),
    without: str | None = None,
    of: str | None = None,
    repeated: int = 0,
) -> BenchmarkRow:
    """An agent's row.

    Args:
        report: Its run.
        calls: What was observed of its calls from outside: session, turn_ends (when it took the user's turn for
            finished, seconds on the recording's clock; None when it does not report that) and requests (the
            simulator's records).
        llm: The language model.
        variant: Its name.
        about: Its description.
        settings: What was set.
        without: The piece of ours that it lacks.
        of: The variant that has the piece.
        repeated: How many of its calls were repeated.
    """
    ends = {call["session"]: call.get("turn_ends") or () for call in calls}
    barge_in = report.barge_in
    per_minute, per_answer = _cpu(report)
    return BenchmarkRow(
        llm=llm,
        variant=variant,
        about=about,
        settings=settings,
        without=without,
        of=of,
        run=Path(report.run),
        calls=len(report.sessions),
        turn_ms=Distribution.of(latencies(report.outcomes).values()),
        expected=report.turns.expected,
        unanswered=report.turns.unanswered,
        cut_offs=cut_offs(report.outcomes, ends),
        broken_off=barge_in.false,
        barge_in={"n": barge_in.n, "stop_p50_ms": barge_in.stop_p50_ms, "stop_p95_ms": barge_in.stop_p95_ms},
        requests=_requests(calls, answered=report.turns.answered),
        cpu_s_per_minute=per_minute,
        cpu_s_per_answer=per_answer,
        rss_peak_mb=_peak(report),
        latencies=latencies(report.outcomes),
        simulated=sorted({found for name in report.simulated for found in _SIMULATED.findall(name)}),
        refused=report.refused,
        repeated=repeated,
    )


def latencies(outcomes: Iterable[Outcome]) -> dict[tuple[str, str, int], float]:
    """Seconds from the end of speech to the answer of each warm turn that was neither a barge-in nor cut off."""
    found = {}
    for one in outcomes:
        turn = one.turn
        took = one.answer if turn.server_turns else one.latency
        if took is not None and one.is_timed and not turn.cold and not turn.barge_in:
            found[turn.scenario, turn.session, turn.turn] = took
    return found


def _requests(calls: Sequence[Mapping[str, Any]], *, answered: int) -> Requests | None:
    if not calls:
        return None
    asked = [request for call in calls for request in call["requests"] if not request.get("warm_up")]
    cancelled = sum(request.get("outcome") != "completed" for request in asked)
    wasted = max(0.0, 1 - answered / len(asked)) if asked else None
    return Requests(n=len(asked), cancelled=cancelled, wasted_share=None if wasted is None else round(wasted, 4))


def _cpu(report: Report) -> tuple[float | None, float | None]:
    """CPU seconds per minute of conversation, and per answered turn."""
    known = [
        (one.session.seconds, one.session.server.cpu_cores, one.outcomes)
        for one in report.sessions
        if one.session.seconds and one.session.server and one.session.server.cpu_cores is not None
    ]
    seconds = sum(length for length, _, _ in known)
    used = sum(cores * length for length, cores, _ in known)
    answers = sum(outcome.answered for _, _, outcomes in known for outcome in outcomes)
    return round(used / seconds * 60, 1) if seconds else None, round(used / answers, 3) if answers else None


def _peak(report: Report) -> float | None:
    peaks = [one.session.server.rss_peak_mb for one in report.sessions if one.session.server]
    return max((peak for peak in peaks if peak is not None), default=None)


def _row(folder: Path, entry: Mapping[str, Any]) -> BenchmarkRow | None:
    """The row for an entry of the index; None when it has no turns yet."""
    run = folder / entry["folder"]
    try:
        report = build(Run.load(run))
    except RunError as error:
        if error.exit_code == 3:
            return None
        raise
    lines = (run / CALLS).read_text(encoding="utf-8").splitlines()
    known = {key: entry[key] for key in ("llm", "variant", "about", "without", "of")}
    seen = [json.loads(line) for line in lines]
    return row(report, seen, settings=tuple(entry["set"]), repeated=len(entry["repeated"]), **known)
