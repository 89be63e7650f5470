"""Turns a finished call into a run folder's records: matches the server's turns to the user's on one clock. Pure.

Every instant in a record is on the recording's clock; the server's instants are unknown without aligned clocks.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from latency.record.json_form import TurnError
from latency.record.marks import Mark, Marks, moved
from latency.record.session import PlayoutSummary, ServerLoad, Session
from latency.record.turn import ServerTurn, Stall, TurnRecord
from voice.client.call.call_result import CallResult, ReportedTurn
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.fixtures.fixture import Fixture


def turn_records(
    result: CallResult,
    fixture: Fixture,
    session: str,
    *,
    cold: bool = False,
    marked: Mapping[int, float] | None = None,
) -> list[TurnRecord]:
    """One record for each turn that was played to the server.

    A turn that Ctrl-C cut short is left out, because it could not be answered. So is a turn that began after the
    connection was lost for good. A turn that the server cut short by closing the call is kept as failed.

    Args:
        result: the call.
        fixture: the recordings played in it.
        session: name of the session in the run.
        cold: whether the session's first turn was the server's first.
        marked: when the caller marked turns as bad, by the server's number of the turn.
    """
    marked = marked or {}
    horizons = [*(placed.onset for placed in result.reached), math.inf][1:]
    stalls = _stalls(result)
    return [
        _record(result, placed, horizon, fixture, session, cold and placed.index == 0, stalls, marked)
        for placed, horizon in zip(result.reached, horizons, strict=True)
        if placed.end <= result.seconds or result.closed is not None
    ]


def session_record(
    result: CallResult,
    fixture: Fixture,
    *,
    name: str,
    wav: str,
    cold: bool = False,
    server: ServerLoad | None = None,
) -> Session:
    """The session of the call.

    Args:
        result: the call.
        fixture: the recordings played in it.
        name: name of the session in the run.
        wav: file name of its recording in the run folder.
        cold: whether the server had no call before.
        server: its load during the call, when known.
    """
    return Session(
        name=name,
        scenario=fixture.name,
        wav=wav,
        seconds=round(result.seconds, 3),
        cold=cold,
        fixtures={turn.name: turn.sha256 for turn in fixture.turns},
        never_sent=len(fixture.turns) - len(result.reached),
        clock=result.alignment,
        pacing=result.pacing.summary(),
        playout=PlayoutSummary(
            jitter_ms=round(result.jitter * 1000), underruns=len(result.underruns), rate=result.rate
        ),
        underruns=_rounded_all(result.underruns),
        flushes=tuple(_rounded(at) for at in result.flushes),
        ducked=_rounded_all((start, min(end, result.seconds)) for start, end in result.ducked),
        outages=_rounded_all((start, min(end, result.seconds)) for start, end in result.outages),
        away=_rounded_all((start, min(end, result.seconds)) for start, end in result.away),
        silence_asked=tuple(_rounded(at) for at in result.silence_asked),
        self_interruptions=sum(one.turn.ended_by == "own_voice" for one in result.turns) if result.turns else None,
        server=server,
        closed=result.closed,
    )


def _record(
    result: CallResult,
    placed: PlacedTurn,
    horizon: float,
    fixture: Fixture,
    session: str,
    cold: bool,
    stalls: Iterable[Stall],
    marked: Mapping[int, float],
) -> TurnRecord:
    turn = placed.turn
    late = result.pacing.late_max(placed.at, min(horizon, result.seconds))
    matched = [reported for reported in result.turns if placed.onset <= result.stopped(reported) < horizon]
    own = tuple(_on_recording(result, reported) for reported in matched)
    # Use the report: without aligned clocks the converted turn has no marks.
    committed = [one for one, reported in zip(own, matched, strict=True) if Mark.TURN_COMMIT in reported.turn.marks]
    last = ([one for one in committed if one.ended_by != "own_voice"] or committed or own or (None,))[-1]
    failed = last.failed if last else None
    if failed is None and not committed and horizon == math.inf:
        failed = result.closed
    if failed is None and not any(placed.end <= one.start < horizon for one in result.utterances):
        # What an agent of others complains of in spite of its answer concerns the call, not the turn.
        since = placed.onset if placed.index else 0.0
        failed = next((reason for at, reason in result.failures if since <= at < horizon), None)
    record = TurnRecord(
        session=session,
        turn=placed.index,
        scenario=fixture.name,
        fixture=f"{fixture.group}/{turn.name}" if fixture.group else turn.name,
        text=turn.text,
        speaker=turn.speaker,
        truth=turn.truth,
        speech=_rounded_all(placed.speech),
        labels=tuple((_rounded(start), _rounded(end), label) for start, end, label in placed.labels),
        wants_answer=turn.wants_answer,
        contains=tuple(turn.contains),
        barge_in=turn.barge_in,
        backchannel=turn.backchannel,
        cold=cold,
        late_ms_max=None if late is None else round(late * 1000, 2),
        heard=_joined(one.heard for one in own) if own else None,
        said=_joined(one.said for one in own) if own else None,
        ended_by=last.ended_by if last else None,
        smart_turn=last.smart_turn if last else None,
        interrupted=bool(last and last.interrupted),
        failed=failed,
        hung=last.hung if last else None,
        marked_bad=next((_rounded(marked[one.turn]) for one in own if one.turn in marked), None),
    )
    client = _client_marks(result, placed, horizon, last)
    try:
        return replace(
            record,
            marks=Marks((last.marks if last and committed else Marks()) | client),
            server_turns=own,
            attempts=last.attempts if last else (),
            responses=last.responses if last else (),
            # Stalls before the first turn are recorded with that turn.
            stalls=tuple(one for one in stalls if (placed.onset <= one.at or not placed.index) and one.at < horizon),
        )
    except TurnError as error:
        dropped = f"the server's instants were dropped ({error})"
        return replace(record, failed=f"{failed}; {dropped}" if failed else dropped)


def _client_marks(result: CallResult, placed: PlacedTurn, horizon: float, last: ServerTurn | None) -> Marks:
    """The marks of the loudspeaker: the first audio after the speech's end, and an utterance under way at its onset.

    The first audio is the answer's if the server reports no phrase before the answer.
    """
    marks = Marks()
    if placed.turn.speech:
        marks[Mark.SPEECH_END] = _rounded(placed.end)
    if heard := [one for one in result.utterances if placed.end <= one.start < horizon]:
        marks[Mark.FIRST_RECEIVED] = _rounded(heard[0].received)
        marks[Mark.FIRST_AUDIBLE] = _rounded(heard[0].start)
        marks[Mark.ANSWER_END] = _rounded(heard[-1].end)
        if last and last.opening is None:
            # After a phrase, the answer has to be found in the recording.
            marks[Mark.FIRST_ANSWER_AUDIBLE] = marks[Mark.FIRST_AUDIBLE]
    if under_way := [one for one in result.utterances if one.start < placed.onset < one.end]:
        marks[Mark.USER_ONSET] = _rounded(placed.onset)
        marks[Mark.BOT_SILENT] = _rounded(under_way[0].end)
    return marks


def _on_recording(result: CallResult, reported: ReportedTurn) -> ServerTurn:
    """A reported turn on the recording's clock."""

    def convert(at: float) -> float | None:
        converted = result.recording_time(at, reported)
        return None if converted is None else _rounded(converted)

    return moved(reported.turn, convert)


def _stalls(result: CallResult) -> list[Stall]:
    """The stalls of the server's event loop on the recording's clock, in order; a report may repeat another's."""
    found: dict[tuple[float, str], Stall] = {}
    for reported in result.turns:
        for stall in reported.report.stalls:
            at = result.recording_time(stall.at, reported)
            if at is not None:
                found.setdefault((stall.at, stall.kind), replace(stall, at=_rounded(at)))
    return sorted(found.values(), key=lambda stall: (stall.at, stall.kind))


def _joined(texts: Iterable[str | None]) -> str:
    return " ".join(stripped for text in texts if (stripped := (text or "").strip()))


def _rounded(seconds: float) -> float:
    return round(seconds, 6)


def _rounded_all(stretches: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    return tuple((_rounded(start), _rounded(end)) for start, end in stretches)
