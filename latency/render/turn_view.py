"""One turn for people: why it took as long as it did, its waterfall, what was said, and every model that was asked."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from latency.judge.explain import explain
from latency.judge.outcome import Outcome
from latency.render.bars import bars
from latency.render.terminal.console import console_for, is_unicode
from latency.render.terminal.numbers import UNKNOWN, ms
from latency.report.waterfall import Row, Waterfall, attempts_of, outcome_of

_STYLES = {"speech": "green", "stage": "cyan", "model": "yellow", "stall": "magenta"}


def write_turn(
    outcome: Outcome,
    waterfall: Waterfall | None,
    file: TextIO,
    *,
    run: str,
    simulated: Sequence[str],
    llm_budget: float,
    notes: Sequence[str] = (),
) -> None:
    """Write all that is known of a turn to a text stream; colours only when it is a terminal.

    Args:
        outcome: The turn and what the recording says of it.
        waterfall: None for a turn without speech.
        file: Where to.
        run: The run's folder.
        simulated: Components of the run that only pretend.
        llm_budget: Seconds, for a turn whose deadline is not on record.
        notes: What else a reader has to know.
    """
    console, turn = console_for(file), outcome.turn
    console.print(f"{run}: turn {turn.turn} of session {turn.session}", style="bold", soft_wrap=True)
    if simulated:
        console.print(f"SIMULATED, not real: {', '.join(simulated)}", style="bold magenta")
    for note in notes:
        console.print(f"note: {note}", style="yellow")
    console.print(explain(outcome, llm_budget=llm_budget), style="bold")
    console.print()
    if waterfall is None:
        console.print("There is no waterfall: the turn has no speech whose end time could be counted from.")
    else:
        for row, line in bars(waterfall, width=console.width, ascii_only=not is_unicode(file)):
            console.print(Text(line, style=_style(row)), no_wrap=True, overflow="crop")
    console.print()
    for label, text in _transcript(outcome):
        console.print(f"{label:<9} {text}")
    _attempt_table(console, outcome)


def _style(row: Row | None) -> str:
    if row is None:
        return "dim"
    return "red" if row.note.startswith("failed") else _STYLES[row.group]


def _transcript(outcome: Outcome) -> Iterator[tuple[str, str]]:
    turn = outcome.turn
    yield "text", turn.text if turn.text is not None else UNKNOWN
    yield "heard", turn.heard if turn.heard is not None else UNKNOWN
    yield "said", turn.said if turn.said is not None else UNKNOWN
    if turn.contains:
        verdict = {True: "yes", False: "NO", None: "unknown"}[outcome.right]
        yield "right", f"{verdict}; a right answer contains " + ", ".join(f'"{words}"' for words in turn.contains)
    remarks = [("cut off", outcome.cut_off), ("interrupted", turn.interrupted), ("barge-in", turn.barge_in)]
    if said := [name for name, holds in remarks if holds]:
        yield "remarks", ", ".join(said)
    if turn.failed:
        yield "failed", turn.failed


def _attempt_table(console: Console, outcome: Outcome) -> None:
    turn, zero = outcome.turn, outcome.turn.end
    attempts = attempts_of(turn)
    if not attempts:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("tier", "model"):
        table.add_column(heading)
    for heading in ("asked at, ms", "first token", "first clause", "end", "tokens in", "out"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what became of it")

    def since(at: float | None, start: float | None) -> str:
        return ms(None if at is None or start is None else (at - start) * 1000)

    for attempt in attempts:
        tokens, request = attempt.get("tokens") or {}, attempt.get("request")
        guessed = "~" if tokens.get("estimated") else ""
        counts = [UNKNOWN if tokens.get(key) is None else f"{guessed}{tokens[key]}" for key in ("in", "out")]
        table.add_row(
            str(attempt.get("tier") or UNKNOWN),
            str(attempt.get("model") or UNKNOWN),
            since(request, zero),
            *(since(attempt.get(key), request) for key in ("first_token", "first_clause", "end")),
            *counts,
            outcome_of(attempt),
        )
    console.print(table)
    console.print("asked at: after the end of speech; the other times: after the request; ~ estimated", style="dim")
