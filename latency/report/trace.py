"""A run in Chrome's trace event format, which Perfetto and chrome://tracing open.

One process per session, each from its own time 0, the first sample of its recording; within it a thread for the user's
speech, the bot's, the turns, the critical path, the server's stages, each language model and the server's stalls.
Every event is complete ("X"), in whole microseconds. An arrow leads from each turn's commit to its first audible
sample. The events of a thread must nest, so an event that overlaps another gets a thread of its own, such as
"LLM large (2)".
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from latency.judge.session import SessionOutcome
from latency.judge.turn import Outcome
from latency.record.json_form import read_file, to_json
from latency.record.marks import Mark
from latency.record.run import RunError
from latency.report.critical_path import Period, stages
from latency.report.llm.requests import attempts_of, outcome_of
from latency.report.report import Report

Event = dict[str, Any]
PROCESS_STEP = 1000
"""The distance between process ids, so that thread ids, which must be unique for Perfetto, fit between them."""
_HEAD = '{"displayTimeUnit": "ms"'
"""The beginning of every trace of ours."""


@dataclass(frozen=True, slots=True)
class _Slice:
    thread: str
    name: str
    start: float
    end: float
    args: Mapping[str, Any] = field(default_factory=dict)
    part: tuple[str, float] | None = None
    """Name and end of an inner slice that begins at the same time."""


def trace(report: Report, spoken: Mapping[str, Sequence[Period]]) -> dict[str, Any]:
    """The run as one JSON object of the trace event format; `spoken` has the bot's audible periods by session."""
    events: list[Event] = []
    for position, session in enumerate(report.sessions, 1):
        events += _session_events(session, spoken.get(session.session.name, ()), PROCESS_STEP * position)
    about = {"run": report.run, "simulated": ", ".join(report.simulated) or "nothing"}
    return {"displayTimeUnit": "ms", "otherData": about, "traceEvents": events}


def text(content: Mapping[str, Any]) -> str:
    """The trace as JSON text, one event per line."""
    head = json.dumps({key: content[key] for key in ("displayTimeUnit", "otherData")}, ensure_ascii=False)
    lines = ",\n".join(json.dumps(event, ensure_ascii=False) for event in content["traceEvents"])
    return f'{head[:-1]}, "traceEvents": [\n{lines}\n]}}\n'


def write_trace(path: Path, content: str) -> None:
    """Write a trace, replacing an existing trace but no other file.

    Raises:
        RunError: Another file is there, or it cannot be written.
    """
    try:
        if path.exists() and not read_file(path).startswith(_HEAD.encode()):
            raise RunError(f"{path} exists and is no trace of ours; name another file with --trace")
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise RunError(f"the trace cannot be written to {path}: {error.strerror or error}") from error


def _session_events(session: SessionOutcome, spoken: Sequence[Period], pid: int) -> Iterator[Event]:
    slices = [_Slice("bot", "bot speaks", start, end) for start, end in spoken]
    for outcome in session.outcomes:
        slices += _turn_slices(outcome)
    threads = _Threads(pid)
    events = [event for one in sorted(slices, key=lambda one: (one.start, one.end)) for event in threads.complete(one)]
    yield _named("process_name", pid, pid, name=session.session.name)
    yield from threads.names()
    yield from events
    for number, outcome in enumerate(session.outcomes):
        yield from _arrow(outcome, spoken, threads, PROCESS_STEP * pid + number)


def _turn_slices(outcome: Outcome) -> Iterator[_Slice]:
    turn = outcome.turn
    number = {"turn": turn.turn}
    for start, end in turn.speech:
        yield _Slice("user", turn.text or "user speaks", start, end, {**number, "heard": turn.heard})
    if turn.end is not None and outcome.latency is not None:
        about = {**number, "latency_ms": round(outcome.latency * 1000, 1), "said": turn.said}
        yield _Slice("turns", f"turn {turn.turn}", turn.end, turn.end + outcome.latency, about)
    for stage in stages(turn):
        for start, end in stage.path:
            yield _Slice("critical path", stage.key, start, end, number)
        if stage.work:
            yield _Slice("server stages", stage.key, *stage.work, number)
    for attempt in attempts_of(turn):
        clause = attempt.first_clause
        known = [at for at in (attempt.first_token, clause, attempt.end) if at is not None]
        if attempt.request is None or not known:
            continue
        end, args = max(known), {**number, "model": attempt.model, "tokens": to_json(attempt.tokens)}
        part = ("to first clause", clause) if clause is not None and clause < end else None
        yield _Slice(f"LLM {attempt.tier or 'language model'}", outcome_of(attempt), attempt.request, end, args, part)
    for stall in turn.stalls:
        yield _Slice("stalls", stall.kind, stall.at, stall.end, number)


def _arrow(outcome: Outcome, spoken: Sequence[Period], threads: "_Threads", arrow: int) -> Iterator[Event]:
    """From the commit, inside the turn's slice, to the bot's utterance that answers it."""
    commit, end = outcome.turn.marks.get(Mark.TURN_COMMIT), outcome.turn.end
    if commit is None or end is None or outcome.latency is None or commit < end:
        return
    audible = next((start for start, _ in spoken if start >= end), None)
    if audible is None or audible < commit:
        return
    shared = {"name": "answer", "cat": "turn", "id": arrow, "pid": threads.pid}
    yield {**shared, "ph": "s", "tid": threads.of("turns"), "ts": _us(commit)}
    yield {**shared, "ph": "f", "bp": "e", "tid": threads.of("bot"), "ts": _us(audible)}


class _Threads:
    """The threads of a process: a lane for each name, and more where slices would cross."""

    FIRST = ("user", "bot", "turns", "critical path", "server stages")

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._ids: dict[str, int] = {}
        self._busy_until: dict[str, int] = {}
        for name in self.FIRST:
            self.of(name)

    def of(self, name: str) -> int:
        """A thread's id."""
        return self._ids.setdefault(name, self.pid + 1 + len(self._ids))

    def complete(self, one: _Slice) -> Iterator[Event]:
        """A slice as an event on the first free lane of its thread; call it in the order of the starts."""
        start, end, lane, name = _us(one.start), _us(one.end), 1, one.thread
        while self._busy_until.get(name, 0) > start:
            lane += 1
            name = f"{one.thread} ({lane})"
        self._busy_until[name] = end
        args = {key: value for key, value in one.args.items() if value is not None}
        place = {"cat": one.thread, "ph": "X", "pid": self.pid, "tid": self.of(name), "ts": start}
        yield {"name": one.name, **place, "dur": end - start, "args": args}
        if one.part:
            inner, until = one.part
            yield {"name": inner, **place, "dur": _us(until) - start, "args": {}}

    def names(self) -> Iterable[Event]:
        """Their names, and the order in which chrome://tracing shows them."""
        for position, (name, tid) in enumerate(self._ids.items()):
            yield _named("thread_name", self.pid, tid, name=name)
            yield _named("thread_sort_index", self.pid, tid, sort_index=position)


def _named(what: str, pid: int, tid: int, **args: str | int) -> Event:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": args}


def _us(seconds: float) -> int:
    # The format has no negative times.
    return max(0, round(seconds * 1_000_000))
