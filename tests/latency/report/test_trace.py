import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from latency.audio.onset import as_floats, utterances
from latency.record.json_form import from_json
from latency.record.requests import RequestRecord
from latency.record.run import Run, RunError
from latency.record.turn import Stall
from latency.report.report import Report, build
from latency.report.trace import text, trace, write_trace

Event = dict[str, Any]
PHASES = {"X", "M", "s", "f"}


@pytest.fixture
def report(short_run: Path, load: Callable[[Path], Run]) -> Report:
    return build(load(short_run))


@pytest.fixture
def spoken(short_run: Path, load: Callable[[Path], Run]) -> dict[str, list[Any]]:
    run = load(short_run)
    stereo = run.recording(run.sessions[0])
    assert stereo is not None
    return {"commands": utterances(as_floats(stereo[:, 1]), 16000)}


def assert_follows_the_format(content: dict[str, Any]) -> None:
    """The rules of Chrome's trace event format, and those by which Perfetto reads it."""
    assert set(content) <= {"displayTimeUnit", "otherData", "traceEvents"}
    assert content["displayTimeUnit"] in ("ms", "ns")
    events: list[Event] = content["traceEvents"]
    owners: dict[int, int] = {}
    for event in events:
        assert event["ph"] in PHASES, event
        assert isinstance(event["name"], str), event
        assert event["name"], event
        # Perfetto knows a thread by its id alone.
        assert owners.setdefault(event["tid"], event["pid"]) == event["pid"], event
        if event["ph"] == "M":
            expected = {"process_name": "name", "thread_name": "name", "thread_sort_index": "sort_index"}
            assert set(event["args"]) == {expected[event["name"]]}, event
            continue
        assert isinstance(event["ts"], int), event
        assert event["ts"] >= 0, event
        if event["ph"] == "X":
            assert isinstance(event["dur"], int), event
            assert event["dur"] >= 0, event
    slices: dict[int, list[Event]] = {}
    for event in events:
        if event["ph"] == "X":
            slices.setdefault(event["tid"], []).append(event)
    for own in slices.values():
        assert_nested(own)
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    assert set(slices) <= named
    assert_arrows_bind(events, slices)


def assert_nested(own: list[Event]) -> None:
    ends: list[int] = []
    for event in sorted(own, key=lambda event: (event["ts"], -event["dur"])):
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        assert not ends or event["ts"] + event["dur"] <= ends[-1], event
        ends.append(event["ts"] + event["dur"])


def assert_arrows_bind(events: list[Event], slices: dict[int, list[Event]]) -> None:
    arrows = [event for event in events if event["ph"] in "sf"]
    counts = Counter((event["id"], event["ph"]) for event in arrows)
    assert set(counts.values()) <= {1}
    for event in arrows:
        assert any(one["ts"] <= event["ts"] <= one["ts"] + one["dur"] for one in slices[event["tid"]]), event
        partner = "f" if event["ph"] == "s" else "s"
        assert counts[event["id"], partner] == 1, event
        assert event["ph"] == "s" or event["bp"] == "e", event


def named(content: dict[str, Any], thread: str) -> list[Event]:
    tid = next(
        event["tid"]
        for event in content["traceEvents"]
        if event["name"] == "thread_name" and event["args"]["name"] == thread
    )
    return [event for event in content["traceEvents"] if event["ph"] == "X" and event["tid"] == tid]


def test_a_run_is_a_trace_by_the_rules_of_the_format(report: Report, spoken: dict[str, list[Any]]) -> None:
    content = trace(report, spoken)
    assert_follows_the_format(content)
    assert json.loads(text(content)) == content
    assert content["otherData"] == {"run": report.run, "simulated": "nothing"}
    assert [e["args"]["name"] for e in content["traceEvents"] if e["name"] == "process_name"] == ["commands"]


def test_speech_stages_and_models_are_where_the_recording_and_the_marks_have_them(
    report: Report, spoken: dict[str, list[Any]]
) -> None:
    content = trace(report, spoken)
    assert [(event["ts"], event["dur"]) for event in named(content, "user")][:2] == [
        (1_000_000, 1_000_000), (5_000_000, 600_000),
    ]  # fmt: skip
    assert abs(named(content, "bot")[0]["ts"] - 2_600_000) <= 1000
    path = [event for event in named(content, "critical path") if event["args"]["turn"] == 0]
    assert [event["name"] for event in path][:4] == [
        "endpointing_wait", "transcription", "turn_detection", "llm_inference",
    ]  # fmt: skip
    assert path[0]["ts"] == 2_000_000
    assert path[-1]["ts"] + path[-1]["dur"] == 2_600_000
    assert sum(event["dur"] for event in path) == 600_000
    # Its text was complete before the first clause; the request lasts to the later of both.
    asked, clause = named(content, "LLM responder")
    assert (asked["name"], asked["ts"], asked["dur"]) == ("spoken", 2_250_000, 150_000)
    assert (clause["name"], clause["dur"]) == ("to first clause", 80_000)


def test_an_arrow_leads_from_the_commit_to_the_first_audible_sample(
    report: Report, spoken: dict[str, list[Any]]
) -> None:
    start, end = (event for event in trace(report, spoken)["traceEvents"] if event["ph"] in "sf")
    assert (start["ph"], start["ts"]) == ("s", 2_250_000)
    assert (end["ph"], abs(end["ts"] - 2_600_000) <= 1000) == ("f", True)


def test_requests_that_overlap_get_threads_of_their_own_and_stalls_one(report: Report) -> None:
    session = report.sessions[0]
    first = session.outcomes[0]
    attempts = [
        {"tier": "large", "request": 2.25, "first_clause": None, "end": 2.5, "outcome": "cancelled"},
        {"tier": "large", "request": 2.3, "first_clause": 2.4, "end": 2.6, "outcome": "spoken"},
        {"tier": "large", "request": 2.7, "first_clause": None, "end": None, "outcome": None},
    ]
    stalls = (Stall(at=2.3, ms=150.0, kind="event loop"),)
    turn = replace(first.turn, attempts=from_json(tuple[RequestRecord, ...], attempts), server_turns=(), stalls=stalls)
    outcomes = (replace(first, turn=turn), *session.outcomes[1:])
    content = trace(replace(report, sessions=(replace(session, outcomes=outcomes),)), {})
    assert_follows_the_format(content)
    assert [event["name"] for event in named(content, "LLM large")] == ["cancelled"]
    assert [event["name"] for event in named(content, "LLM large (2)")] == ["spoken", "to first clause"]
    assert [(event["name"], event["dur"]) for event in named(content, "stalls")] == [("event loop", 150_000)]


def test_each_session_is_a_process_and_no_thread_belongs_to_two(report: Report, spoken: dict[str, list[Any]]) -> None:
    other = replace(report.sessions[0], session=replace(report.sessions[0].session, name="again"))
    content = trace(replace(report, sessions=(*report.sessions, other)), spoken)
    assert_follows_the_format(content)
    assert len({event["pid"] for event in content["traceEvents"]}) == 2


def test_a_trace_is_replaced_and_any_other_file_left_alone(tmp_path: Path, report: Report) -> None:
    path = tmp_path / "trace.json"
    write_trace(path, text(trace(report, {})))
    write_trace(path, text(trace(replace(report, run="elsewhere"), {})))
    assert json.loads(path.read_text())["otherData"]["run"] == "elsewhere"
    path.write_text("{}")
    with pytest.raises(RunError, match=r"trace\.json exists and is no trace of ours; name another file with --trace"):
        write_trace(path, text(trace(report, {})))
    assert path.read_text() == "{}"
    with pytest.raises(RunError, match="the trace cannot be written to"):
        write_trace(tmp_path / "nowhere" / "trace.json", "{}")


def test_what_the_server_dates_before_the_recording_begins_at_its_first_sample(report: Report) -> None:
    (session,) = report.sessions
    first, *others = session.outcomes
    early = Stall(at=-0.4, ms=700.0, kind="event loop")
    stalled = replace(first, turn=replace(first.turn, stalls=(early,)))
    content = trace(replace(report, sessions=(replace(session, outcomes=(stalled, *others)),)), {})
    assert_follows_the_format(content)
    assert [(event["ts"], event["dur"]) for event in named(content, "stalls")] == [(0, 300_000)]
