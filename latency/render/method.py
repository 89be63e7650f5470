"""How a run's figures were measured: pacing, host, stalls, versions and the method."""

from collections.abc import Iterator

from latency.audio.onset import AUDIBLE_DB
from latency.budget import (
    CARD_DRIFT_ALLOWED,
    CLOCK_DRIFT_ALLOWED,
    INTERVAL_NEEDS,
    LATE_SHARE_ALLOWED,
    NATURAL,
    P95_NEEDS,
    P99_NEEDS,
    SHORTEST_STALL_MS,
    TURN_LIMIT,
    UNEXPLAINED,
)
from latency.judge.scoring import NORMALISER
from latency.render.layout import labelled
from latency.render.numbers import UNKNOWN, counted, ms, plural
from latency.report.report import Report
from latency.report.stats import INTERVAL_METHOD, METHOD


def conditions(report: Report) -> Iterator[str]:
    """The conditions of the measurement, one line each."""
    yield from _residual(report)
    yield _pacing(report)
    yield _stalls(report)
    host = report.host
    yield (
        f"host         {plural(host['cpus'], 'CPU')}, load {_load(host['load_before'])} before and "
        f"{_load(host['load_after'])} after; Python {host['python'] or UNKNOWN}; {host['platform'] or UNKNOWN}"
    )
    if servers := [session.session.server for session in report.sessions if session.session.server]:
        cores = [server.cpu_cores for server in servers if server.cpu_cores is not None]
        memory = [server.rss_mb for server in servers if server.rss_mb is not None]
        if cores and memory:
            yield (
                f"server       {sum(cores) / len(cores):.2f} CPU cores in an average call, {max(cores):.2f} in the "
                f"busiest; at most {max(memory):.0f} MB of memory"
            )
    if report.components:
        yield "components   " + "; ".join(f"{part}: {name}" for part, name in report.components.items())
    if report.versions:
        yield "versions     " + ", ".join(f"{name} {version}" for name, version in report.versions.items())
    yield f"run          {report.created}: {' '.join(report.command) or UNKNOWN}"


def method(report: Report) -> Iterator[str]:
    """What the figures mean, and what a check calls them."""
    estimated = sum(outcome.turn.truth == "estimated" for outcome in report.outcomes)
    yield (
        f"Turn latency runs from the {report.truth} end of the user's speech to the first audible bot sample (above "
        f"{AUDIBLE_DB:g} dBFS, sustained) in what the client played. Cold turns (a server's first), barge-ins and "
        "cut-offs are counted apart; an unanswered turn is later than any limit. People answer each other within "
        f"{NATURAL * 1000:g} ms; a turn may take {TURN_LIMIT * 1000:g} ms."
        + (f" An unlabelled end of speech is estimated: {plural(estimated, 'turn')}." if estimated else "")
    )
    yield (
        f"Percentiles: {METHOD}; p99 from {P99_NEEDS} samples on; {INTERVAL_METHOD}, from {INTERVAL_NEEDS} samples on. "
        f"Words are compared {NORMALISER}. A run is refused when more than {LATE_SHARE_ALLOWED * 100:g} % of its audio "
        f"frames were sent late, or its clock drifted by more than {CLOCK_DRIFT_ALLOWED * 100:g} % (a sound card's, "
        f"which is followed: {CARD_DRIFT_ALLOWED * 100:g} %)."
    )
    yield (
        'In --check, write a figure as here, in lower case and with "_" between its words: "answer p95 < 800", '
        '"answers_ok == 1", "cut_offs == 0", "barge_in stop_p50 < 500", "llm missed == 0". A p95 needs '
        f'{P95_NEEDS} turns, or as many as the check says: "turn p95 < 800 n>=5".'
    )


def _residual(report: Report) -> Iterator[str]:
    left = report.residual_ms
    if left is None:
        yield labelled("residual", "unknown (no clock alignment, or marks are missing)")
        return
    yield (
        f"residual     p50 {ms(left.p50)}, p95 {ms(left.p95)} ms of latency that the marks do not explain; "
        f"above {UNEXPLAINED * 1000:g} ms in {left.flagged} of {plural(left.n, 'turn')}"
    )
    several = len(report.sessions) > 1
    for one in report.unexplained:
        yield f"             turn {f'{one.session} ' if several else ''}{one.turn}: {one.sentence}"


def _pacing(report: Report) -> str:
    pacing = report.pacing
    if pacing.ok is None:
        return "pacing       unknown"
    ratio = UNKNOWN if pacing.clock_ratio is None else str(pacing.clock_ratio)
    return (
        f"pacing       {'ok' if pacing.ok else 'BAD'}: {pacing.late_over_20ms} of "
        f"{plural(pacing.frames, 'audio frame')} sent over 20 ms late, in {report.late_turns} of "
        f"{plural(report.turns.total, 'turn')}; worst {ms(pacing.late_max_ms)} ms; clock ratio {ratio} (1 is real time)"
    )


def _stalls(report: Report) -> str:
    if not report.watched:
        return "stalls       unknown (the server's event loop was not watched)"
    if not report.stalls:
        return f"stalls       none: the server's event loop never stood still for {SHORTEST_STALL_MS:g} ms"
    longest = max(report.stalls, key=lambda stall: stall.ms)
    kinds: dict[str, int] = {}
    for stall in report.stalls:
        kinds[stall.kind] = kinds.get(stall.kind, 0) + 1
    several = len(report.sessions) > 1
    where = "before the first turn" if longest.turn is None else f"in turn {longest.turn}"
    return (
        f"stalls       {len(report.stalls)} of the server, of {SHORTEST_STALL_MS:g} ms or more: {counted(kinds)}; longest "
        f"{longest.ms:.0f} ms ({longest.kind}) {where}{f' of session {longest.session}' if several else ''}"
    )


def _load(load: float | None) -> str:
    return UNKNOWN if load is None else f"{load:.2f}"
