"""The figures of a load test: by caller, by number of calls at once, and of the processes.

The turns are judged as in every report: cold turns and barge-ins are not in the latencies, and an unanswered turn is
later than any limit. A turn or a drop-out belongs to the number of calls that were under way at its end.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from latency.judge.session import SessionOutcome
from latency.judge.turn import Outcome
from latency.record.load_test import ObservedLoad, PlacedCall, ServerSample
from latency.report.stats import Distribution, percentile
from latency.report.turn_figures import turn_latencies

SLOWER = 1.1
"""Answers that take more than this multiple of the usual time of the same turns are slower."""
ENOUGH = 5
"""The least turns for calling a number of calls sustained and for comparing its latencies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTally:
    """The latencies of some turns, and the faults in them."""

    turn_ms: Distribution
    cut_offs: int
    drop_outs: int
    """Holes in the audio of answers."""

    @property
    def unanswered(self) -> int:
        """Turns without an answer."""
        return self.turn_ms.unanswered


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerFigures:
    """One caller."""

    caller: int
    calls: int
    """The accepted calls."""
    refused: int
    failed: int
    tally: TurnTally


@dataclass(frozen=True, slots=True, kw_only=True)
class AtOnceFigures:
    """The time in which a number of calls were under way."""

    calls: int
    seconds: float
    server_cores: float | None
    """Processor time of the server per second."""
    slowdown: float | None
    """The median of the turns' latencies, each divided by the lower quartile of all latencies of its recording, because
    some turns always take longer than others."""
    tally: TurnTally


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerUse:
    """The resources of the server, without its simulated language models, which stand for other machines."""

    cores: float
    """Processor time per second."""
    cpu_seconds_per_call_minute: float | None
    idle_mb: float | None
    """Resident memory before the first call; None if it was not observed."""
    peak_mb: float
    mb_per_call: float | None
    """The growth of memory from there to its peak, divided by the most calls at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFigures:
    """A load test."""

    callers: int
    ramp_seconds: float
    seconds: float
    most_at_once: int
    calls: int
    refused: dict[str, int]
    """Calls that the server refused, by its reason."""
    failed: dict[str, int]
    """Calls that did not begin or ended early, by the reason."""
    tally: TurnTally
    by_caller: tuple[CallerFigures, ...]
    by_calls_at_once: tuple[AtOnceFigures, ...]
    sustained: int | None
    """The most calls at once up to which all answers came complete, and in the median as fast as with fewer; None if
    unknown for every number."""
    server: ServerUse | None
    generator_cores: float
    """Processor time of the callers' own process per second."""


def load_figures(observed: ObservedLoad, sessions: Sequence[SessionOutcome]) -> LoadFigures:
    """The figures of a load test, from its generator's observations and the judged calls."""
    judged = {session.session.name: session for session in sessions}
    taken = [call for call in observed.calls if call.refused is None and call.session in judged]
    at_once = _by_calls_at_once(observed, taken, judged)
    return LoadFigures(
        callers=observed.callers,
        ramp_seconds=observed.ramp,
        seconds=round(observed.seconds, 1),
        most_at_once=max((row.calls for row in at_once), default=0),
        calls=len(taken),
        refused=dict(Counter(call.refused for call in observed.calls if call.refused)),
        failed=dict(Counter(call.failed for call in observed.calls if call.failed)),
        tally=_of_sessions(judged[call.session] for call in taken),
        by_caller=tuple(_by_caller(observed, judged)),
        by_calls_at_once=at_once,
        sustained=_sustained(at_once),
        server=_server_use(observed),
        generator_cores=round(observed.generator_cpu_seconds / observed.seconds, 3) if observed.seconds else 0.0,
    )


def under_way(calls: Iterable[PlacedCall], at: float) -> int:
    """How many of the calls were under way at an instant."""
    return sum(call.began <= at < call.ended for call in calls)


def _tally(outcomes: Iterable[Outcome], drop_outs: int) -> TurnTally:
    found = list(outcomes)
    return TurnTally(
        turn_ms=turn_latencies(one for one in found if one.is_usual),
        cut_offs=sum(one.cut_off for one in found),
        drop_outs=drop_outs,
    )


def _of_sessions(sessions: Iterable[SessionOutcome]) -> TurnTally:
    found = list(sessions)
    return _tally((one for session in found for one in session.outcomes), sum(len(session.gaps) for session in found))


def _by_caller(observed: ObservedLoad, judged: Mapping[str, SessionOutcome]) -> Iterable[CallerFigures]:
    for caller in range(1, observed.callers + 1):
        calls = [call for call in observed.calls if call.caller == caller]
        taken = [call for call in calls if call.refused is None and call.session in judged]
        yield CallerFigures(
            caller=caller,
            calls=len(taken),
            refused=sum(call.refused is not None for call in calls),
            failed=sum(call.failed is not None for call in calls),
            tally=_of_sessions(judged[call.session] for call in taken),
        )


def _by_calls_at_once(
    observed: ObservedLoad, taken: Sequence[PlacedCall], judged: Mapping[str, SessionOutcome]
) -> tuple[AtOnceFigures, ...]:
    turns: dict[int, list[Outcome]] = {}
    drop_outs: Counter[int] = Counter()
    for call in taken:
        session = judged[call.session]
        for outcome in session.outcomes:
            if outcome.turn.end is not None:
                turns.setdefault(under_way(taken, call.began + outcome.turn.end), []).append(outcome)
        drop_outs.update(under_way(taken, call.began + gap.end) for gap in session.gaps)
    seconds, usual = _seconds_at_once(taken), _usual(one for call in taken for one in judged[call.session].outcomes)
    return tuple(
        AtOnceFigures(
            calls=count,
            seconds=round(seconds.get(count, 0.0), 1),
            server_cores=_cores(observed.server, count),
            slowdown=_slowdown(turns.get(count, []), usual),
            tally=_tally(turns.get(count, []), drop_outs[count]),
        )
        for count in sorted({*turns, *drop_outs} - {0})
    )


def _seconds_at_once(taken: Sequence[PlacedCall]) -> dict[int, float]:
    """How long each number of calls was under way."""
    edges = sorted({instant for call in taken for instant in (call.began, call.ended)})
    found: dict[int, float] = {}
    for start, end in zip(edges, edges[1:], strict=False):
        count = under_way(taken, start)
        found[count] = found.get(count, 0.0) + end - start
    return found


def _cores(samples: Sequence[ServerSample], calls: int) -> float | None:
    """The server's cores between samples that both saw this number of calls."""
    pairs = [(a, b) for a, b in zip(samples, samples[1:], strict=False) if a.calls == b.calls == calls]
    seconds = sum(b.at - a.at for a, b in pairs)
    return round(sum(b.cpu_seconds - a.cpu_seconds for a, b in pairs) / seconds, 2) if seconds else None


def _sustained(rows: Sequence[AtOnceFigures]) -> int | None:
    """The most calls up to which no number had a drop-out, an unanswered turn or a slowdown."""
    found = None
    for row in rows:
        enough = row.tally.turn_ms.total >= ENOUGH
        slow = enough and row.slowdown is not None and row.slowdown > SLOWER
        if row.tally.drop_outs or row.tally.unanswered or slow:
            break
        found = row.calls if enough else found
    return found


def _usual(outcomes: Iterable[Outcome]) -> dict[tuple[str, int], float]:
    """The lower quartile of the latencies of each recorded turn."""
    known: dict[tuple[str, int], list[float]] = {}
    for one in outcomes:
        if one.is_usual and one.is_timed and one.latency is not None:
            known.setdefault((one.turn.scenario, one.turn.turn), []).append(one.latency)
    return {turn: percentile(latencies, 25) or 0.0 for turn, latencies in known.items()}


def _slowdown(outcomes: Iterable[Outcome], usual: Mapping[tuple[str, int], float]) -> float | None:
    ratios = [
        one.latency / usual[one.turn.scenario, one.turn.turn]
        for one in outcomes
        if one.is_usual and one.is_timed and one.latency is not None and usual[one.turn.scenario, one.turn.turn]
    ]
    median = percentile(ratios, 50)
    return None if median is None else round(median, 3)


def _server_use(observed: ObservedLoad) -> ServerUse | None:
    samples = observed.server
    if len(samples) < 2 or samples[-1].at <= samples[0].at:
        return None
    used = samples[-1].cpu_seconds - samples[0].cpu_seconds
    minutes = sum(call.ended - call.began for call in observed.calls if call.refused is None) / 60
    idle = samples[0].rss_mb if samples[0].calls == 0 else None
    peak, most = max(sample.rss_mb for sample in samples), max(sample.calls for sample in samples)
    return ServerUse(
        cores=round(used / (samples[-1].at - samples[0].at), 2),
        cpu_seconds_per_call_minute=round(used / minutes, 1) if minutes else None,
        idle_mb=idle,
        peak_mb=peak,
        mb_per_call=round((peak - idle) / most, 1) if idle is not None and most else None,
    )
