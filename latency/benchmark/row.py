"""One agent's row of a benchmark, from its run folder and from outside observations of its calls.

Every turn that wants an answer, is warm and is no barge-in counts once: it was answered, cut off, or unanswered.

* Turn latency: of the answered turns, as in a report, to the answer itself, or to the first audible sample if an agent
  does not report when its answer starts. An unanswered turn is later than any limit. The intervals draw recordings,
  each with its repetitions, with replacement, because repeating a recording says little about others.
* Cut off: an answer was heard that the agent began before the user had finished, by the same rule for every agent. A
  labelled pause was taken for the end if the agent took the turn for finished, or started to speak, during the pause or
  up to `REACH` after it, when the agent cannot yet know that the user continues.
* Barge-ins, and other sounds over answers, that the benchmark planned: the counts of each add up to all of them.
* Wasted: the share of requests to the language model beyond one for each answered turn.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from latency.judge.barge_in import BargeInResult, SoundResult
from latency.judge.session import SessionOutcome
from latency.judge.turn import REACH, Outcome
from latency.record.turn import JUDGED_COMPLETE, TurnRecord
from latency.report.report import Report
from latency.report.stats import Distribution, Latencies, group_interval

NEVER = float("inf")
"""Seconds until the answer to an unanswered turn."""

FINISHED = 0.5
"""The probability from which our agent takes words for finished, if pauses are as frequent as ends."""

Turn = tuple[str, str, int]
"""A turn's scenario, session and number."""

_SIMULATED = re.compile(r"\b(?:sim|scripted):[\w.:-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CutOffs:
    """Turns that were taken for finished too early."""

    pauses: int
    in_pauses: int
    """Labelled pauses that were taken for the end."""
    elsewhere: int
    """Turns that were cut off outside any labelled pause."""
    heard: int
    """Turns with an audible answer that began too early."""

    @property
    def rate(self) -> float | None:
        """The share of labelled pauses that were taken for the end; None without any."""
        return round(self.in_pauses / self.pauses, 4) if self.pauses else None


def cut_offs(outcomes: Iterable[Outcome], ends: Mapping[str, Sequence[float]]) -> CutOffs:
    """Count the turns that were cut off, and the pauses that were taken for the end.

    Args:
        ends: By session, when the agent took a turn for finished, seconds on the recording's clock.
    """
    pauses = in_pauses = elsewhere = heard = 0
    for one in outcomes:
        turn = one.turn
        if turn.start is None or turn.end is None or turn.backchannel:
            continue
        early = [at for at in ends.get(turn.session, ()) if turn.start <= at < turn.end]
        spans = [(start, min(end + REACH, turn.end)) for start, end in turn.pauses]
        cut = max(sum(any(a <= at < b for at in early) for a, b in spans), one.pauses_cut)
        pauses += len(spans)
        in_pauses += cut
        heard += one.cut_off
        elsewhere += any(not any(a <= at < b for a, b in spans) for at in early) or (one.cut_off and not cut)
    return CutOffs(pauses=pauses, in_pauses=in_pauses, elsewhere=elsewhere, heard=heard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruptions:
    """Scripted barge-ins: `planned` = `stopped` + `ended` + `ignored` + `missed` + `unplayed`."""

    stopped: int
    """The agent was stopped; only these have a stop time."""
    ended: int
    """The agent came to its own end while the user began to speak, so its stop time is unknown."""
    ignored: int
    """The agent talked on."""
    missed: int
    """The agent was silent: there was nothing to interrupt."""
    unplayed: int
    """The call ended before, or nothing was recorded."""
    stop_ms: Distribution
    """From the user's onset until the agent was silent."""

    @property
    def planned(self) -> int:
        """The planned barge-ins."""
        return self.stopped + self.ended + self.ignored + self.missed + self.unplayed

    @property
    def obeyed(self) -> float | None:
        """The share of stops among the barge-ins into its speech; None without any."""
        met = self.stopped + self.ignored
        return self.stopped / met if met else None


def sounds(sessions: Iterable[SessionOutcome]) -> dict[str, int]:
    """Count the sounds of a run that are not turns, by their effect: "went_on", "resumed", "stopped" and "silent"."""
    found = Counter(one.sound.result for session in sessions for one in session.outcomes if one.sound)
    return {result.name.lower(): found[result] for result in SoundResult}


def interruptions(sessions: Iterable[SessionOutcome]) -> Interruptions:
    """Count the barge-ins of a run. Turns that were never played count if others of their session are barge-ins."""
    counts: Counter[BargeInResult | None] = Counter()
    stops = []
    for session in sessions:
        found = [outcome for outcome in session.outcomes if outcome.turn.barge_in]
        counts.update(outcome.barge_in for outcome in found)
        counts[None] += (session.session.never_sent or 0) if found else 0
        stops += [outcome.barge_in_stop for outcome in found if outcome.barge_in_stop is not None]
    return Interruptions(
        stopped=counts[BargeInResult.STOPPED],
        ended=counts[BargeInResult.ENDED],
        ignored=counts[BargeInResult.IGNORED],
        missed=counts[BargeInResult.SILENT],
        unplayed=counts[None],
        stop_ms=Distribution.of(stops),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """The requests to a language model."""

    n: int
    cancelled: int
    wasted_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTurns:
    """The warm turns that want an answer and are not barge-ins, by their end."""

    latencies: Latencies
    """Of the answered turns."""
    cut_off: frozenset[Turn] = frozenset()
    unanswered: frozenset[Turn] = frozenset()
    finished: frozenset[Turn] = frozenset()
    """Turns whose words our agent took for finished; empty for another agent."""
    early: int = 0
    """Answered turns with an answer heard sooner than people answer."""

    @property
    def turns(self) -> int:
        """The number of turns."""
        return len(self.latencies) + len(self.cut_off) + len(self.unanswered)

    def distribution(self, only: Collection[tuple[str, int]] | None = None) -> Distribution:
        """The latencies with the unanswered turns, of all recordings or of those (scenario and number of the turn)."""
        seconds = {**self.latencies, **dict.fromkeys(self.unanswered, NEVER)}
        groups: dict[tuple[str, int], list[float]] = {}
        for (scenario, _, number), value in sorted(seconds.items()):
            if only is None or (scenario, number) in only:
                groups.setdefault((scenario, number), []).append(value)
        values = [value for group in groups.values() for value in group]
        answered = [value for value in values if value != NEVER]
        found = Distribution.of(answered, unanswered=len(values) - len(answered))
        in_ms = [[value * 1000 for value in group] for group in groups.values()]
        return replace(found, p50_ci=group_interval(in_ms, 50), p95_ci=group_interval(in_ms, 95))


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRow:
    """One agent with one language model."""

    llm: str
    variant: str
    about: str
    settings: Sequence[str]
    """Its settings, as `key=value`; empty for a default agent."""
    without: str | None
    """The piece of our agent that it lacks, in words; None if it lacks none."""
    of: str | None
    """The variant that has the piece."""
    run: Path
    calls: int
    tally: ComparedTurns = field(repr=False)
    expected: int
    """Turns that want an answer, including cold ones and barge-ins."""
    answered: int
    """The answered ones among them."""
    unanswered: Mapping[str, int]
    """The unanswered ones, by reason."""
    cut_offs: CutOffs
    broken_off: int | None
    """Answers that the agent stopped although the user was silent."""
    interruptions: Interruptions
    sounds: Mapping[str, int]
    """Sounds over answers that are not turns, by their effect."""
    requests: Requests | None
    cpu_s_per_minute: float | None
    """CPU seconds of the agent's processes per minute of conversation, including models loaded at a call's start."""
    cpu_s_per_answer: float | None
    """The same per answered turn."""
    rss_peak_mb: float | None
    simulated: Sequence[str]
    """The names of its simulated parts."""
    refused: str | None
    """Why its latencies are not credible; None when they are."""
    repeated: int
    """Calls that were repeated because their audio had not been sent in real time."""

    @property
    def turn_ms(self) -> Distribution:
        """Turn latencies."""
        return self.tally.distribution()


def row(report: Report, calls: Sequence[Mapping[str, Any]], entry: Mapping[str, Any]) -> BenchmarkRow:
    """An agent's row.

    Args:
        calls: Outside observations of its calls: session, turn_ends (when it took the user's turn for finished,
            seconds on the recording's clock; None when it does not report that) and requests (the simulator's
            records).
        entry: Its entry in the benchmark's index.
    """
    ends = {call["session"]: call.get("turn_ends") or () for call in calls}
    per_minute, per_answer = _cpu(report)
    servers = [one.session.server for one in report.sessions if one.session.server]
    peaks = [server.rss_peak_mb for server in servers if server.rss_peak_mb is not None]
    return BenchmarkRow(
        **{key: entry[key] for key in ("llm", "variant", "about", "without", "of")},
        settings=tuple(entry["set"]),
        repeated=len(entry["repeated"]),
        run=Path(report.run),
        calls=len(report.sessions),
        tally=tally(report.outcomes, ends),
        expected=report.turns.expected,
        answered=report.turns.answered,
        unanswered=report.turns.unanswered,
        cut_offs=cut_offs(report.outcomes, ends),
        broken_off=report.barge_in.false,
        interruptions=interruptions(report.sessions),
        sounds=sounds(report.sessions),
        requests=_requests(calls, answered=report.turns.answered),
        cpu_s_per_minute=per_minute,
        cpu_s_per_answer=per_answer,
        rss_peak_mb=max(peaks, default=None),
        simulated=sorted({found for name in report.simulated for found in _SIMULATED.findall(name)}),
        refused=report.refused,
    )


def tally(outcomes: Iterable[Outcome], ends: Mapping[str, Sequence[float]]) -> ComparedTurns:
    """Sort the warm turns that want an answer and are not barge-ins by their end.

    Args:
        ends: By session, when the agent took a turn for finished, seconds on the recording's clock.
    """
    latencies: dict[Turn, float] = {}
    cut, unanswered, finished = set[Turn](), set[Turn](), set[Turn]()
    early = 0
    for one in outcomes:
        turn = one.turn
        if not (turn.wants_answer and one.is_usual):
            continue
        key = (turn.scenario, turn.session, turn.turn)
        took = one.latency if one.answer is None or not turn.server_turns else one.answer
        if one.is_unanswered:
            unanswered.add(key)
        elif was_cut_off(one, ends.get(turn.session, ())):
            cut.add(key)
        elif took is not None:
            latencies[key] = took
            early += one.is_early
        if sounds_finished(turn):
            finished.add(key)
    return ComparedTurns(
        latencies=latencies,
        cut_off=frozenset(cut),
        unanswered=frozenset(unanswered),
        finished=frozenset(finished),
        early=early,
    )


def sounds_finished(turn: TurnRecord) -> bool:
    """Whether our agent took the words for finished when the turn ended: over 50 % likely, by all its evidence."""
    chance = turn.smart_turn.finished if turn.smart_turn else None
    return turn.ended_by in JUDGED_COMPLETE or (chance is not None and chance >= FINISHED)


def was_cut_off(outcome: Outcome, ends: Sequence[float]) -> bool:
    """Whether an answer was heard that the agent began before the user had finished.

    It spoke before the user's end, or it reported an end of the turn before that and none between it and the answer.
    """
    turn = outcome.turn
    if outcome.cut_off or turn.start is None or turn.end is None or outcome.latency is None:
        return outcome.cut_off
    known = [at for at in ends if turn.start <= at <= turn.end + outcome.latency]
    return bool(known) and max(known) < turn.end


def _requests(calls: Sequence[Mapping[str, Any]], *, answered: int) -> Requests | None:
    if not calls:
        return None
    asked = [request for call in calls for request in call["requests"] if not request.get("warm_up")]
    cancelled = sum(request.get("outcome") != "completed" for request in asked)
    wasted = max(0.0, 1 - answered / len(asked)) if asked else None
    return Requests(n=len(asked), cancelled=cancelled, wasted_share=None if wasted is None else round(wasted, 4))


def _cpu(report: Report) -> tuple[float | None, float | None]:
    """CPU seconds per minute of conversation, and per answered turn."""
    seconds, used, answers = 0.0, 0.0, 0
    for one in report.sessions:
        length, server = one.session.seconds, one.session.server
        if length and server and server.cpu_cores is not None:
            seconds += length
            used += server.cpu_cores * length
            answers += sum(outcome.answered for outcome in one.outcomes)
    return round(used / seconds * 60, 1) if seconds else None, round(used / answers, 3) if answers else None
