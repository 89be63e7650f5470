"""`voice tiers`: the catalogue as a table, or as JSON."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import msgspec

from latency.command_line import FINE, columns, folded
from pipelines.catalog.readiness import readiness
from voice.llm.catalog.catalog import load_catalog, user_file
from voice.llm.catalog.tier import CatalogTier

UNKNOWN = "-"
ASSUMED = "[A]"
"""The beginning of the source of an assumed figure."""
HEAD = ("tier", "tok/s", "first", "p95", "$ in/out", "right %", "here")
WIDTHS = (29, 6, 6, 6, 10, 9, 6)
"""Widths of the columns; the first is left-aligned."""
FIGURES = (
    "first, p95: ms to the first answer token, in voice dialogues; ~: assumed. $: for a million tokens, at the tier's "
    "speed."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A tier, and whether it can run here, as `--json` prints it."""

    tier: CatalogTier
    usd_input: float | None
    """US dollars for a million tokens, at the tier's speed."""
    usd_output: float | None
    ready: bool
    state: str
    """The model that was found, or the part that is missing."""


def run_tiers(own: Path | None, *, as_json: bool, sources: bool) -> int:
    """`voice tiers`: print the catalogue.

    Args:
        own: the user's catalogue; None for the one in the usual place.
        as_json: print one JSON object.
        sources: also print the source of each figure.

    Raises:
        ConfigurationError: the user's catalogue cannot be read.
    """
    lines = [_line(tier) for tier in load_catalog(own).tiers.values()]
    if as_json:
        print(msgspec.json.format(msgspec.json.encode({"tiers": lines}), indent=2).decode())
    else:
        print("\n".join(table(lines, sources=sources)))
    return FINE


def table(lines: list[Line], *, sources: bool) -> Iterator[str]:
    """The lines of the table."""
    yield _row(HEAD)
    yield "─" * columns()
    benchmarks: dict[str, str] = {}
    for line in lines:
        tier = line.tier
        if tier.quality:
            benchmarks.setdefault(tier.quality.benchmark, "" if not benchmarks else "*" * len(benchmarks))
        yield _row(_cells(line, benchmarks))
        yield folded(_details(line), first="  ", indent=2)
        if sources:
            yield from (folded(text, first="    ", indent=6) for text in _sources(tier))
    yield ""
    yield folded(FIGURES)
    for benchmark, mark in benchmarks.items():
        yield folded(f"right %{' with ' + mark if mark else ''}: {benchmark}.")
    yield folded(
        'A pipeline takes a tier with tier = "NAME" in a table such as [llm.large]; "sim:NAME" is its simulated twin, '
        f"which needs no key. Your own figures: {user_file()}" + ("." if sources else "; -v prints sources.")
    )


def _line(tier: CatalogTier) -> Line:
    price, state = tier.own_price, readiness(tier, today=date.today())
    return Line(
        tier=tier,
        usd_input=price.input if price else None,
        usd_output=price.output if price else None,
        ready=state.ready,
        state=state.text,
    )


def _row(cells: tuple[str, ...]) -> str:
    first, *others = cells
    return f"{first:<{WIDTHS[0]}}" + "".join(f"{cell:>{width}}" for cell, width in zip(others, WIDTHS[1:], strict=True))


def _cells(line: Line, marks: dict[str, str]) -> tuple[str, ...]:
    tier = line.tier
    return (
        tier.name,
        _figure(tier.rate.tokens_per_second, tier.rate.source) if tier.rate else UNKNOWN,
        _figure(tier.field.p50_ms, tier.field.source) if tier.field else UNKNOWN,
        _figure(tier.field.p95_ms, tier.field.source) if tier.field else UNKNOWN,
        UNKNOWN if line.usd_input is None else f"{line.usd_input:g}/{line.usd_output:g}",
        f"{100 * tier.quality.share:.1f}{marks[tier.quality.benchmark]}" if tier.quality else UNKNOWN,
        "yes" if line.ready else "no",
    )


def _figure(number: float, source: str) -> str:
    return f"{'~' if source.startswith(ASSUMED) else ''}{number:.0f}"


def _details(line: Line) -> str:
    tier = line.tier
    settings = [
        f"{tier.model} at {tier.provider}" if tier.wire != "rules" else "rules, no language model",
        tier.wire if tier.wire != "rules" else None,
        f"speed {tier.speed}" if tier.speed else None,
        f"effort {tier.effort}" if tier.effort else None,
        f"also sim:{tier.sim}" if tier.sim else None,
    ]
    return f"{', '.join(filter(None, settings))}; {line.state}"


def _sources(tier: CatalogTier) -> Iterator[str]:
    if tier.rate:
        yield f"tok/s: {tier.rate.source}"
    if tier.field:
        yield f"first: {tier.field.source}"
    if tier.optimistic:
        yield f"first, optimistic: {tier.optimistic.p50_ms:g}/{tier.optimistic.p95_ms:g} ms: {tier.optimistic.source}"
    if tier.price:
        yield f"price: {tier.price.source}"
    if tier.quality:
        yield f"right: {tier.quality.benchmark}: {tier.quality.source}"
