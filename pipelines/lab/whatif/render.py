"""A finding for people: tables of at most 80 columns or a page, the formulas behind them, and the advice."""

from collections.abc import Callable, Iterator, Sequence

from latency.budget import NATURAL, TURN_LIMIT
from latency.command_line import WIDTH
from latency.page.results import Plot, Results, Section, Series, Table, in_one_line, styled
from latency.render.layout import LABEL, fitted, labelled
from latency.render.numbers import NEVER, UNKNOWN, ms
from pipelines.lab.whatif.advice import LONE
from pipelines.lab.whatif.finding import Finding, Window
from pipelines.lab.whatif.quality import VERIFYING_ASSUMED, VOTING_ASSUMED
from pipelines.lab.whatif.row import Row

INDENT = 2
LONG_NAME = 13
"""The most characters of a tier's name; a longer name stands above its figures."""
TIME = "Time in ms; answer text by the deadline in % of the turns"
TIMES = ("clause", "p95", "within", "rescued", "bridged", "missed", "stalls", "sound", "turn p50", "p95")
Line = tuple[str, list[str]]
"""A row's name and its figures."""


def text(finding: Finding) -> str:
    """The finding, in lines that end without blanks."""
    lines = [
        *_head(finding),
        "",
        *_windows(finding),
        "",
        *_time(finding),
        "",
        *_worth(finding),
        "",
        *_agreement(finding),
        *_notes(finding),
    ]
    return "\n".join(line.rstrip() for line in [*lines, "", _line("Advice", finding.advice)]) + "\n"


def page(finding: Finding) -> Results:
    """The finding as a page: its tables, and the policies by cost and latency."""
    title, _, *lines = _head(finding)
    simulated = f"SIMULATED, not real: {', '.join(finding.simulated)}"
    series: dict[str, list[Row]] = {}
    for row in finding.rows:
        series.setdefault(row.name, []).append(row)
    plot = Plot(
        title="Latency by cost: the 95th percentile of a turn",
        x="US dollars for 100 turns",
        y="turn latency, p95, ms",
        kind="dots",
        series=[dots for name, rows in series.items() if (dots := _dots(name, rows)).points],
        limits=(NATURAL * 1000, TURN_LIMIT * 1000),
        limits_on="y",
    )
    times = [(row.name, row.policy, *_times(row, stalls=True)) for row in finding.rows]
    gains = [(row.name, row.policy, *_gains(row)) for row in finding.rows]
    windows = [(window.tier, *_window(window)) for window in finding.windows]
    text = ("tier", "policy")
    sections = [
        Section(
            title="Policies",
            lines=[f"Advice: {finding.advice}"],
            plot=plot,
            tables=[
                Table(title=TIME, headings=(*text, *TIMES), rows=times, text=text),
                Table(title="Money and quality", headings=(*text, *_gains_headings(finding)), rows=gains, text=text),
            ],
        ),
        Section(
            title="Tiers",
            tables=[Table(title=_windows_title(finding), headings=("tier", *_windows_headings(finding)), rows=windows)],
        ),
    ]
    notes = [in_one_line(line) for line in _notes(finding)]
    return Results(title=title, head=styled([simulated, *map(in_one_line, lines)]), sections=sections, notes=notes)


def _dots(name: str, rows: Sequence[Row]) -> Series:
    known = [
        (_label(row), row.usd_per_100_turns, row.turn_p95_ms)
        for row in rows
        if row.usd_per_100_turns is not None and row.turn_p95_ms is not None
    ]
    return Series(name=name, points=[(usd, late) for _, usd, late in known], labels=[label for label, _, _ in known])


def _label(row: Row) -> str:
    """The model of a row, or the policy by which several were asked; the legend names their symbol."""
    return row.name.removeprefix("sim:") if row.policy == LONE else row.policy


def _head(finding: Finding) -> Iterator[str]:
    how = "on a virtual clock, without audio" if finding.mode == "fast" else "heard through the whole pipeline"
    turns = max((row.turns for row in finding.rows), default=0)
    yield f"What if: {turns:,} turns for each line, {how}"
    yield _line("SIMULATED", f"not real: {', '.join(finding.simulated)}")
    yield _line("Turns", finding.turns_source)
    stalls = "no request stalls"
    if finding.stalls:
        stalls = f"1 request in 100 stalls, {'together with others' if finding.correlated else 'on its own'}"
    yield _line("Latencies", f"preset {finding.preset}, seed {finding.seed}; {stalls}")


def _windows(finding: Finding) -> Iterator[str]:
    yield _windows_title(finding)
    headings = _windows_headings(finding)
    rows = [(window.tier, _window(window)) for window in finding.windows]
    if max((len(name) for name, _ in rows), default=0) > LONG_NAME:
        yield from _table("tier", headings, [(name, [("", cells)]) for name, cells in rows])
    else:
        yield from _table("tier", headings, [(None, rows)])


def _windows_title(finding: Finding) -> str:
    low, high = (f"{seconds * 1000:.0f}" for seconds in finding.window_seconds)
    return f"Tokens within {low} and {high} ms: if the first took no time, and really (median)"


def _windows_headings(finding: Finding) -> Sequence[str]:
    high = f"{finding.window_seconds[-1] * 1000:.0f}"
    return ("tokens/s", "first", "p95", "no wait", "really", f"any by {high}", "$ in/out", "right %")


def _window(window: Window) -> list[str]:
    price = UNKNOWN
    if window.usd_input is not None and window.usd_output is not None:
        price = f"{window.usd_input:g}/{window.usd_output:g}"
    return [
        f"{window.tokens_per_s:g}",
        ms(window.first_token_p50_ms),
        ms(window.first_token_p95_ms),
        _span(window.zero),
        _span(window.own),
        f"{window.any[-1] * 100:.0f} %",
        price,
        _share(window.quality),
    ]


def _time(finding: Finding) -> Iterator[str]:
    yield TIME
    headings = list(TIMES)
    if not any(row.calm_in_time is not None for row in finding.rows):
        headings.remove("stalls")
    yield from _table("policy", headings, _groups(finding.rows, lambda row: _times(row, stalls="stalls" in headings)))


def _groups(rows: Sequence[Row], cells: Callable[[Row], list[str]]) -> list[tuple[str | None, list[Line]]]:
    """The rows of a table, under the names of their tiers."""
    groups: dict[str | None, list[Line]] = {}
    for row in rows:
        groups.setdefault(row.name, []).append((row.policy, cells(row)))
    return list(groups.items())


def _times(row: Row, *, stalls: bool) -> list[str]:
    judged = row.within + row.rescued + row.bridged + row.missed
    counts = (row.within, row.rescued, row.bridged, row.missed)
    return [
        _latency(row.first_clause_p50_ms),
        _latency(row.first_clause_p95_ms),
        *(_share(count / judged if judged else None) for count in counts),
        *([_difference(row.in_time, row.calm_in_time)] if stalls else []),
        _latency(row.sound_p50_ms),
        _latency(row.turn_p50_ms),
        _latency(row.turn_p95_ms),
    ]


def _worth(finding: Finding) -> Iterator[str]:
    yield "Money and quality"
    yield from _table("policy", _gains_headings(finding), _groups(finding.rows, _gains))


def _gains_headings(finding: Finding) -> Sequence[str]:
    return ("requests", "by fast %", "$/100 turns", "right %", f"all {finding.chain} %", "s to correct")


def _gains(row: Row) -> list[str]:
    return [
        UNKNOWN if row.requests_per_turn is None else f"{row.requests_per_turn:.2f}",
        _share(row.by_fast if row.fast else None),
        UNKNOWN if row.usd_per_100_turns is None else f"{row.usd_per_100_turns:.3f}",
        _share(row.right),
        _share(row.chain),
        UNKNOWN if row.seconds_to_correct is None else f"{row.seconds_to_correct:.2f}",
    ]


def _agreement(finding: Finding) -> Iterator[str]:
    if finding.mode == "audio":
        yield "The same turns on the virtual clock (median turn latency, ms)"
        yield from _table("policy", ("heard", "same luck", "--fast"), _groups(finding.rows, _medians))
        yield ""


def _medians(row: Row) -> list[str]:
    return [_latency(row.turn_p50_ms), _latency(row.same_luck_p50_ms), _latency(row.fast_p50_ms)]


def _notes(finding: Finding) -> Iterator[str]:
    yield _line(
        "clause",
        "from the end of the turn to the first clause that can be spoken; 0: it was ready before. turn: from the end "
        "of speech to the first sound of the answer; sound: the same to any sound, a phrase or an opening (median).",
    )
    if any(row.calm_in_time is not None for row in finding.rows):
        yield _line("stalls", "what stalled requests change, in points of the share in time (within + rescued).")
    if finding.mode == "audio":
        yield _line(
            "same luck",
            "with requests that take as long as those that were heard; what differs is what the clock leaves out. "
            "--fast: many turns like these, with requests drawn as usual.",
        )
    yield _line("$", "all requests, including lost, repeated and speculative ones.")
    yield _line(
        "right",
        f"turns that get a right answer, weighted by who spoke (p); all {finding.chain}: p^{finding.chain}. "
        "s to correct: latency/p + (1/p - 1) * speech, as each mistake makes the caller say it again.",
    )
    if any(row.policy == "best_of" for row in finding.rows):
        yield _line("best_of", f"three candidates an answer, picked by majority. {VOTING_ASSUMED}")
    if any(row.policy == "draft_verify" for row in finding.rows):
        yield _line("draft_verify", f"the fast tier drafts, the large one verifies. {VERIFYING_ASSUMED}")
    for source in _sources(finding.windows):
        yield _line("Source", source)
    for note in finding.notes:
        yield _line("Note", note)


def _sources(windows: Sequence[Window]) -> Iterator[str]:
    for window in windows:
        parts = [f"first token {window.source}", f"rate {window.rate_source}"]
        parts += [f"price {window.price_source}"] if window.price_source else []
        parts += [f"right {window.quality_measure}"] if window.quality_measure else []
        yield f"{window.tier}: {'; '.join(parts)}"


def _table(
    first: str,
    headings: Sequence[str],
    groups: Sequence[tuple[str | None, Sequence[Line]]],
) -> Iterator[str]:
    """A table whose rows stand in groups, each under its name; figures are right-aligned and never cut."""
    rows = [row for _, group in groups for row in group]
    indent = INDENT if any(name for name, _ in groups) else 0
    widths = [
        max([len(heading), *(len(cells[place]) for _, cells in rows)]) + 1 for place, heading in enumerate(headings)
    ]
    name = max([len(first), *(len(label) + indent for label, _ in rows)])
    room = WIDTH - name - sum(widths)
    gap = 1 if room >= len(headings) else 0
    figures = [width + gap for width in widths]

    def line(label: str, cells: Sequence[str]) -> str:
        return f"{label:<{name}}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, figures, strict=True))

    yield line(first, headings)
    yield "─" * (name + sum(figures))
    for group, members in groups:
        if group:
            yield group
        for label, cells in members:
            # A name that is too long has a line of its own.
            if len(label) + indent > name:
                yield " " * indent + label
                label = ""
            yield line(" " * indent + label, cells)


def _line(label: str, words: str) -> str:
    return fitted(labelled(label, words), WIDTH, indent=LABEL)


def _span(values: Sequence[float]) -> str:
    return "-".join(f"{value:.0f}" for value in dict.fromkeys(values))


def _share(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share * 100:.1f}"


def _latency(value: float | None) -> str:
    return NEVER if value is None else ms(value)


def _difference(share: float | None, other: float | None) -> str:
    return UNKNOWN if share is None or other is None else f"{(share - other) * 100:+.1f}"
