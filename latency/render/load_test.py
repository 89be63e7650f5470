"""A load test for people, as tables, and for programs, as JSON."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from latency.record.json_form import to_json
from latency.render.as_json import checks
from latency.render.layout import console_for, fitted, labelled, table
from latency.render.numbers import count, counted, decimal, plural, statistic
from latency.render.report import verdict_lines
from latency.report.load_test import ENOUGH, LoadFigures, TurnTally
from latency.report.report import Report

TURNS = ("turns", "p50", "p95", "max", "unanswered", "cut-offs", "drop-outs")
SCHEMA = 1


def write(report: Report, figures: LoadFigures, file: TextIO) -> None:
    """Write the tables to a text stream."""
    console = console_for(file)
    console.print(f"Load test: {report.run}")
    if report.simulated:
        console.print(fitted(labelled("Simulated", ", ".join(report.simulated)), console.width))
    if report.refused:
        console.print(fitted(labelled("REFUSED", report.refused), console.width), style="bold red")
    console.print()
    for headings, rows in tables(figures):
        console.print(table(headings, rows, text=()))
        console.print()
    for line in lines(figures):
        console.print(fitted(line, console.width))
    for line, _ in verdict_lines(report):
        console.print(fitted(line, console.width))


def tables(figures: LoadFigures) -> Iterator[tuple[Sequence[str], Sequence[Sequence[str]]]]:
    """Headings and cells of the tables: by caller, and by the number of calls at once."""
    callers = [[str(one.caller), str(one.calls), str(one.refused), *_turns(one.tally)] for one in figures.by_caller]
    callers.append(["all", str(figures.calls), str(sum(figures.refused.values())), *_turns(figures.tally)])
    yield ("caller", "calls", "refused", *TURNS), callers
    rows = [
        [str(one.calls), f"{one.seconds:.0f}", count(one.server_cores), decimal(one.slowdown), *_turns(one.tally)]
        for one in figures.by_calls_at_once
    ]
    yield ("at once", "seconds", "cores", "slower", *TURNS), rows


def text(report: Report, figures: LoadFigures) -> str:
    """The load test as indented JSON text."""
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "run": report.run,
        "simulated": list(report.simulated),
        "refused_run": report.refused,
        **to_json(figures),
        "thresholds": checks(report),
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _turns(tally: TurnTally) -> list[str]:
    times = tally.turn_ms
    shown = [statistic(times, key) for key in ("p50", "p95", "max")]
    return [str(times.total), *shown, str(tally.unanswered), str(tally.cut_offs), str(tally.drop_outs)]


def lines(figures: LoadFigures) -> Iterator[str]:
    """What the callers did, the calls that were sustained, the server's resources, and the meaning of the figures."""
    began = f"within {figures.ramp_seconds:g} s" if figures.ramp_seconds else "at the same time"
    yield labelled(
        "callers",
        f"{figures.callers}, who began {began}; at most {plural(figures.most_at_once, 'call')} at once; "
        f"{figures.seconds:.0f} s in all",
    )
    if figures.sustained is None:
        unknown = f"not known of any number of calls that had {ENOUGH} turns"
        yield labelled("sustained", f"{unknown} (a longer --ramp or --repeat gives more)")
    else:
        whole = "no drop-out, every turn answered, and at most 10 % slower than usual"
        yield labelled("sustained", f"{plural(figures.sustained, 'call')} at once: {whole}")
    for label, reasons in (("refused", figures.refused), ("failed", figures.failed)):
        if reasons:
            yield labelled(label, counted(reasons))
    yield labelled("server", _server(figures))
    yield labelled(
        "generator", f"{figures.generator_cores:g} cores for the callers themselves, on the machine this runs on"
    )
    yield labelled(
        "figures",
        "turn latency in ms, from the end of speech to the first sound of the answer, of warm turns that are no "
        "barge-ins; at once: calls under way when the turn ended; drop-outs: holes in the sound of answers; cores: "
        "processor time of the server per second; slower: the median of the turns, each divided by what its recording "
        "usually takes (the lower quartile of all calls)",
    )


def _server(figures: LoadFigures) -> str:
    use = figures.server
    if use is None:
        return "its processes cannot be seen from here"
    return (
        f"{use.cores:g} cores on average, {count(use.cpu_seconds_per_call_minute)} s of processor time for a minute of "
        f"a call; memory {count(use.idle_mb)} MB idle, {use.peak_mb:g} MB at most, {count(use.mb_per_call)} MB for "
        "each call"
    )
