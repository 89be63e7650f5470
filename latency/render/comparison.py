"""Two runs compared, for people and for programs."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from latency.budget import INTERVAL_NEEDS
from latency.compare.comparison import Comparison
from latency.compare.difference import FEWEST_CALLS, MATTERS, Change, Durations, Share
from latency.record.json_form import to_json as as_builtins
from latency.render.headline import HEADLINE
from latency.render.layout import console_for, fitted, table
from latency.render.numbers import NEVER, UNKNOWN, decimal, ms, percent, plural
from latency.report.report import Report
from latency.report.stats import INTERVAL, RESAMPLES

SCHEMA = 1
"""Version of the comparison's JSON."""
WIDE_FROM = 100
"""In narrower lines, the intervals of p95 are left out."""
LISTED = 8
"""The most conversations and changed settings in the text; the JSON holds all."""
LONGEST = 110
"""Characters of a changed setting."""
SHARES = {
    "answers_ok": "right answers",
    "wer": "word error rate",
    "cut_offs": "cut off",
    "unanswered": "unanswered",
    "eva": "EVA's curve, 0 to 1",
}
QUALITY = {"answers_ok": -1, "wer": 1, "cut_offs": 1, "unanswered": 1}
"""The shares that a faster run must not worsen, and the sign of a change for the worse."""
STYLES = {"faster": "bold green", "slower": "bold red", "not enough to tell": "bold yellow"}


def write(found: Comparison, file: TextIO) -> None:
    """Write the comparison to a text stream; colours only when it is a terminal.

    Without an interval the reason, which is an error then, is left to the caller.
    """
    console = console_for(file)
    for line, style in headline(found):
        if not has_interval(found) and line == sentence(found):
            continue
        console.print(fitted(line, console.width, indent=HEADLINE), style=style, soft_wrap=True)
    console.print()
    for headings, rows in tables(found, is_wide=console.width >= WIDE_FROM):
        console.print(table(headings, rows, text=headings[:1]))
        console.print()
    for line in notes(found):
        console.print(fitted(line, console.width, indent=HEADLINE), style="dim")


def tables(found: Comparison, *, is_wide: bool) -> Iterator[tuple[list[str], list[tuple[str, ...]]]]:
    """Headings and rows of each table; the first column is text."""
    for title, durations in _durations(found):
        headings = [f"{title}, ms", "n", "p50 A", "B", "B - A", "p95 A", "B", "B - A"]
        yield headings, [_row(name, one, is_wide=is_wide) for name, one in durations.items()]
    if found.shares:
        headings = ["share of turns or words", "n", "A", "B", "B - A"]
        yield headings, [_share_row(name, found.shares[name]) for name in SHARES if name in found.shares]


def notes(found: Comparison) -> Iterator[str]:
    """The turns left out, the settings that differ, and the method, a line each."""
    yield from _left_out(found)
    yield from _changes(found)
    yield from _method(found)


def has_interval(found: Comparison) -> bool:
    """Whether enough turns are paired for an interval, without which there is no verdict."""
    return found.turn is not None and found.turn.turn.interval is not None


def sentence(found: Comparison) -> str:
    """The verdict in one sentence."""
    turn = found.turn
    if turn is None:
        return "Not enough to tell: no turn has a latency in both runs"
    if turn.turn.interval is None:
        return (
            f"Not enough to tell: {plural(turn.n, 'turn')} {'has' if turn.n == 1 else 'have'} a latency in both runs, "
            "and an interval needs "
            f"{INTERVAL_NEEDS}; replay more (--repeat)"
        )
    drawn = f"{plural(turn.n, 'turn')}, resampled by {(turn.drawn or '').removesuffix('s')}"
    change = f"a turn takes {_longer(turn.turn.value)} in B ({INTERVAL} % interval {_between(turn.turn)} ms, {drawn})"
    if math.isinf(turn.turn.value):
        alone = "B" if turn.turn.value > 0 else "A"
        change = f"more than a fifth of the turns are unanswered in {alone} alone ({drawn})"
    if found.verdict != "not enough to tell":
        return f"{found.verdict.capitalize()}: {change}"
    if found.more:
        end = f"about {_rounded(found.more)} more turns would be"
    elif found.more == 0:
        end = f"more would hardly help, as {MATTERS * 100:g} % ({MATTERS * turn.p50[0]:.0f} ms) would have been found"
    else:
        end = "because of the unanswered turns, it is unknown how many more would be"
    return f"Not enough to tell; {end}: {change}"


def text(found: Comparison) -> str:
    """The comparison as indented JSON text."""
    return json.dumps(to_json(found), indent=2, ensure_ascii=False)


def to_json(found: Comparison) -> dict[str, Any]:
    """The comparison as one JSON object; a figure that rests on unanswered turns is null."""
    pairing = found.pairing
    content = {
        "schema": SCHEMA,
        "verdict": found.verdict,
        "sentence": sentence(found),
        "more_turns": found.more,
        "a": _run(found.a),
        "b": _run(found.b),
        "paired": len(pairing.pairs),
        "apart": found.apart,
        "only_a": pairing.only_a,
        "only_b": pairing.only_b,
        "other_recordings": pairing.changed,
        "turn_ms": found.turn,
        "answer_ms": found.answer,
        "stages_ms": found.stages,
        "tiers_ms": found.tiers,
        "conversations_ms": found.conversations,
        "shares": found.shares,
        "warnings": found.warnings,
        "changes": found.changes,
        "method": f"{INTERVAL} % bootstrap intervals, {RESAMPLES} resamples of groups",
    }
    finite: dict[str, Any] = _finite(as_builtins(content))
    return finite


def _run(report: Report) -> dict[str, Any]:
    header = report.header
    return {"run": report.run, "created": header.created, "commit": header.commit, "simulated": report.simulated}


def _finite(value: Any) -> Any:
    match value:
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
        case float() if math.isinf(value):
            return None
    return value


def headline(found: Comparison) -> Iterator[tuple[str, str]]:
    """The runs, the verdict and doubts about it: lines and their styles."""
    for label, report in (("Compared    A", found.a), ("            B", found.b)):
        commit = f", commit {report.header.commit}" if report.header.commit else ""
        yield f"{label:<{HEADLINE}}{report.run} ({report.header.created}{commit})", "bold"
    for warning in found.warnings:
        yield f"{'note':<{HEADLINE}}{warning}", "yellow"
    yield "", ""
    yield sentence(found), STYLES[found.verdict]
    for name, share in found.shares.items():
        if found.verdict == "faster" and share.change.value * QUALITY.get(name, 0) > 0:
            levels = f"{_level(name, share.a)} in A, {_level(name, share.b)} in B"
            yield f"{'But':<{HEADLINE}}{SHARES[name]}: {levels}", "yellow"
    if len({one.place.call for one in found.pairing.pairs}) < FEWEST_CALLS:
        advice = "repeat the calls (--repeat 3)"
        if not all("--ab" in one.header.command for one in (found.a, found.b)):
            advice += ", or let them alternate (`voice replay --ab`)"
        few = f"with fewer than {FEWEST_CALLS} calls, a drift of the machine looks like a change"
        yield f"{'note':<{HEADLINE}}{few}; {advice}", "yellow"


def _durations(found: Comparison) -> Iterator[tuple[str, Mapping[str, Durations]]]:
    """Title and rows of the tables of durations."""
    whole = {"turn": found.turn, "answer": found.answer if found.answer != found.turn else None}
    latencies = {name: one for name, one in whole.items() if one is not None}
    if len(found.tiers) > 1:
        latencies |= {f"  by {name}": one for name, one in found.tiers.items()}
    if len(found.conversations) > 1:
        most = sorted(found.conversations.items(), key=lambda item: -abs(item[1].turn.value))[:LISTED]
        latencies |= {f"  in {name}": one for name, one in most}
    if latencies:
        yield "latency", latencies
    if found.stages:
        yield "stage", {name.replace("_", " "): one for name, one in found.stages.items()}


def _row(name: str, one: Durations, *, is_wide: bool) -> tuple[str, ...]:
    p95: tuple[str, ...] = (UNKNOWN,) * 3
    if one.p95 is not None and one.p95_change is not None:
        p95 = (*map(_ms, one.p95), _with_interval(one.p95_change) if is_wide else _signed(one.p95_change.value))
    return name, str(one.n), *map(_ms, one.p50), _with_interval(one.p50_change), *p95


def _share_row(name: str, share: Share) -> tuple[str, ...]:
    scale, form = (1, "{:+.2f}") if name == "eva" else (100, "{:+.1f}")
    ends = share.change.interval
    interval = "" if ends is None else f" [{', '.join(form.format(end * scale) for end in ends)}]"
    change = form.format(share.change.value * scale) + interval
    return SHARES[name], str(share.n), _level(name, share.a), _level(name, share.b), change


def _level(name: str, value: float) -> str:
    return decimal(value) if name == "eva" else percent(value)


def _ms(value: float) -> str:
    return NEVER if math.isinf(value) else ms(value)


def _signed(value: float) -> str:
    return ("+" if value > 0 else "-") + NEVER if math.isinf(value) else f"{value:+.0f}"


def _with_interval(change: Change) -> str:
    ends = change.interval
    return _signed(change.value) + ("" if ends is None else f" [{_signed(ends[0])}, {_signed(ends[1])}]")


def _between(change: Change) -> str:
    low, high = change.interval or (change.value, change.value)
    return f"{_signed(low)} to {_signed(high)}"


def _longer(value: float) -> str:
    return f"{abs(value):.0f} ms {'longer' if value > 0 else 'less'}"


def _rounded(turns: int) -> int:
    """A number of turns to two digits, upwards."""
    unit = int(10 ** max(0, len(str(turns)) - 2))
    return math.ceil(turns / unit) * unit


def _left_out(found: Comparison) -> Iterator[str]:
    pairing = found.pairing
    yield f"{'paired':<{HEADLINE}}{plural(len(pairing.pairs), 'turn')} of both runs" + "".join(
        f"; {number} {reason}" for reason, number in found.apart.items()
    )
    for what, left in (("only in A", pairing.only_a), ("only in B", pairing.only_b), ("not the same", pairing.changed)):
        if left:
            why = " (another recording, or spoken live)" if left is pairing.changed else ""
            yield f"{what:<{HEADLINE}}" + ", ".join(f"{name} {plural(n, 'turn')}" for name, n in left.items()) + why


def _changes(found: Comparison) -> Iterator[str]:
    for change in found.changes[:LISTED]:
        yield f"{'changed':<{HEADLINE}}{change if len(change) <= LONGEST else f'{change[: LONGEST - 1]}…'}"
    if (more := len(found.changes) - LISTED) > 0:
        yield f"{'changed':<{HEADLINE}}and {more} more (--json)"


def _method(found: Comparison) -> Iterator[str]:
    yield (
        "The verdict rests on the mean of the turns' changes, without the lowest and the highest fifth of them. "
        "Latencies are "
        "those of warm turns that are no barge-ins and were cut off in neither run; an unanswered turn is later than "
        f"any. [...]: {INTERVAL} % intervals of {RESAMPLES} resamples that draw all turns of a speaker, call or "
        "recording together."
    )
