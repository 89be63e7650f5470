"""A benchmark for people: tables for each language model, the callers, and the meaning of the figures."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from latency.benchmark.benchmark import OURS, AblationEffect, Benchmark, Callers, worth
from latency.benchmark.row import BenchmarkRow
from latency.render.layout import console_for, fitted, table
from latency.render.numbers import UNKNOWN, count, ms, percent, plural, statistic
from latency.report.stats import INTERVAL, RESAMPLES, Distribution, Interval, Ratio

SOME = ("agent", "n", "p50", "p95")
TEXT_COLUMNS = ("agent", "without")
"""Headings of columns that hold text."""
NOTE = 4
"""Characters by which a note goes on indented."""


def write(benchmark: Benchmark, file: TextIO) -> None:
    """Write the tables to a text stream."""
    console = console_for(file)
    for line in head(benchmark):
        console.print(fitted(line, console.width, indent=NOTE))
    for llm in benchmark.llms:
        console.print(f"\n{about_llm(llm)}. Latencies in ms")
        for title, headings, cells in tables(benchmark, llm):
            if title:
                console.print(title)
            console.print(table(headings, cells, text=TEXT_COLUMNS))
            console.print()
    for line in notes(benchmark):
        console.print(fitted(line, console.width, indent=NOTE))


def head(benchmark: Benchmark) -> Iterator[str]:
    """What was called, by whom and on which machine, and the reasons to doubt the figures."""
    rounds = "in one round" if benchmark.rounds == 1 else f"in {benchmark.rounds} rounds, in rotating order"
    called = f"each agent was called {rounds}, with {', '.join(benchmark.fixtures)}"
    yield f"Benchmark: {benchmark.folder}; {called}"
    yield from about_callers(benchmark.callers)
    host = benchmark.host
    if host.get("load_before") is not None:
        yield f"Machine: {plural(host.get('cpus'), 'CPU')}, load {host['load_before']:.1f} at the start"
    if not benchmark.is_complete:
        had = ", ".join(f"{row.variant} ({row.llm}) {row.calls}" for row in benchmark.rows)
        yield f"NOT COMPLETE: of {plural(benchmark.calls, 'call')} each, there are: {had or 'none'}"
    if pretending := benchmark.simulated:
        yield f"SIMULATED, not real: {', '.join(pretending)}"


def about_llm(llm: str) -> str:
    """The speed of a language model, from its name in the benchmark."""
    ttft, rate = llm.split(":")
    return f"Language model: first token after {ttft} ms, then {rate} tokens/s"


def tables(benchmark: Benchmark, llm: str) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
    """Title, headings and cells of the tables for one language model."""
    rows = [row for row in benchmark.rows if row.llm == llm]
    yield "", (*SOME, "ratio of p50"), [_latency(row, benchmark.ratio(row)) for row in rows]
    halves = [(row.variant, *both) for row in rows if (both := benchmark.by_fit(row))]
    if halves:
        yield "Speakers outside the fit", SOME, [[name, *_distribution(outside)] for name, outside, _ in halves]
        inside = [[name, *_distribution(inside)] for name, _, inside in halves]
        yield "Speakers that endpointing was fitted to", SOME, inside
    if finished := [[row.variant, *_distribution(words)] for row in rows if (words := benchmark.finished(row))]:
        yield "Recordings whose words are finished", SOME, finished
    yield "", ("agent", "turns", "answered", "cut off", "unanswered", "early"), [_turns(row) for row in rows]
    conduct = [
        [row.variant, f"{cut.in_pauses} of {cut.pauses}", str(cut.elsewhere), count(row.broken_off)]
        for row in rows
        for cut in [row.cut_offs]
    ]
    yield "", ("agent", "cut in pauses", "elsewhere", "broken off"), conduct
    if any(row.interruptions.planned for row in rows):
        headings = ("agent", "planned", "stopped", "ended", "ignored", "missed", "stop p50", "p95")
        yield "Barge-ins", headings, [_barge_ins(row) for row in rows]
    if any(any(row.sounds.values()) for row in rows):
        yield (
            "Backchannels, coughs and other sounds that must not interrupt",
            ("agent", "planned", "went on", "resumed", "stopped", "missed"),
            [[row.variant, *map(str, (sum(row.sounds.values()), *row.sounds.values()))] for row in rows],
        )
    yield "", ("agent", "requests", "wasted", "CPU s/min", "peak MB"), [_cost(row) for row in rows]
    if pieces := [_piece(row, found) for row in rows if (found := worth(benchmark, row))]:
        title = "What each part is worth: an agent of ours without the part, minus one with it"
        yield title, ("without", "n", "p50", "p95", "CPU s/min", "per ms"), pieces


def _latency(row: BenchmarkRow, ratio: Ratio | None) -> list[str]:
    name = f"{row.variant} (REFUSED)" if row.refused else row.variant
    compared = UNKNOWN if ratio is None else f"{ratio.value:.2f}" + _between(ratio.interval, "{:.2f}")
    return [name, *_distribution(row.turn_ms), compared]


def _distribution(found: Distribution) -> list[str]:
    p50 = statistic(found, "p50") + _between(found.p50_ci, "{:.0f}")
    return [str(found.total), p50, statistic(found, "p95") + _between(found.p95_ci, "{:.0f}")]


def _turns(row: BenchmarkRow) -> list[str]:
    tally = row.tally
    counts = (tally.turns, len(tally.latencies), len(tally.cut_off), len(tally.unanswered), tally.early)
    return [row.variant, *map(str, counts)]


def _barge_ins(row: BenchmarkRow) -> list[str]:
    found, stop = row.interruptions, row.interruptions.stop_ms
    counts = (found.planned, found.stopped, found.ended, found.ignored, found.missed + found.unplayed)
    return [row.variant, *map(str, counts), ms(stop.p50) + _between(stop.p50_ci, "{:.0f}"), ms(stop.p95)]


def _cost(row: BenchmarkRow) -> list[str]:
    asked = row.requests
    return [
        row.variant,
        UNKNOWN if asked is None else str(asked.n),
        percent(None if asked is None else asked.wasted_share),
        count(row.cpu_s_per_minute),
        ms(row.rss_peak_mb),
    ]


def _piece(row: BenchmarkRow, found: AblationEffect) -> list[str]:
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


def notes(benchmark: Benchmark) -> Iterator[str]:
    """The agents that are left out or refused, and the meaning of the rows and columns."""
    for name, why in benchmark.skipped.items():
        yield f"{name} is left out: {why}"
    for row in benchmark.rows:
        if row.refused:
            yield f"REFUSED: {row.variant} with {row.llm}: {row.refused}"
        if row.repeated:
            again = plural(row.repeated, "call")
            yield f"repeated, because the audio was not sent in real time: {again} of {row.variant} with {row.llm}"
    for name, about, settings in dict.fromkeys((row.variant, row.about, tuple(row.settings)) for row in benchmark.rows):
        yield f"{name}: {about}" + (f"; set: {', '.join(settings)}" if settings else "")
    yield (
        "p50, p95: turn latency, from the labelled end of speech to the answer's first audible sample, of warm turns "
        "that are no barge-ins (n: answered, or unanswered and so later than any limit); [...]: "
        f"{INTERVAL} % interval of {RESAMPLES} resamples that draw recordings, each with its repetitions"
    )
    yield f"ratio of p50: relative to {benchmark.baseline}, on the turns that both answered"
    if any(benchmark.finished(row) for row in benchmark.rows):
        yield f"words are finished: as {OURS} judged in most rounds; all agents are shown on these recordings"
    yield (
        "turns: answered, cut off (an answer was heard that was begun before the user had finished; no latency is "
        "counted) or unanswered; early: answered within 200 ms, sooner than people answer"
    )
    yield (
        "cut in pauses: labelled pauses that the agent took for the end of the turn; elsewhere: cut-offs at another "
        "place; broken off: answers that stopped although the user was silent"
    )
    if any(row.interruptions.planned for row in benchmark.rows):
        yield (
            "barge-ins: planned = stopped + ended (the agent came to its own end, so it has no stop time) + ignored "
            "(it talked on) + missed (it was silent); stop: milliseconds from the interruption until it is silent"
        )
    yield "requests: to the language model; wasted: share of requests beyond one for each answered turn"
    if any(worth(benchmark, row) for row in benchmark.rows):
        yield (
            "without: a + means slower, or more CPU time, without the part, on the turns that both answered; per ms: "
            "the part's cost in CPU ms for each answered turn and each ms of the median that it saves; - where it "
            "saves or costs nothing"
        )


def about_callers(callers: Callers) -> Iterator[str]:
    """The limits of the figures due to their callers."""
    yield f"Callers: {', '.join(_who(callers))}"
    if callers.at_once > 1:
        yield f"AT ONCE: {callers.at_once} callers on one server of each agent, each with all the turns"
    if callers.left_out:
        yield f"Left out: {plural(callers.left_out, 'turn')} by speakers that endpointing was fitted to"
    if callers.estimated:
        yield f"ESTIMATED: the end of speech was measured in {plural(callers.estimated, 'turn')} without labels"
    if callers.wordless:
        yield (
            f"SCRIPTED: the words of {plural(callers.wordless, 'turn')} are unknown; a scripted recogniser hears a "
            "placeholder"
        )


def _who(callers: Callers) -> Iterator[str]:
    known = len(callers.speakers)
    yield plural(callers.turns, "turn") + (f" by {plural(known, 'speaker')}" if known else "")
    if callers.synthetic:
        yield "all of them SYNTHESISERS" if callers.synthetic == known else f"{callers.synthetic} of them SYNTHESISERS"
    if known and len(callers.fitted) == known:
        yield "endpointing was FITTED to all of them" if known > 1 else "endpointing was FITTED to this one"
    elif callers.fitted:
        yield f"endpointing was FITTED to {len(callers.fitted)} of them"
    elif known:
        yield "endpointing was fitted to none of them"
    if callers.unnamed:
        yield f"{callers.unnamed if known else 'all'} by speakers that are not named"
