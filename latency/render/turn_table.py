"""One line for each turn of a run: its words, its answer, its latency, and remarks."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len, set_cell_size

from latency.budget import EARLY, LATE_FRAME_MS, TURN_LIMIT, UNEXPLAINED
from latency.judge.llm_budget import LlmVerdict
from latency.judge.turn import Outcome
from latency.render.numbers import UNKNOWN
from latency.report.explain import ENDS, ended_by, words
from latency.report.report import Report

Line = tuple[str, str]
"""Text and style."""
HEADINGS = ("turn", "heard", "said", "ms", "ended by", "ok?")
TEXTS, FIGURE = (1, 2), 3
"""Columns that may be shortened, and the one that is right-aligned."""
GAP, NARROW_GAP = "   ", "  "
LONGEST_TEXT = 26
SHORTEST_TEXT = 8
WIDE_FROM = 100
"""In narrower lines, texts are shortened so that no other column is cut."""
SHORTEST_REMARK = 20
"""The least room for a remark next to its turn; with less it is printed below."""
BELOW = 7
"""Characters by which such a remark is indented."""


def turn_table(report: Report, *, width: int) -> Iterator[Line]:
    """The turns of all sessions in order, below a heading.

    The table is drawn by hand, because rich takes seconds for a thousand turns. Remarks are wrapped at `width`.
    """
    rows: list[tuple[list[str], str, str]] = []
    for outcome, told in remarks(report):
        turn = outcome.turn
        cells = [
            report.name_of(turn.session, turn.turn),
            _one_line(turn.heard),
            _one_line(turn.said),
            UNKNOWN if outcome.latency is None else f"{outcome.latency * 1000:.0f}",
            ended_by(turn) or UNKNOWN,
            {True: "yes", False: "NO", None: ""}[outcome.right],
        ]
        is_late = outcome.latency is not None and outcome.latency > TURN_LIMIT
        style = "red" if outcome.unanswered or outcome.cut_off else "yellow" if is_late else ""
        rows.append((cells, told, style))
    gap = GAP if width >= WIDE_FROM else NARROW_GAP
    shown = [n for n in range(len(HEADINGS)) if _is_shown(report, n, [cells[n] for cells, _, _ in rows])]
    widths = _widths([cells for cells, _, _ in rows], width - len(gap) * (len(shown) - 1), shown)
    remarks_at = sum(widths.values()) + len(gap) * len(shown)
    below = width - remarks_at < SHORTEST_REMARK
    if below:
        remarks_at = BELOW
    yield f"{_joined(HEADINGS, widths, gap)}{'' if below else f'{gap}remarks'}".rstrip(), "bold"
    yield "─" * width, "dim"
    for cells, told, style in rows:
        more = textwrap.wrap(told, max(SHORTEST_REMARK, width - remarks_at))
        first = more.pop(0) if more and not below else ""
        yield f"{_joined(cells, widths, gap)}{gap}{first}".rstrip(), style
        yield from ((" " * remarks_at + line, style) for line in more)


BLANK = ' A blank in "ok?": no right answer is known, or too little of it was heard.'


def legend(report: Report) -> str:
    """The meaning of turn numbers, of the words in the column "ended by" and of a blank in "ok?"."""
    ends = dict.fromkeys(outcome.turn.ended_by for outcome in report.outcomes)
    meanings = [f"{words(end)} = {ENDS[end]}" for end in ends if end in ENDS]
    known = f" Ended by: {'; '.join(meanings)}." if meanings else ""
    first = next((o.turn.fixture for o in report.outcomes if o.turn.turn == 0 and o.turn.fixture), None)
    file = f" (turn 0 is {first})" if first else ""
    judged = {outcome.right is not None for outcome in report.outcomes}
    blank = BLANK if False in judged and (True in judged or not report.by_recording_alone) else ""
    return f"Turns count from 0{file}, as in `latency turn 3`.{known}{blank}"


def _is_shown(report: Report, column: int, cells: Sequence[str]) -> bool:
    """Whether a column is printed: of an agent that reports nothing, only a column that holds something."""
    return not report.by_recording_alone or column in (0, FIGURE) or not {"", UNKNOWN}.issuperset(cells)


def _widths(rows: Sequence[Sequence[str]], room: int, columns: Sequence[int]) -> dict[int, int]:
    """The width of each of the columns; texts are shortened if the table would exceed `room` characters."""
    widths = {n: max(cell_len(cells[n]) for cells in (HEADINGS, *rows)) for n in columns}
    others = sum(wide for n, wide in widths.items() if n not in TEXTS)
    longest = min(LONGEST_TEXT, max(SHORTEST_TEXT, (room - others) // len(TEXTS)))
    return {n: min(wide, longest) if n in TEXTS else wide for n, wide in widths.items()}


def _joined(cells: Sequence[str], widths: Mapping[int, int], gap: str) -> str:
    padded = []
    for n, wide in widths.items():
        cell = cells[n]
        shown = cell if cell_len(cell) <= wide else set_cell_size(cell, wide - 1).rstrip() + "…"
        pad = " " * (wide - cell_len(shown))
        padded.append(pad + shown if n == FIGURE else shown + pad)
    return gap.join(padded)


def _one_line(text: str | None) -> str:
    return UNKNOWN if text is None else " ".join(text.split())


def llm_remark(judged: LlmVerdict | None, *, usual: str | None) -> str | None:
    """The tier that spoke, and its lateness; None when the `usual` tier was in time, or without an LLM budget."""
    if judged is None or judged.policy is None:
        return None
    late, by = judged.lateness, f" by {judged.tier}" if judged.tier and judged.tier != usual else ""
    match judged.verdict:
        case "rescued":
            return f"rescued by {judged.tier}"
        case "bridged":
            return f"bridged: {' '.join(judged.phrases)} " + (f"(answer{by} {late} late)" if late else "(no answer)")
        case "missed":
            if not late:
                return "deadline missed: no answer text"
            return f"deadline missed by {late}" + (f" ({judged.tier})" if by else "")
        case _:
            return f"{judged.tier}: {judged.reason}" if by else None


def remarks(report: Report) -> Iterator[tuple[Outcome, str]]:
    """Every turn of a run with the remarks on it."""
    judged = {(turn.session, turn.turn): turn.judged for turn in report.llm.turns if turn.counted}
    # A reader expects the tier that the run asked first.
    usual = next((one.asked for one in judged.values() if one.asked), None)
    for outcome in report.outcomes:
        of_llm = llm_remark(judged.get((outcome.turn.session, outcome.turn.turn)), usual=usual)
        yield outcome, "; ".join([*_remarks(outcome), *([of_llm] if of_llm else [])])


def _remarks(outcome: Outcome) -> Iterator[str]:
    turn = outcome.turn
    if turn.marked_bad is not None:
        yield "MARKED as bad"
    if outcome.unanswered:
        yield f"UNANSWERED: {outcome.unanswered}" + (f" ({turn.failed.rstrip('.')})" if turn.failed else "")
    elif turn.failed:
        yield turn.failed
    if outcome.cut_off:
        yield "CUT OFF"
    if outcome.is_early:
        yield f"EARLY: within {EARLY * 1000:.0f} ms"
    if turn.barge_in:
        stop = outcome.barge_in_stop
        yield "barge-in" if stop is None else f"bot stopped in {stop * 1000:.0f} ms"
    if turn.backchannel:
        yield "backchannel"
    elif not turn.wants_answer:
        yield "wants no answer"
    if turn.cold:
        yield "cold"
    if turn.truth == "estimated":
        yield "end of speech estimated"
    if turn.late_ms_max is not None and turn.late_ms_max > LATE_FRAME_MS:
        yield f"audio sent {turn.late_ms_max:.0f} ms late"
    if turn.stalls:
        longest = max(turn.stalls, key=lambda stall: stall.ms)
        several = f"{len(turn.stalls)} stalls, longest {longest.ms:.0f} ms"
        yield several if turn.stalls[1:] else f"{longest.ms:.0f} ms stall"
    if outcome.residual is not None and outcome.residual > UNEXPLAINED:
        yield f"{outcome.residual * 1000:.0f} ms unexplained"
