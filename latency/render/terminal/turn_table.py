"""Every turn of a run in a line: what was heard and said, how long it took, and what is to be remarked."""

import textwrap
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from latency.judge.outcome import Outcome
from latency.judge.verdict import Judged
from latency.render.terminal.histogram import TARGET_MS
from latency.render.terminal.numbers import UNKNOWN
from latency.report.report import LATE_FLAG_MS, RESIDUAL_FLAG_MS, Report

Line = tuple[str, str]
"""Text and style."""
HEADINGS = ("turn", "heard", "said", "ms", "ended by", "right?")
GAP = "   "
LONGEST_TEXT = 26
SHORTEST_TEXT = 8
ROOMY = 100
"""Characters of a line below which texts give way, so that what stands behind them is not cut."""
SHORTEST_REMARK = 20
"""Characters a remark needs beside its turn; with fewer it is told below."""
BELOW = 7
"""Characters by which such a remark is indented."""


def turn_table(report: Report, *, width: int, ascii_only: bool = False) -> Iterator[Line]:
    """The turns of all sessions in order, below a heading.

    Drawn by hand: a table of rich takes seconds for a thousand turns.

    Args:
        report: The run.
        width: Characters in a line; remarks are wrapped at it.
        ascii_only: Draw with ASCII characters.
    """
    several = len(report.sessions) > 1
    judged = {(turn.session, turn.turn): turn.judged for turn in report.llm.turns if turn.counted}
    longest = max(SHORTEST_TEXT, LONGEST_TEXT - max(0, ROOMY - width) // 2)
    # Whom the run began by asking is the one a reader expects to speak.
    usual = next((one.asked for one in judged.values() if one.asked), None)
    rows: list[tuple[list[str], str, str]] = []
    for outcome in report.outcomes:
        turn = outcome.turn
        of_llm = llm_remark(judged.get((turn.session, turn.turn)), usual=usual)
        cells = [
            f"{turn.session} {turn.turn}" if several else str(turn.turn),
            _cut(turn.heard, longest, ascii_only),
            _cut(turn.said, longest, ascii_only),
            UNKNOWN if outcome.latency is None else f"{outcome.latency * 1000:.0f}",
            (turn.ended_by or UNKNOWN).replace("_", " "),
            {True: "yes", False: "NO", None: ""}[outcome.right],
        ]
        rows.append((cells, "; ".join([*_remarks(outcome), *([of_llm] if of_llm else [])]), _style(outcome)))
    widths = [max(cell_len(cells[n]) for cells in (HEADINGS, *(row for row, _, _ in rows))) for n in range(6)]
    remarks_at = sum(widths) + len(GAP) * 6
    below = width - remarks_at < SHORTEST_REMARK
    if below:
        remarks_at = BELOW
    yield f"{_joined(HEADINGS, widths)}{'' if below else f'{GAP}remarks'}", "bold"
    yield ("-" if ascii_only else "─") * width, "dim"
    for cells, remarks, style in rows:
        more = textwrap.wrap(remarks, max(SHORTEST_REMARK, width - remarks_at))
        first = more.pop(0) if more and not below else ""
        yield f"{_joined(cells, widths)}{GAP}{first}".rstrip(), style
        yield from ((" " * remarks_at + line, style) for line in more)


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (" " * (wide - cell_len(cell)) for cell, wide in zip(cells, widths, strict=True))
    # Numbers stand one below the other.
    return GAP.join(
        pad + cell if n == 3 else cell + pad for n, (cell, pad) in enumerate(zip(cells, padded, strict=True))
    )


def _cut(text: str | None, longest: int, ascii_only: bool) -> str:
    if text is None:
        return UNKNOWN
    line, dots = " ".join(text.split()), "..." if ascii_only else "…"
    return line if cell_len(line) <= longest else set_cell_size(line, longest - len(dots)).rstrip() + dots


def _style(outcome: Outcome) -> str:
    if outcome.unanswered or outcome.cut_off:
        return "red"
    return "yellow" if outcome.latency is not None and outcome.latency * 1000 > TARGET_MS else ""


def llm_remark(judged: Judged | None, *, usual: str | None) -> str | None:
    """Who spoke and whether in time; None where the `usual` tier did, and for a language model without a budget."""
    if judged is None or judged.policy is None:
        return None
    late, by = judged.lateness, f" by {judged.tier}" if judged.tier and judged.tier != usual else ""
    match judged.verdict:
        case "rescued":
            return f"rescued by {judged.tier}"
        case "bridged":
            return f"bridged: {' '.join(judged.phrases)} " + (f"(answer{by} {late} late)" if late else "(no answer)")
        case "missed":
            return f"missed by {late}" + (f" ({judged.tier})" if by else "") if late else "missed: no answer text"
        case _:
            return f"{judged.tier}: {judged.reason}" if by else None


def _remarks(outcome: Outcome) -> Iterator[str]:
    turn = outcome.turn
    if outcome.unanswered:
        yield f"UNANSWERED: {outcome.unanswered}" + (f" ({turn.failed})" if turn.failed else "")
    elif turn.failed:
        yield turn.failed
    if outcome.cut_off:
        yield "CUT OFF"
    if turn.barge_in:
        stop = outcome.barge_in_stop
        yield "barge-in" if stop is None else f"stopped in {stop * 1000:.0f} ms"
    if turn.backchannel:
        yield "backchannel"
    elif not turn.wants_answer:
        yield "wants no answer"
    if turn.cold:
        yield "cold"
    if turn.truth == "estimated":
        yield "end of speech estimated"
    if turn.late_ms_max is not None and turn.late_ms_max > LATE_FLAG_MS:
        yield f"fed {turn.late_ms_max:.0f} ms late"
    if turn.stalls:
        longest = max(turn.stalls, key=lambda stall: stall.ms)
        yield (
            f"{len(turn.stalls)} stalls, longest {longest.ms:.0f} ms"
            if turn.stalls[1:]
            else f"{longest.ms:.0f} ms stall"
        )
    if outcome.residual is not None and outcome.residual * 1000 > RESIDUAL_FLAG_MS:
        yield f"{outcome.residual * 1000:.0f} ms unexplained"
