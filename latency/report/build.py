"""Builds the report of a run folder: judges sessions, summarises their outcomes, and checks the thresholds."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from latency.budget import LATE_FRAME_MS, Budget, BudgetError
from latency.judge.outcome import Outcome
from latency.judge.session import SessionOutcome, accounts, judge_session
from latency.judge.unexplained import flagged
from latency.record.contributions import CONTRIBUTIONS
from latency.record.json_form import visible
from latency.record.observed_load import ObservedLoad
from latency.record.run import Run, RunError
from latency.record.session import Session
from latency.record.turn import JUDGED_COMPLETE, TurnRecord, TurnStall
from latency.report.figures import PacingFigures, barge_ins, quality, residual, turn_counts
from latency.report.llm.budget import llm_figures
from latency.report.llm.cost import cost_figures
from latency.report.llm.requests import answers_of
from latency.report.llm.speculation import speculation_figures
from latency.report.load import load_figures
from latency.report.report import HOST, SCHEMA, Report
from latency.report.stats import Distribution, Spread
from latency.report.thresholds import Threshold


def build(run: Run, thresholds: Sequence[Threshold] = ()) -> Report:
    """Derive the figures of a run and check the thresholds; for a refused run, only those that need no clock.

    Raises:
        RunError: A recording is there but cannot be read.
    """
    sessions = tuple(_judged_sessions(run))
    outcomes = [outcome for session in sessions for outcome in session.outcomes]
    usual = [o for o in outcomes if o.is_usual]
    timed = [o for o in outcomes if o.latency is not None and o.turn.wants_answer]
    observed = ObservedLoad.read(run.folder)
    llm, turns = _of_llm(run), [outcome.turn for outcome in outcomes]
    pacing = PacingFigures.of([s.session for s in sessions])
    report = Report(
        schema=SCHEMA,
        truth="estimated" if any(turn.truth == "estimated" for turn in turns) else "labelled",
        simulated=(*run.header.simulated, *_simulated_besides(run.header.simulated, turns)),
        turns=turn_counts(outcomes),
        turn_ms=_latencies(usual),
        turn_ms_cold=_latencies(o for o in outcomes if o.turn.cold),
        turn_ms_detected_complete=_latencies(o for o in usual if o.turn.ended_by in JUDGED_COMPLETE),
        turn_ms_fallback=_latencies(o for o in usual if o.turn.ended_by in ("fallback", "timeout")),
        answer_ms=Distribution.of(
            (o.answer for o in usual if o.is_timed and o.answer is not None),
            unanswered=sum(o.is_unanswered for o in usual),
        ),
        contributions_ms=_contributions(o.turn for o in usual if o.is_timed),
        llm=llm_figures(turns, budget=_llm_budget(llm), policy=llm.get("policy")),
        barge_in=barge_ins(sessions),
        quality=quality(sessions, scripted="scripted:" in run.header.components.get("asr", "")),
        speculation=speculation_figures(turns),
        cost=cost_figures(turns),
        residual_ms=residual(timed),
        pacing=pacing,
        run=visible(str(run.folder)),
        components=run.header.components,
        turn_ms_barge_in=_latencies(o for o in outcomes if o.turn.barge_in and not o.turn.cold),
        whole_answer_ms=Distribution.of(o.whole for o in usual if o.is_timed and o.whole is not None),
        sessions=sessions,
        scored=sum(o.right is not None for o in outcomes),
        notes=run.notes,
        created=run.header.created,
        command=tuple(run.header.command),
        versions=run.header.versions,
        host={key: run.header.host.get(key) for key in HOST},
        late_turns=sum((turn.late_ms_max or 0.0) > LATE_FRAME_MS for turn in turns),
        refused=_refused(pacing),
        watched=any(turn.watched for turn in turns),
        stalls=tuple(_stalls(sessions)),
        unexplained=tuple(flagged(timed)),
        load=load_figures(observed, sessions) if observed else None,
        chaos=run.header.chaos,
        accounts=() if run.header.chaos is None else accounts(sessions, budget=_llm_budget(llm)),
    )
    return replace(report, thresholds=tuple(threshold.judge(report) for threshold in thresholds))


def _judged_sessions(run: Run) -> Iterable[SessionOutcome]:
    # A killed run has turns of a session that run.json does not list yet.
    sessions = {session.name: session for session in run.sessions}
    spoken: dict[str, list[TurnRecord]] = {name: [] for name in sessions}
    for turn in sorted(run.turns, key=lambda turn: turn.turn):
        spoken.setdefault(turn.session, []).append(turn)
    for name in dict.fromkeys(turn.session for turn in run.turns):
        sessions.setdefault(name, Session(name=name))

    def judge(session: Session) -> SessionOutcome:
        turns = spoken[session.name]
        is_whole = session.name not in run.lacking
        judged = judge_session(session, turns, run.recording(session), is_whole=is_whole)
        return _until(judged, run.recorded_until.get(session.name))

    # Nearly all of the time for a large run goes into its recordings, during which numpy lets other threads run.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(judge, sessions.values())


def _until(judged: SessionOutcome, end: float | None) -> SessionOutcome:
    """The session, in which turns beyond the end of a truncated recording count as not recorded."""
    if end is None:
        return judged
    turns = [outcome.turn for outcome in judged.outcomes]
    starts = [*(turn.start for turn in turns), math.inf]
    horizons = [next(at for at in starts[position + 1 :] if at is not None) for position in range(len(turns))]
    lost = [turn for turn, horizon in zip(turns, horizons, strict=True) if horizon > end]
    instead = {id(one.turn): one for one in judge_session(judged.session, lost, None).outcomes}
    return replace(judged, outcomes=tuple(instead.get(id(one.turn), one) for one in judged.outcomes))


def _refused(pacing: PacingFigures) -> str | None:
    if not pacing.complaints:
        return None
    more = f"; and {len(pacing.complaints) - 1} more like it" if len(pacing.complaints) > 1 else ""
    return f"the user's audio was not fed in real time ({pacing.complaints[0]}{more}): replay on a less busy machine"


def _stalls(sessions: Iterable[SessionOutcome]) -> Iterable[TurnStall]:
    for session in sessions:
        for turn in (outcome.turn for outcome in session.outcomes):
            for stall in turn.stalls:
                begun = turn.start is None or stall.at >= turn.start or turn.turn > 0
                number = turn.turn if begun else None
                yield TurnStall(at=stall.at, ms=stall.ms, kind=stall.kind, session=session.session.name, turn=number)


def _latencies(outcomes: Iterable[Outcome]) -> Distribution:
    found = list(outcomes)
    return Distribution.of(
        (outcome.latency for outcome in found if outcome.is_timed and outcome.latency is not None),
        unanswered=sum(outcome.is_unanswered for outcome in found),
    )


def _contributions(turns: Iterable[TurnRecord]) -> dict[str, Spread]:
    split = [turn.contributions() for turn in turns]
    return {key: Spread.of(p for parts in split if (p := parts[key]) is not None) for key in CONTRIBUTIONS}


def _simulated_besides(known: Sequence[str], turns: Sequence[TurnRecord]) -> list[str]:
    """Language models that turned out to be simulated, though their names did not say so."""
    attempts = (attempt for answer in answers_of(turns) for attempt in answer)
    models = dict.fromkeys(attempt.model or "sim:unnamed" for attempt in attempts if attempt.simulated)
    return [f"{model} (by its answers)" for model in models if not any(model in name for name in known)]


def _of_llm(run: Run) -> Mapping[str, Any]:
    settings = run.header.pipeline.get("llm")
    return settings if isinstance(settings, Mapping) else {}


def _llm_budget(llm: Mapping[str, Any]) -> float:
    budget_ms = llm.get("budget_ms")
    if not isinstance(budget_ms, int | float):
        return Budget().llm
    try:
        return Budget.with_llm(budget_ms / 1000).llm
    except BudgetError as error:
        raise RunError(f"run.json is not what a run writes: {error}") from error
