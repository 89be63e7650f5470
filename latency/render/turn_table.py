"""Every turn of a run in a line: what was heard and said, how long it took, and what is to be remarked."""

from collections.abc import Iterator

from rich import box
from rich.table import Table

from latency.outcome import Outcome
from latency.render.histogram import TARGET_MS
from latency.render.numbers import UNKNOWN
from latency.report import RESIDUAL_FLAG_MS, Report
from latency.verdict import Judged

LONGEST_TEXT = 26


def turn_table(report: Report) -> Table:
    """The turns of all sessions, in order."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    several = len(report.sessions) > 1
    table.add_column("turn", no_wrap=True)
    for heading in ("heard", "said"):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", max_width=LONGEST_TEXT)
    table.add_column("ms", justify="right", no_wrap=True)
    table.add_column("ended by", no_wrap=True)
    table.add_column("right?", no_wrap=True)
    table.add_column("remarks")
    judged = {(turn.session, turn.turn): turn.judged for turn in report.llm.turns if turn.counted}
    # Whom the run began by asking is the one a reader expects to speak.
    usual = next((one.asked for one in judged.values() if one.asked), None)
    for outcome in report.outcomes:
        turn = outcome.turn
        late = outcome.latency is not None and outcome.latency * 1000 > TARGET_MS
        of_llm = llm_remark(judged.get((turn.session, turn.turn)), usual=usual)
        table.add_row(
            f"{turn.session} {turn.turn}" if several else str(turn.turn),
            turn.heard if turn.heard is not None else UNKNOWN,
            turn.said if turn.said is not None else UNKNOWN,
            UNKNOWN if outcome.latency is None else f"{outcome.latency * 1000:.0f}",
            (turn.ended_by or UNKNOWN).replace("_", " "),
            {True: "yes", False: "NO", None: ""}[outcome.right],
            "; ".join([*_remarks(outcome), *([of_llm] if of_llm else [])]),
            style="red" if outcome.unanswered or outcome.cut_off else "yellow" if late else None,
        )
    return table


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
    if outcome.residual is not None and outcome.residual * 1000 > RESIDUAL_FLAG_MS:
        yield f"{outcome.residual * 1000:.0f} ms unexplained"
