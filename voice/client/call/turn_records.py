"""From a finished call to run-folder entries: server turns matched to the user's, every instant on one clock. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from latency.record.marks import Mark
from voice.client.call.call_result import CallResult, ReportedTurn
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.fixtures.fixture import Fixture

SCHEMA = 1

_MARKS = tuple(mark.value for mark in Mark)
_ATTEMPT_INSTANTS = ("request", "alive", "first_token", "first_clause", "end")
_RESPONSE_INSTANTS = ("commit", "deadline")


def turn_records(result: CallResult, fixture: Fixture, session: str, *, cold: bool = False) -> list[dict[str, Any]]:
    """One record for each turn that was played, in the form of `turns.jsonl`.

    A turn that Ctrl-C cut short is left out: nobody could have answered it. One that the server's end cut short is kept
    and has failed.

    Args:
        result: the call.
        fixture: what was played in it.
        session: name of the session in the run.
        cold: the session's first turn was the first one the server ever had.
    """
    onsets = [placed.onset for placed in result.placed]
    horizons = [*onsets, math.inf][1:]
    stalls = _stalls(result)
    return [
        _record(result, placed, horizon, fixture, session)
        | {
            "cold": cold and placed.index == 0,
            # What was before the first turn is told with it.
            "stalls": [
                stall for stall in stalls if (placed.onset <= stall["at"] or not placed.index) and stall["at"] < horizon
            ],
        }
        for placed, horizon in zip(result.placed, horizons, strict=True)
        if placed.end <= result.seconds or result.closed is not None
    ]


def session_entry(
    result: CallResult,
    fixture: Fixture,
    *,
    name: str,
    wav: str,
    cold: bool = False,
    server: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The session as `run.json` holds it.

    Args:
        result: the call.
        fixture: what was played in it.
        name: name of the session in the run.
        wav: file name of its recording in the run folder.
        cold: the server had no call before.
        server: its load during the call (cpu_cores, rss_mb), when known.
    """
    clock = result.alignment
    return {
        "name": name,
        "scenario": fixture.name,
        "wav": wav,
        "seconds": round(result.seconds, 3),
        "cold": cold,
        "fixtures": {turn.name: turn.sha256 for turn in fixture.turns},
        "never_sent": len(fixture.turns) - len(result.placed),
        "clock": None if clock is None else {"offset": clock.offset, "rtt": clock.rtt, "pings": clock.pings},
        "pacing": asdict(result.pacing.summary()),
        "playout": {
            "jitter_ms": round(result.jitter * 1000),
            "underruns": len(result.underruns),
            "rate": result.rate,
        },
        "underruns": [[_rounded(start), _rounded(end)] for start, end in result.underruns],
        "flushes": [_rounded(at) for at in result.flushes],
        "server": None if server is None else dict(server),
        "closed": result.closed,
    }


def _record(result: CallResult, placed: PlacedTurn, horizon: float, fixture: Fixture, session: str) -> dict[str, Any]:
    turn = placed.turn
    late = result.pacing.late_max(placed.at, min(horizon, result.seconds))
    return {
        "schema": SCHEMA,
        "session": session,
        "turn": placed.index,
        "scenario": fixture.name,
        "fixture": f"{fixture.group}/{turn.name}" if fixture.group else turn.name,
        "text": turn.text,
        "truth": turn.truth,
        "speech": [[_rounded(start), _rounded(end)] for start, end in placed.speech],
        "labels": [[_rounded(start), _rounded(end), label] for start, end, label in placed.labels],
        "wants_answer": turn.wants_answer,
        "contains": list(turn.contains),
        "barge_in": turn.barge_in,
        "backchannel": turn.backchannel,
        "late_ms_max": None if late is None else round(late * 1000, 2),
        **_server_side(result, placed, horizon),
    }


def _server_side(result: CallResult, placed: PlacedTurn, horizon: float) -> dict[str, Any]:
    """What the server says of the turn; when it opened several turns for it, the last one committed is the answer's."""
    matched = [reported for reported in result.turns if placed.onset <= result.stopped(reported) < horizon]
    reports = [_converted(result, reported) for reported in matched]
    both = zip(matched, reports, strict=True)
    committed = [report for reported, report in both if reported.instant(Mark.TURN_COMMIT) is not None]
    last = (committed or reports or [{}])[-1]
    failed = last.get("failed")
    if failed is None and not committed and horizon == math.inf:
        failed = result.closed
    marks: dict[str, float | None] = dict.fromkeys(_MARKS)
    if committed:
        marks |= last["marks"]
    return {
        "heard": _joined(reports, "heard") if reports else None,
        "said": _joined(reports, "said") if reports else None,
        "ended_by": last.get("ended_by"),
        "smart_turn": last.get("smart_turn"),
        "interrupted": bool(last.get("interrupted", False)),
        "failed": failed,
        "marks": marks | _client_marks(result, placed, horizon, last),
        "server_turns": reports,
        "attempts": last.get("attempts", []),
        "responses": last.get("responses", []),
    }


def _client_marks(
    result: CallResult, placed: PlacedTurn, horizon: float, report: Mapping[str, Any]
) -> dict[str, float | None]:
    """What the loudspeaker played: the first audio after the speech's end, and a bot that was talking at its onset.

    The first audio is the answer's if the server says that it put no phrase in front.
    """
    marks: dict[str, float | None] = {Mark.SPEECH_END: _rounded(placed.end) if placed.turn.speech else None}
    if heard := [one for one in result.utterances if placed.end <= one.start < horizon]:
        marks[Mark.FIRST_RECEIVED] = _rounded(heard[0].received)
        marks[Mark.FIRST_AUDIBLE] = _rounded(heard[0].start)
        marks[Mark.ANSWER_END] = _rounded(heard[-1].end)
        if report.get("opening", "unknown") is None:
            # Behind a phrase it is for who reads the recording to find.
            marks[Mark.FIRST_ANSWER_AUDIBLE] = marks[Mark.FIRST_AUDIBLE]
    if under_way := [one for one in result.utterances if one.start < placed.onset < one.end]:
        marks[Mark.USER_ONSET] = _rounded(placed.onset)
        marks[Mark.BOT_SILENT] = _rounded(under_way[0].end)
    return marks


def _converted(result: CallResult, reported: ReportedTurn) -> dict[str, Any]:
    """A report with its known marks on the recording's clock; None where the clocks are not aligned."""

    def convert(at: Any) -> float | None:
        converted = result.recording_time(at, reported) if isinstance(at, int | float) else None
        return None if converted is None else _rounded(converted)

    report = {key: value for key, value in reported.report.items() if key != "type"}
    report["marks"] = {name: convert(at) for name, at in report["marks"].items() if name in _MARKS}
    report["attempts"] = [
        attempt | {key: convert(attempt.get(key)) for key in _ATTEMPT_INSTANTS}
        for attempt in report.get("attempts") or []
    ]
    report["responses"] = [
        response
        | {key: convert(response.get(key)) for key in _RESPONSE_INSTANTS}
        | {"said": [said | {"at": convert(said.get("at"))} for said in response.get("said") or []]}
        for response in report.get("responses") or []
    ]
    if ahead := report.get("speculation"):
        report["speculation"] = ahead | {"request": convert(ahead.get("request"))}
    # Those that are known are told with the turn in which they were.
    report["stalls"] = None if report.get("stalls") is None else len(report["stalls"])
    return report


def _stalls(result: CallResult) -> list[dict[str, Any]]:
    """The stalls of the server's event loop on the recording's clock, in order; a report may repeat another's."""
    found: dict[tuple[float, str], dict[str, Any]] = {}
    for reported in result.turns:
        for stall in reported.report.get("stalls") or []:
            at = result.recording_time(stall["at"], reported)
            if at is not None:
                found.setdefault((stall["at"], stall["kind"]), stall | {"at": _rounded(at)})
    return sorted(found.values(), key=lambda stall: (stall["at"], stall["kind"]))


def _joined(reports: Sequence[Mapping[str, Any]], key: str) -> str:
    return " ".join(text for report in reports if (text := (report.get(key) or "").strip()))


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
