"""One turn for people: the reasons for its latency, its waterfall, its words, and every model request."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from latency.judge.turn import Outcome
from latency.record.requests import Tokens
from latency.record.turn import CheckOutcome, CheckRecord, TurnRecord
from latency.render.bars import bars
from latency.render.layout import console_for, fitted, table
from latency.render.numbers import UNKNOWN, ms, usd
from latency.report.explain import explain
from latency.report.llm.cost import turn_cost
from latency.report.llm.requests import attempts_of, outcome_of, provider_remarks, speed_of
from latency.report.waterfall import Waterfall

COST, LAST = "cost", "model and outcome"
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
    """Write everything known about a turn to a text stream; colours only when it is a terminal.

    Args:
        waterfall: None for a turn without speech.
        llm_budget: Seconds, for a turn whose deadline is not on record.
        notes: Further remarks for the reader.
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
        console.print("There is no waterfall: the turn has no speech, and so no end of speech to count from.")
    else:
        for row, line in bars(waterfall, width=console.width):
            style = "dim" if row is None else "red" if row.note.startswith("failed") else _STYLES[row.group]
            console.print(Text(line, style=style), no_wrap=True, overflow="crop")
    console.print()
    for label, text in transcript(outcome):
        console.print(fitted(f"{label:<9} {text}", console.width, indent=10))
    _attempt_table(console, outcome)


def transcript(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """The words of a turn and findings on them, each with its label."""
    turn = outcome.turn
    for label, text in (("text", turn.text), ("heard", turn.heard), ("said", turn.said)):
        yield label, UNKNOWN if text is None else text
    if (played := " ".join(one.played for one in turn.server_turns if one.played)) and played != turn.said:
        yield "played", played
    for check in (check for one in turn.server_turns for check in one.checks):
        yield "checked", check_told(check)
    for part in (one.part for one in turn.server_turns if one.part):
        asks = ", after which the caller was asked whether to go on" if part.asks else ""
        yield "part", f"{part.number} of a long answer{asks}"
    for answer in turn.responses:
        if answer.repaired:
            yield "repair", f"{answer.repaired} (takes back what was said before)"
        if verified := answer.verification:
            fault = f": {verified.fault}" if verified.fault else ""
            yield "draft", f"{verified.outcome}; {verified.why}{fault}"
        if vote := answer.vote:
            unfit = "".join(f"; not used: {why}" for why in vote.dismissed)
            yield (
                "picked",
                f"{vote.agreeing} of {vote.candidates} candidates agree, {vote.there} whole in time: {vote.why}{unfit}",
            )
        if answer.forgotten:
            yield "forgotten", f"{answer.forgotten} earlier turns of the call, which its requests no longer contained"
    if turn.contains:
        verdict = {True: "yes", False: "NO", None: "unknown"}[outcome.right]
        yield "answer ok", f"{verdict}; a right answer contains " + ", ".join(f'"{words}"' for words in turn.contains)
    remarks = [
        ("marked as bad", turn.marked_bad is not None),
        ("cut off", outcome.cut_off),
        ("early", outcome.is_early),
        ("interrupted", turn.interrupted),
        ("barge-in", turn.barge_in),
    ]
    if said := [name for name, holds in remarks if holds]:
        yield "remarks", ", ".join(said)
    if turn.failed:
        yield "failed", turn.failed


_CHECKED: dict[CheckOutcome, str] = {
    "same": "a second pass heard the same",
    "changed": "a second pass heard other words",
    "late": "the second pass was too late, and its words were not used",
    "shed": "the second pass gave way to other passes",
    "withdrawn": "the second pass was not needed any more",
    "failed": "the second pass failed, so the words of the first stand",
}


def check_told(check: CheckRecord) -> str:
    """A check of the words in one sentence."""
    changed = f": “{check.before or ''}” became “{check.after or ''}”" if check.outcome == "changed" else ""
    took = "" if check.seconds is None else f"; it took {ms(check.seconds * 1000)} ms"
    held = "" if check.held_ms is None else f", and the answer waited {ms(check.held_ms)} ms for it"
    return f"{_CHECKED[check.outcome]}{changed}{took}{held}"


def _attempt_table(console: Console, outcome: Outcome) -> None:
    headings, rows = requests(outcome.turn)
    if not rows:
        return
    console.print()
    console.print(table(headings, rows, text=(headings[0], headings[-1])))
    console.print(units(headings), style="dim")
    if cost := cost_told(outcome.turn):
        console.print(fitted(f"cost      {cost}", console.width, indent=10))


def units(headings: Sequence[str]) -> str:
    """The meaning of the columns of `requests`."""
    return (
        "ms: asked after the end of speech; first token, first clause and end after the request. "
        f"in, out: tokens{', cost: US dollars' if COST in headings else ''}, ~ estimated"
    )


def requests(turn: TurnRecord) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The requests of a turn to language models as a table: its headings and rows."""
    attempts, zero = attempts_of(turn), turn.end
    priced = any(attempt.usd is not None for attempt in attempts)
    headings = ("tier", "asked", "token", "clause", "end", "in", "out", *([COST] if priced else []), LAST)

    def since(at: float | None, start: float | None) -> str:
        return ms(None if at is None or start is None else (at - start) * 1000)

    rows = []
    for attempt in attempts:
        tokens, request = attempt.tokens or Tokens(), attempt.request
        guessed = "~" if tokens.estimated else ""
        counts = [UNKNOWN if count is None else f"{guessed}{count}" for count in (tokens.prompt, tokens.completion)]
        speed = f" ({speed})" if (speed := speed_of(attempt)) else ""
        model = f"{attempt.model}{speed}: " if attempt.model else ""
        rows.append(
            (
                attempt.tier or UNKNOWN,
                since(request, zero),
                *(since(at, request) for at in (attempt.first_token, attempt.first_clause, attempt.end)),
                *counts,
                *([f"{'~' if attempt.is_usd_estimated else ''}{usd(attempt.usd)}"] if priced else []),
                "; ".join([f"{model}{outcome_of(attempt)}", *provider_remarks(attempt)]),
            )
        )
    return headings, rows


def cost_told(turn: TurnRecord) -> str | None:
    """The cost of a turn's requests; None if it is unknown."""
    spent = turn_cost(turn)
    if spent.usd is None:
        return None
    parts = ((name, getattr(spent, name)) for name in ("losers", "speculation", "estimated", "simulated"))
    told = ", ".join(f"{name} {usd(amount)}" for name, amount in parts if amount)
    return f"{usd(spent.usd)}{f', of which {told}' if told else ''}"
