"""A run as its page shows it: texts, figures and times only, derived from the report and the recordings.

Nothing that is absent or empty takes room in the file.

Times are whole milliseconds; those of a turn count from the true end of the user's speech.
"""

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Literal
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from latency.audio.recording import RATE
from latency.budget import NATURAL, TURN_LIMIT
from latency.judge.llm_budget import LlmVerdict
from latency.judge.session import SessionOutcome
from latency.judge.turn import LOST, Outcome
from latency.record.session import Session
from latency.render.bars import KINDS
from latency.render.headline import doubts, further, turn_latency
from latency.render.layout import LABEL
from latency.render.method import conditions, method
from latency.render.numbers import UNKNOWN, ms, plural, statistic
from latency.render.turn_table import remarks
from latency.render.turn_view import cost_told, requests, transcript, units
from latency.report.critical_path import OF_THE_MODEL, Period
from latency.report.explain import explain
from latency.report.report import Report
from latency.report.stats import Interval
from latency.report.waterfall import Kind, Waterfall, WaterfallRow, stretch_of, waterfall

Recording = npt.NDArray[np.int16]
"""Both sides of a session: int16, shape (samples, 2), at `RATE`."""
Recordings = Callable[[Session], Recording | None]
"""Reads a session's recording; None when there is none."""

PEAKS = 240
"""Columns of a waveform."""
GROUPS: Mapping[str, str] = {
    **dict.fromkeys(("endpointing_wait", "transcription", "turn_detection"), "turn end"),
    **dict.fromkeys((*OF_THE_MODEL, "tool"), "model"),
    "speech_synthesis": "voice",
    **dict.fromkeys(("output_transport", "playout"), "way"),
    "pipeline": "unexplained",
}
"""The part of the agent that a stage belongs to, by the stage's key; the page has a colour for each part."""
_GROUPS = {key.replace("_", " "): group for key, group in GROUPS.items()}


class Figure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A figure of the headline."""

    name: str
    value: str
    unit: str = ""
    note: str = ""
    state: Literal["", "late", "refused"] = ""
    """Whether it misses its limit, or cannot be trusted."""


class Row(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of a turn's waterfall."""

    label: str
    group: str
    """That of `GROUPS` for a stage; "user", "bot", "request" or "stall"."""
    bars: tuple[tuple[int, int, str], ...]
    """(start, end, kind)."""
    took: int | None = None
    waited: int | None = None
    note: str = ""


class Sound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The loudness of both sides from before the user's speech to after the answer."""

    start: int
    end: int
    user: str
    """The peak of each column, a byte each, in base64."""
    bot: str


class Turn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn."""

    id: str
    """The fragment of its permanent link."""
    session: str
    number: int
    ms: float | None = None
    shown: str = ""
    """`ms` in whole milliseconds, rounded as in the headline."""
    counts: bool = False
    """Whether it counts in the headline's latencies, as one without an answer does."""
    verdicts: tuple[str, ...]
    """The first compares its latency with 400 and 800 ms, or says why it has none."""
    tier: str = ""
    cold: bool = False
    heard: str = ""
    said: str = ""
    remarks: str = ""
    why: str
    words: tuple[tuple[str, str], ...] = ()
    start: int = 0
    """Of the waterfall, like `end`."""
    end: int = 0
    rows: tuple[Row, ...] = ()
    marks: dict[str, int] = {}
    requests: tuple[tuple[str, ...], ...] = ()
    """The headings and the rows."""
    units: str = ""
    policy: str = ""
    """The policy that asked language models, and why in this order."""
    cost: str = ""
    sound: Sound | None = None


class Page(Struct, frozen=True, kw_only=True):
    """A run."""

    run: str
    created: str
    command: str
    doubts: tuple[tuple[str, str], ...]
    """Lines and their styles, as a terminal shows them."""
    figures: tuple[Figure, ...]
    further: tuple[tuple[str, str], ...]
    stages: tuple[tuple[str, str, int, int], ...]
    """Label, group, median and 95th percentile of the turns that count."""
    turns: tuple[Turn, ...]
    kinds: Mapping[Kind, str]
    """Words for the kinds of bars."""
    natural: int
    limit: int
    measured: tuple[tuple[str, str], ...]
    """How it was measured: labels and texts."""


def page_of(report: Report, recordings: Recordings) -> Page:
    """The page of a run."""
    told = {id(outcome.turn): text for outcome, text in remarks(report)}
    judged = {(one.session, one.turn): one.judged for one in report.llm.turns}
    turns: list[Turn] = []
    for session in report.sessions:
        stereo = recordings(session.session)
        for outcome, stretch in stretches(session, 0.0 if stereo is None else len(stereo) / RATE):
            turn = outcome.turn
            turns.append(
                _turn(
                    outcome,
                    session,
                    name=turn_id(report, outcome),
                    llm_budget=report.llm.budget_ms / 1000,
                    remarks=told[id(turn)],
                    judged=judged.get((turn.session, turn.turn)),
                    sound=None if stereo is None or stretch is None else _sound(stereo, stretch, turn.end or 0.0),
                )
            )
    lines = [(line[:LABEL].strip(), line[LABEL:]) for line in conditions(report)]
    return Page(
        run=report.run,
        created=report.header.created,
        command=" ".join(report.header.command),
        doubts=tuple(doubts(report)),
        figures=tuple(_figures(report)),
        further=tuple(further(report)),
        stages=tuple(
            (key.replace("_", " "), GROUPS[key], round(spread.p50), round(spread.p95 or 0.0))
            for key, spread in report.contributions_ms.items()
            if spread.p50 is not None and spread.p95
        ),
        turns=tuple(turns),
        kinds=KINDS,
        natural=_ms(NATURAL),
        limit=_ms(TURN_LIMIT),
        measured=(*lines, *zip(("method", "", ""), method(report), strict=True)),
    )


def turn_id(report: Report, outcome: Outcome) -> str:
    """The fragment of a turn's permanent link: its number, and its session's name if there are several."""
    session = f"{quote(outcome.turn.session, safe='')}-" if len(report.sessions) > 1 else ""
    return f"turn-{session}{outcome.turn.turn}"


def stretches(session: SessionOutcome, seconds: float) -> Iterator[tuple[Outcome, Period | None]]:
    """The turns of a session, each with its stretch of the recording; None if it is not there.

    Args:
        seconds: Length of the recording; 0 without one.
    """
    following = None
    found: list[tuple[Outcome, Period | None]] = []
    for outcome in reversed(session.outcomes):
        start = outcome.turn.start
        is_there = start is not None and start < seconds
        found.append((outcome, stretch_of(outcome.turn, session.spoken, following, seconds) if is_there else None))
        following = following if start is None else start
    return reversed(found)


def _turn(
    outcome: Outcome,
    session: SessionOutcome,
    *,
    name: str,
    llm_budget: float,
    remarks: str,
    judged: LlmVerdict | None,
    sound: Sound | None,
) -> Turn:
    turn, zero = outcome.turn, outcome.turn.end
    latency = None if outcome.latency is None else round(outcome.latency * 1000, 1)
    others = [stretch for one in session.outcomes if one.turn is not turn for stretch in one.turn.speech]
    shown = waterfall(outcome, session.spoken, others)
    headings, rows = requests(turn)
    return Turn(
        id=name,
        session=turn.session,
        number=turn.turn,
        ms=latency,
        shown="" if latency is None else ms(latency),
        counts=outcome.is_usual and (outcome.is_timed or outcome.is_unanswered),
        verdicts=tuple(_verdicts(outcome)),
        tier=(judged and judged.tier) or "",
        cold=turn.cold,
        heard=turn.heard or "",
        said=turn.said or "",
        remarks=remarks,
        why=explain(outcome, llm_budget=llm_budget),
        words=tuple(transcript(outcome)),
        start=0 if shown is None else _ms(shown.start),
        end=0 if shown is None else _ms(shown.end),
        rows=() if shown is None else tuple(_rows(shown)),
        marks={} if zero is None else {mark.replace("_", " "): _ms(at - zero) for mark, at in turn.marks.items()},
        requests=(tuple(headings), *map(tuple, rows)) if rows else (),
        units=units(headings) if rows else "",
        policy=": ".join(filter(None, (judged.policy, judged.reason))) if judged else "",
        cost=cost_told(turn) or "",
        sound=sound,
    )


def _verdicts(outcome: Outcome) -> Iterator[str]:
    turn, latency = outcome.turn, outcome.latency
    if not turn.wants_answer:
        yield "wants no answer"
    elif outcome.cut_off:
        yield "cut off"
    elif outcome.unanswered in LOST:
        yield "unknown"
    elif latency is None:
        yield "not answered"
    elif latency > TURN_LIMIT:
        yield "over 800 ms"
    else:
        yield "within 400 ms" if latency <= NATURAL else "within 800 ms"
    more = {"wrong answer": outcome.right is False, "early": outcome.is_early, "barge-in": turn.barge_in}
    yield from (name for name, holds in more.items() if holds)


def _rows(shown: Waterfall) -> Iterator[Row]:
    for row in shown.rows:
        yield Row(
            label=row.label,
            group=_group(row),
            bars=tuple((_ms(bar.start), _ms(bar.end), bar.kind) for bar in row.bars),
            took=None if row.took is None else _ms(row.took),
            waited=None if row.waited is None else _ms(row.waited),
            note=row.note,
        )


def _group(row: WaterfallRow) -> str:
    match row.group:
        case "stage":
            return _GROUPS[row.label]
        case "speech":
            return row.label
        case "model":
            return "request"
        case _:
            return row.group


def _sound(stereo: Recording, stretch: Period, zero: float) -> Sound:
    cut = stereo[round(stretch[0] * RATE) : round(stretch[1] * RATE)]
    edges = np.linspace(0, len(cut), PEAKS, endpoint=False).astype(np.intp)
    peaks = np.maximum.reduceat(np.abs(cut.astype(np.int32)), edges) // 129
    user, bot = (base64.b64encode(side.astype(np.uint8).tobytes()).decode() for side in peaks.T)
    return Sound(start=_ms(stretch[0] - zero), end=_ms(stretch[1] - zero), user=user, bot=bot)


def _figures(report: Report) -> Iterator[Figure]:
    turns, main = report.turns, report.turn_ms_cold if report.only_cold else report.turn_ms

    def state(is_late: bool) -> Literal["", "late", "refused"]:
        return "refused" if report.refused else "late" if is_late else ""

    if report.has_latencies:
        names = {"p50": "median", "p95": "95th percentile", "max": "slowest"}
        intervals = {"p50": main.p50_ci, "p95": main.p95_ci, "max": None}
        for key, name in names.items():
            value: float | None = getattr(main, key)
            is_never = main.is_never(key)
            yield Figure(
                name=f"{name}, cold" if report.only_cold else name,
                value=statistic(main, key),
                unit="" if value is None else "ms",
                note="a turn got no answer" if is_never else _told(intervals[key]),
                state=state(is_never or (value or 0.0) > TURN_LIMIT * 1000),
            )
        yield Figure(
            name=f"within {TURN_LIMIT * 1000:.0f} ms",
            value=f"{main.within_800} of {main.total}",
            note=f"{plural(main.within_400, 'turn')} within {NATURAL * 1000:.0f} ms",
            state=state(main.within_800 < main.total),
        )
    else:
        yield Figure(name="turn latency", value=UNKNOWN, note=turn_latency(report))
    yield Figure(
        name="answered",
        value=f"{turns.answered} of {turns.expected}",
        note="turns that want an answer",
        state="late" if turns.answered < turns.expected else "",
    )
    if turns.answers_ok is not None:
        yield Figure(
            name="right answers",
            value=f"{turns.answers_ok} of {report.scored}",
            note="with a known right answer",
            state="late" if turns.answers_ok < report.scored else "",
        )


def _told(interval: Interval | None) -> str:
    return "" if interval is None else f"95 % interval {ms(interval[0])} to {ms(interval[1])}"


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
