"""A report for people: readable with colours in a terminal, and without them in a pipe or a log."""

from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from latency.budget import EARLY
from latency.judge.session import TurnAccount
from latency.record.contributions import UNNAMED
from latency.render.headline import HEADLINE, headline, histogram
from latency.render.layout import LABEL, console_for, fitted, labelled
from latency.render.llm import cost_lines, llm_lines
from latency.render.method import conditions, method
from latency.render.numbers import UNKNOWN, count, counted, decimal, ms, percent, plural
from latency.render.tables import contribution_table, interval_lines, latency_table, worst_table
from latency.render.turn_table import legend, turn_table
from latency.report.llm.speculation import Speculation
from latency.report.report import Report
from latency.report.turn_figures import WordChecks
from latency.report.turn_taking import TurnTaking


def write(report: Report, file: TextIO) -> None:
    """Write the whole report to a text stream; colours only when it is a terminal."""
    console = console_for(file)
    for line, style in headline(report):
        # A path wider than the console is not broken.
        console.print(fitted(line, console.width, indent=HEADLINE), style=style, soft_wrap=True)
    usual = [o for o in report.outcomes if o.is_timed and o.is_usual]
    for line in histogram([o.latency for o in usual if o.latency is not None]):
        console.print(line, no_wrap=True)
    console.print()
    for line, style in turn_table(report, width=console.width):
        console.print(line, style=style, no_wrap=True, overflow="ignore")
    console.print(legend(report), style="dim")
    console.print()
    if report.has_latencies and not report.only_cold:
        console.print(latency_table(report, width=console.width))
        for line in interval_lines(report):
            console.print(line, style="dim")
        console.print()
    # A run that was judged by its recording alone has no stages.
    has_stages = any(
        seconds is not None and key != UNNAMED
        for outcome in report.outcomes
        for key, seconds in outcome.turn.contributions().items()
    )
    if has_stages and report.has_latencies and not report.only_cold:
        console.print(contribution_table(report, width=console.width))
        console.print()
    if (has_stages or not report.by_recording_alone) and (slowest := worst_table(report)):
        console.print(slowest)
        console.print()
    for line in (*_figures(report), *fault_lines(report.accounts), *conditions(report)):
        console.print(fitted(line, console.width))
    console.print()
    for line in method(report):
        console.print(line, style="dim")
    # Last, because readers of a CI log look there.
    for line, style in verdict_lines(report):
        console.print(fitted(line, console.width), style=style)


def _figures(report: Report) -> Iterator[str]:
    turns, quality, stop = report.turns, report.quality, report.barge_in
    reasons = f" ({counted(turns.unanswered)})" if turns.unanswered else ""
    yield labelled(
        "turns",
        f"total {turns.total}; expected {turns.expected} (they want an answer), answered {turns.answered}, "
        f"unanswered {sum(turns.unanswered.values())}{reasons}",
    )
    known = UNKNOWN if turns.answers_ok is None else f"{turns.answers_ok} of {report.scored} with a known right answer"
    if not report.by_recording_alone or turns.answers_ok is not None or quality.wer is not None:
        yield labelled("answers ok", f"{known}; word error rate (wer) {percent(quality.wer)}")
    if checks := quality.checks:
        yield labelled("words", _word_checks(checks))
    yield labelled(
        "cut-offs",
        f"{count(quality.cut_offs)} (the bot answered before the user had finished; not in any latency); pauses "
        f"{count(quality.pauses)}, false cut-off rate {percent(quality.false_cut_off_rate)} (pauses taken for the "
        f"end); early {count(quality.early)} (answers within {EARLY * 1000:.0f} ms, sooner than people answer); gaps "
        f"{count(quality.gaps)} (holes in the bot's speech)",
    )
    yield labelled("turn-taking", _turn_taking(report.turn_taking))
    if marked := [one.turn for one in report.outcomes if one.turn.marked_bad is not None]:
        yield labelled(
            "marked bad",
            f"{plural(len(marked), 'turn')} by the caller; `latency fixtures {report.run}` makes recordings of them to "
            "replay",
        )
    if quality.joined:
        yield labelled(
            "joined",
            f"{plural(quality.joined, 'turn')} ended too early and then joined by what followed, answered as one; "
            f"at most {ms(quality.joined_heard_ms)} ms of a first answer were heard",
        )
    if away := [end - start for one in report.sessions for start, end in one.session.away]:
        yield labelled(
            "sound card",
            f"away {plural(len(away), 'time')}, for {max(away):.1f} s at most; nothing was heard or played meanwhile",
        )
    if quality.outages_ms:
        yield labelled(
            "connection",
            f"lost {plural(len(quality.outages_ms), 'time')}, for {ms(max(quality.outages_ms))} ms at most; turns that "
            f"had to wait for it count as they were heard",
        )
    if quality.hung:
        yield labelled(
            "hung", f"{counted(quality.hung)} (did nothing for so long that the caller was told, or hung up on)"
        )
    if quality.parts:
        yield labelled(
            "parts",
            f"{plural(quality.parts['asked'], 'time')} the caller was asked whether a long answer should go on; "
            f"it went on {plural(quality.parts['went_on'], 'time')}",
        )
    times = f", stop p50 {ms(stop.stop_p50_ms)}, stop p95 {ms(stop.stop_p95_ms)} ms (until silent)" if stop.n else ""
    missed = f", missed {stop.missed} (the bot talked on)" if stop.missed else ""
    own = f"; own {stop.own} (turns that its own voice in the microphone began)" if stop.own else ""
    ducked = "" if stop.ducked_p95_ms is None else f"; softer within {ms(stop.ducked_p95_ms)} ms (p95) of the onset"
    yield labelled(
        "barge-in", f"n {stop.n}{times}{missed}; false {count(stop.false)} (interruptions without cause){own}{ducked}"
    )
    if stop.sounds:
        yield labelled("sounds", "; ".join(_sound(kind, of) for kind, of in sorted(stop.sounds.items())))
    if not report.by_recording_alone:
        yield from llm_lines(report.llm)
    yield from cost_lines(report.cost)
    if report.speculation.started or report.speculation.hints:
        yield labelled("speculation", _speculation(report.speculation))


def _turn_taking(found: TurnTaking) -> str:
    """The scores of other benchmarks."""
    paused = "no pauses of 0.2 to 5 s"
    if found.eot_pauses:
        paused = (
            f"{found.eot_cut_offs} of {plural(found.eot_pauses, 'pause')} of 0.2 to 5 s cut off "
            f"({percent(found.eot_cut_off_rate)})"
        )
    return (
        f"eva {decimal(found.eva)} of 1 (mean of {plural(found.eva_n, 'turn')} on EVA's curve of latency: 0.7 at 200 "
        f"ms, 1 from 500 to 2000, 0 from 3500 on); as in eot-bench: {paused}, ends found after "
        f"{ms(found.eot_delay_ms)} ms on average"
    )


def _sound(kind: str, results: dict[str, int]) -> str:
    """The effects of one kind of sound on the bot's speech."""
    what = {"went_on": "under which the bot went on", "resumed": "silenced and resumed", "stopped": "stopped"}
    return f"{kind} {sum(results.values())}: " + ", ".join(
        f"{results[key]} {what[key]}" for key in what if results[key]
    )


def _word_checks(checks: WordChecks) -> str:
    """The checks of the words by a second pass."""
    ends = {
        "too late": checks.late,
        "gave way to other passes": checks.shed,
        "not needed any more": checks.withdrawn,
        "failed": checks.failed,
    }
    others = "".join(f", {number} {end}" for end, number in ends.items() if number)
    waited = "" if checks.held_ms_max is None else f"; an answer waited {ms(checks.held_ms_max)} ms at most"
    return (
        f"checked: {checks.checked} of {plural(checks.turns, 'turn')}, {checks.changed} changed{others}; "
        f"{checks.seconds:.1f} s of processor time{waited}"
    )


def _speculation(ahead: Speculation) -> str:
    hints = "" if ahead.hints is None else f" at {plural(ahead.hints, 'hint')} of the turn's end"
    spoken = f" ({ahead.spoken_ahead} already synthesised)" if ahead.spoken_ahead else ""
    saved = "" if ahead.saved_p50_ms is None else f"; first clause {ms(ahead.saved_p50_ms)} ms sooner (p50)"
    early = f" ({ahead.early} by the words alone)" if ahead.early else ""
    tokens = f" ({ahead.discarded_tokens:,} tokens)" if ahead.discarded and ahead.discarded_tokens else ""
    return (
        f"{plural(ahead.started, 'speculative answer')}{early}{hints}: {count(ahead.used)} used{spoken}, "
        f"{count(ahead.discarded)} discarded{tokens}{saved}"
    )


def verdict_lines(report: Report) -> Iterator[tuple[str, str]]:
    """Text and style of a line for each check."""
    styles = {"passed": "green", "failed": "bold red", "no data": "yellow"}
    for item in report.thresholds:
        value = f" (is {item.shown})" if item.shown else ""
        why = f": {item.reason}" if item.reason else ""
        yield labelled(item.verdict, f"{item.expr}{value}{why}"), styles[item.verdict]


_ENDS = {
    "rescued": "rescued by another tier",
    "apologised": "the caller was told that there is no answer",
    "not played": "not played",
}


def fault_lines(accounts: tuple[TurnAccount, ...]) -> Iterator[str]:
    """The number of turns by their end, then a line for every turn that had a fault or no answer."""
    if not accounts:
        return
    faults = sum(len(account.faults) for account in accounts)
    yield labelled(
        "faults",
        f"{faults} injected in {plural(len(accounts), 'turn')}: {counted(Counter(one.end for one in accounts))}",
    )
    many = len({account.session for account in accounts}) > 1
    for account in accounts:
        if account.faults or account.reason:
            where = f"{account.session} {account.turn}" if many else f"turn {account.turn}"
            broken = "; ".join(fault.what for fault in account.faults) or "no fault"
            why = f": {account.reason}" if account.reason else ""
            yield f"{'':<{LABEL}}{where}: {broken} → {_ENDS.get(account.end, account.end)}{why}"
