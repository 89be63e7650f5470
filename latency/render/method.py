"""The measurement of a run's figures: pacing, host, stalls, versions and the method."""

from collections import Counter
from collections.abc import Iterator

from latency import budget
from latency.audio.onset import AUDIBLE_DB
from latency.judge.answer import NORMALISER
from latency.render.layout import labelled
from latency.render.numbers import UNKNOWN, counted, decimal, ms, plural
from latency.report.report import Report
from latency.report.stats import INTERVAL_METHOD, METHOD


def conditions(report: Report) -> Iterator[str]:
    """The conditions of the measurement, one line each."""
    if (left := report.residual_ms) is not None:
        yield (
            f"residual     p50 {ms(left.p50)}, p95 {ms(left.p95)} ms of latency that the marks do not explain; "
            f"above {budget.UNEXPLAINED * 1000:g} ms in {left.flagged} of {plural(left.n, 'turn')}"
        )
        for one in report.unexplained:
            yield labelled("", f"turn {report.name_of(one.session, one.turn)}: {one.sentence}")
    elif not report.by_recording_alone:
        yield labelled("residual", "unknown (no clock alignment, or marks are missing)")
    yield labelled("pacing", _pacing(report))
    if report.watched or not report.by_recording_alone:
        yield labelled("stalls", _stalls(report))
    header, host = report.header, report.host
    yield (
        f"host         {plural(host['cpus'], 'CPU')}, load {decimal(host['load_before'])} before and "
        f"{decimal(host['load_after'])} after; Python {host['python'] or UNKNOWN}; {host['platform'] or UNKNOWN}"
    )
    if servers := [session.session.server for session in report.sessions if session.session.server]:
        cores = [server.cpu_cores for server in servers if server.cpu_cores is not None]
        memory = [server.rss_mb for server in servers if server.rss_mb is not None]
        if cores and memory:
            yield (
                f"server       {sum(cores) / len(cores):.2f} CPU cores in an average call, {max(cores):.2f} in the "
                f"busiest; at most {max(memory):.0f} MB of memory"
            )
    if header.components:
        yield "components   " + "; ".join(f"{part}: {name}" for part, name in header.components.items())
    if header.versions:
        yield "versions     " + ", ".join(f"{name} {version}" for name, version in header.versions.items())
    yield f"run          {header.created}: {' '.join(header.command) or UNKNOWN}"


def method(report: Report) -> Iterator[str]:
    """The meaning of the figures, and their names in a check."""
    estimated = sum(outcome.turn.truth == "estimated" for outcome in report.outcomes)
    yield (
        f"Turn latency runs from the {report.truth} end of the user's speech to the first audible bot sample (above "
        f"{AUDIBLE_DB:g} dBFS, sustained) that the client played. Cold turns (a server's first), barge-ins and "
        "cut-offs are counted apart; an unanswered turn is later than any limit. People answer each other within "
        f"{budget.NATURAL * 1000:g} ms; a turn may take {budget.TURN_LIMIT * 1000:g} ms."
        + (f" An unlabelled end of speech is estimated: {plural(estimated, 'turn')}." if estimated else "")
    )
    yield (
        f"Percentiles: {METHOD}; p99 from {budget.P99_NEEDS} samples on; {INTERVAL_METHOD}, from "
        f"{budget.INTERVAL_NEEDS} samples on. Words are compared {NORMALISER}. A run is refused when more than "
        f"{budget.LATE_SHARE_ALLOWED * 100:g} % of its audio frames were sent late, or its clock drifted by more than "
        f"{budget.CLOCK_DRIFT_ALLOWED * 100:g} % (a sound card's, which is followed: "
        f"{budget.CARD_DRIFT_ALLOWED * 100:g} %)."
    )
    yield (
        'In --check, write a figure as here, in lower case and with "_" between its words: "answer p95 < 800", '
        '"answers_ok == 1", "cut_offs == 0", "barge_in stop_p50 < 500", "llm missed == 0". A p95 needs '
        f'{budget.P95_NEEDS} turns, or as many as the check says: "turn p95 < 800 n>=5".'
    )


def _pacing(report: Report) -> str:
    pacing = report.pacing
    if pacing.ok is None:
        return "unknown"
    ratio = UNKNOWN if pacing.clock_ratio is None else str(pacing.clock_ratio)
    return (
        f"{'ok' if pacing.ok else 'BAD'}: {pacing.late_over_20ms} of "
        f"{plural(pacing.frames, 'audio frame')} sent over 20 ms late, in {report.late_turns} of "
        f"{plural(report.turns.total, 'turn')}; worst {ms(pacing.late_max_ms)} ms; clock ratio {ratio} (1 is real time)"
    )


def _stalls(report: Report) -> str:
    if not report.watched:
        return "unknown (the server's event loop was not watched)"
    if not report.stalls:
        return f"none: the server's event loop never stood still for {budget.SHORTEST_STALL_MS:g} ms"
    longest = max(report.stalls, key=lambda stall: stall.ms)
    kinds = counted(Counter(stall.kind for stall in report.stalls))
    where = "before the first turn" if longest.turn is None else f"in turn {longest.turn}"
    where += f" of session {longest.session}" if len(report.sessions) > 1 else ""
    return (
        f"{len(report.stalls)} of the server, of {budget.SHORTEST_STALL_MS:g} ms or more: {kinds}; longest "
        f"{longest.ms:.0f} ms ({longest.kind}) {where}"
    )
