"""Matching server turns to the user's, on the recording's clock."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from latency.record.marks import Mark
from latency.record.session import ClockAlignment, PlayoutSummary
from latency.record.turn import TurnRecord, TurnReport
from pipelines.replaying import call_records
from pipelines.replaying.call_records import session_record
from voice.client.call.call_result import CallResult, Recorder, ReportedTurn
from voice.client.call.line import PacingLog
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.fixtures.fixture import Fixture, FixtureTurn
from voice.client.fixtures.scenario import SendAfter
from voice.client.playback.bot_utterances import Utterance
from voice.client.playback.playout import Playout
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE

ORIGIN, OFFSET = 300.0, 4000.0
"""The recording's sample 0 on the client's clock; the server's clock minus the client's."""


def server(at: float) -> float:
    """An instant of the recording as the server would tell it."""
    return at + ORIGIN + OFFSET


def turn(**how) -> FixtureTurn:
    """3 s of recording with speech from 0.5 to 1.0 s and from 1.5 to 2.0 s."""
    settings = {
        "name": "01.wav",
        "wav": Path("01.wav"),
        "text": "what time is it",
        "speaker": "someone",
        "samples": np.zeros(48000, np.int16),
        "speech": ((0.5, 1.0), (1.5, 2.0)),
        "labels": ((0.0, 3.0, "noise"),),
        "send_after": None,
        "wants_answer": True,
        "contains": ("it is",),
        "truth": "labelled",
        "sha256": "abc",
    }
    return FixtureTurn(**settings | how)


def report(number: int, *, received: float = 0.0, **how) -> ReportedTurn:
    content = {"type": "turn", "turn": number, "final": True, "marks": {}, "attempts": []} | how
    return ReportedTurn(report=TurnReport.from_json(content), received=received, origin=ORIGIN)


def turn_records(result: CallResult, fixture: Fixture, session: str) -> list[dict[str, Any]]:
    """The records as lines of turns.jsonl; every mark is in them, None when unknown."""
    lines = [json.loads(json.dumps(one.to_json())) for one in call_records.turn_records(result, fixture, session)]
    return [line | {"marks": dict.fromkeys(Mark) | line["marks"]} for line in lines]


def call(*, turns=None, positions=(10.0,), reports=(), **how) -> tuple[CallResult, Fixture]:
    turns = turns or (turn(),)
    placed = [
        PlacedTurn(index=index, turn=one, position=round(at * 16000))
        for index, (one, at) in enumerate(zip(turns, positions, strict=False))
    ]
    playout = Playout(0.0)
    settings = {
        "url": "ws://x",
        "seconds": 60.0,
        "placed": tuple(placed),
        "turns": tuple(reports),
        "alignment": ClockAlignment(offset=OFFSET, rtt=0.001, pings=8),
        "pacing": PacingLog(),
        "rate": 16000,
        "jitter": 0.06,
        "utterances": (),
        "underruns": (),
        "flushes": (),
        "closed": None,
        "recorder": Recorder(playout),
    }
    fixture = Fixture(name="commands/short", source=Path("x"), group="commands", turns=tuple(turns), notices=())
    return CallResult(**settings | how), fixture


def said(start: float, end: float, *, received: float | None = None, cut: bool = False) -> Utterance:
    return Utterance(start=start, end=end, received=start - 0.07 if received is None else received, cut=cut)


def test_a_record_says_what_was_played_where_and_what_was_expected():
    result, fixture = call()
    (record,) = turn_records(result, fixture, "commands")
    assert record["speech"] == [[10.5, 11.0], [11.5, 12.0]]
    assert record["labels"] == [[10.0, 13.0, "noise"]]
    assert (record["session"], record["turn"], record["schema"]) == ("commands", 0, 1)
    assert (record["scenario"], record["fixture"]) == ("commands/short", "commands/01.wav")
    assert (record["text"], record["truth"]) == ("what time is it", "labelled")
    assert (record["wants_answer"], record["contains"]) == (True, ["it is"])
    assert (record["barge_in"], record["backchannel"], record["cold"]) == (False, False, False)
    assert (record["heard"], record["said"], record["ended_by"], record["smart_turn"]) == (None, None, None, None)
    assert record["attempts"] == record["responses"] == record["server_turns"] == []
    assert set(record["marks"]) == {mark.value for mark in Mark}
    assert {name for name, at in record["marks"].items() if at is not None} == {"speech_end"}


def test_server_instants_are_told_on_the_recordings_clock():
    marks = {"vad_stop": server(12.2), "turn_commit": server(12.25), "llm_request": None, "unheard_of": server(1.0)}
    attempt = {"tier": "fast", "request": server(12.26), "first_token": None, "first_clause": server(12.4), "end": None}
    told = report(
        4,
        marks=marks,
        heard="what time is it",
        said="It is noon.",
        ended_by="smart_turn",
        smart_turn={"probability": 0.9, "ms": 12.0},
        attempts=[attempt],
    )
    result, fixture = call(reports=(told,), utterances=(said(12.6, 13.9, received=12.5),))
    (record,) = turn_records(result, fixture, "s")
    assert record["marks"]["vad_stop"] == pytest.approx(12.2)
    assert record["marks"]["turn_commit"] == pytest.approx(12.25)
    assert record["marks"]["llm_request"] is None
    assert "unheard_of" not in record["marks"]
    assert record["marks"]["first_received"] == 12.5
    assert record["marks"]["first_audible"] == 12.6
    assert record["marks"]["answer_end"] == 13.9
    assert record["marks"]["speech_end"] == 12.0
    (made,) = record["attempts"]
    assert (made["tier"], made["request"], made["first_token"], made["first_clause"]) == ("fast", 12.26, None, 12.4)
    assert record["smart_turn"] == {"probability": 0.9, "ms": 12.0, "finished": None, "silence_ms": None}
    assert "unheard_of" not in record["server_turns"][0]["marks"]
    assert TurnRecord.from_json(record).marks[Mark.TURN_COMMIT] == pytest.approx(12.25)


def test_when_an_answer_was_begun_ahead_is_told_on_the_recordings_clock():
    ahead = {
        "hints": 1,
        "started": 1,
        "discarded": 0,
        "used": True,
        "request": server(12.1),
        "spoken_ahead": False,
        "early": 0,
    }
    off = report(1, marks={"turn_commit": server(12.4)}, heard="one", speculation=None)
    aligned = report(0, marks={"turn_commit": server(12.25)}, heard="one", speculation=ahead)
    result, fixture = call(reports=(aligned, off))
    (record,) = turn_records(result, fixture, "s")
    told = [one["speculation"] for one in record["server_turns"]]
    assert told == [{**ahead, "request": pytest.approx(12.1)}, None]
    assert TurnRecord.from_json(record).server_turns[0].speculation.used


def test_the_instants_of_a_budget_are_told_on_the_recordings_clock():
    response = {
        "response": 3,
        "policy": "fallback",
        "reason": "large first",
        "commit": server(12.25),
        "deadline": server(12.7),
        "limit": "llm",
        "charged": None,
        "said": [{"at": server(12.68), "kind": "hold", "text": "One moment.", "tier": None, "rejected": None}],
        "gave_up": None,
        "tier": "large",
        "cap": None,
        "repaired": None,
        "vote": None,
        "verification": None,
        "forgotten": None,
    }
    withdrawn = response | {"response": 2, "commit": None, "deadline": None, "limit": None, "said": []}
    told = report(
        0,
        received=12.4,
        marks={"turn_commit": server(12.25)},
        responses=[withdrawn, response],
        opening_seconds=0.8,
    )
    result, fixture = call(reports=(told,))
    (record,) = turn_records(result, fixture, "s")
    first, second = record["responses"]
    assert first == withdrawn
    assert second == response | {
        "commit": pytest.approx(12.25),
        "deadline": pytest.approx(12.7),
        "said": [response["said"][0] | {"at": pytest.approx(12.68)}],
    }
    assert record["server_turns"][0]["responses"] == record["responses"]
    assert record["server_turns"][0]["opening_seconds"] == 0.8
    (unaligned,) = turn_records(*call(reports=(told,), alignment=None), "s")
    assert unaligned["responses"][1]["deadline"] is unaligned["responses"][1]["said"][0]["at"] is None
    assert unaligned["responses"][1]["limit"] == "llm"


@pytest.mark.parametrize(
    ("stop", "turns_with_it"),
    [
        pytest.param(10.4, [], id="before the first speech"),
        pytest.param(10.5, [0], id="at the first speech"),
        pytest.param(11.2, [0], id="in a pause of it"),
        pytest.param(20.4, [0], id="just before the next turn's speech"),
        pytest.param(20.5, [1], id="at the next turn's speech"),
        pytest.param(55.0, [1], id="long after the last one"),
    ],
)
@pytest.mark.parametrize("mark", ["vad_stop", "turn_commit"])
def test_a_server_turn_belongs_to_the_turn_in_whose_time_it_stopped(stop, turns_with_it, mark):
    told = report(0, marks={mark: server(stop)})
    result, fixture = call(turns=(turn(), turn()), positions=(10.0, 20.0), reports=(told,))
    records = turn_records(result, fixture, "s")
    assert [record["turn"] for record in records if record["server_turns"]] == turns_with_it


def test_of_several_server_turns_the_last_one_committed_counts_and_all_texts_are_joined():
    reports = (
        report(0, marks={"turn_commit": server(11.2)}, heard="what time", said="It", interrupted=True),
        report(1, marks={"turn_commit": server(12.3)}, heard="is it", said="It is noon.", ended_by="smart_turn"),
        report(2, marks={"vad_stop": server(14.0)}, heard="", ended_by=None, failed="no words"),
    )
    result, fixture = call(reports=reports)
    (record,) = turn_records(result, fixture, "s")
    assert (record["heard"], record["said"]) == ("what time is it", "It It is noon.")
    assert (record["ended_by"], record["interrupted"], record["failed"]) == ("smart_turn", False, None)
    assert record["marks"]["turn_commit"] == pytest.approx(12.3)
    assert [told["turn"] for told in record["server_turns"]] == [0, 1, 2]


def test_a_turn_that_was_never_committed_tells_why_and_has_no_server_marks():
    told = report(0, marks={"vad_stop": server(12.2)}, failed="the recogniser has failed")
    result, fixture = call(reports=(told,))
    (record,) = turn_records(result, fixture, "s")
    assert record["failed"] == "the recogniser has failed"
    assert record["marks"]["vad_stop"] is None
    assert record["server_turns"][0]["marks"]["vad_stop"] == pytest.approx(12.2)


def test_without_aligned_clocks_turns_match_by_arrival_and_server_marks_are_unknown():
    reports = (
        report(0, received=12.4, marks={"turn_commit": 77.0}, heard="one", attempts=[{"tier": "a", "request": 77.0}]),
        report(1, received=22.4, marks={"turn_commit": 87.0}, heard="two"),
    )
    result, fixture = call(turns=(turn(), turn()), positions=(10.0, 20.0), reports=reports, alignment=None)
    first, second = turn_records(result, fixture, "s")
    assert (first["heard"], second["heard"]) == ("one", "two")
    assert first["marks"]["turn_commit"] is None
    assert first["attempts"][0]["request"] is None


def test_the_first_audio_of_a_turn_is_the_first_that_starts_after_its_end():
    heard = (said(5.0, 8.0), said(11.1, 11.4), said(12.7, 13.0), said(13.5, 14.5), said(21.0, 22.0))
    result, fixture = call(turns=(turn(), turn()), positions=(10.0, 20.0), utterances=heard)
    first, second = turn_records(result, fixture, "s")
    assert (first["marks"]["first_audible"], first["marks"]["answer_end"]) == (12.7, 14.5)
    assert second["marks"]["first_audible"] is None
    assert first["marks"]["user_onset"] is None


def test_a_turn_that_begins_while_the_bot_speaks_has_an_onset_and_the_end_of_that_speech():
    interrupting = turn(speech=((0.5, 1.0),), send_after=SendAfter(event="bot_started_speaking", delay=0.5))
    heard = (said(9.0, 10.8, cut=True), said(12.0, 13.0))
    result, fixture = call(turns=(interrupting,), positions=(10.0,), utterances=heard)
    (record,) = turn_records(result, fixture, "s")
    assert record["barge_in"]
    assert (record["marks"]["user_onset"], record["marks"]["bot_silent"]) == (10.5, 10.8)
    assert record["marks"]["first_audible"] == 12.0


def test_a_backchannel_has_no_speech_and_is_placed_by_its_label():
    backchannel = turn(speech=(), labels=((0.4, 0.7, "backchannel"),), wants_answer=False)
    result, fixture = call(
        turns=(turn(), backchannel), positions=(10.0, 20.0), reports=(report(0, marks={"vad_stop": server(20.45)}),)
    )
    first, second = turn_records(result, fixture, "s")
    assert first["server_turns"] == []
    assert len(second["server_turns"]) == 1
    assert second["backchannel"]
    assert (second["speech"], second["labels"]) == ([], [[20.4, 20.7, "backchannel"]])
    assert second["marks"]["speech_end"] is None


def test_a_turn_cut_short_by_the_caller_is_left_out_and_one_cut_short_by_the_server_has_failed():
    stopped, fixture = call(turns=(turn(), turn()), positions=(10.0, 20.0), seconds=21.0)
    assert [record["turn"] for record in turn_records(stopped, fixture, "s")] == [0]
    broken, fixture = call(turns=(turn(), turn()), positions=(10.0, 20.0), seconds=21.0, closed="the server closed")
    first, second = turn_records(broken, fixture, "s")
    assert (first["failed"], second["failed"]) == (None, "the server closed")


def test_a_call_that_ends_before_its_first_turn_has_no_records():
    for closed in (None, "the server closed"):
        assert turn_records(*call(positions=(), seconds=0.4, closed=closed), "commands") == []


def test_an_answered_last_turn_has_not_failed_because_the_server_closed_later():
    told = report(0, marks={"turn_commit": server(12.3)})
    result, fixture = call(reports=(told,), closed="the server closed")
    assert turn_records(result, fixture, "s")[0]["failed"] is None


def test_lateness_is_told_for_the_frames_of_each_turn():
    pacing = PacingLog()
    for index in range(30 * RATE // MESSAGE_SAMPLES):
        due = (index + 1) * MESSAGE_SAMPLES / RATE
        pacing.note(due, due + (0.025 if index == 700 else 0.004 if index == 1400 else 0.001))
    result, fixture = call(turns=(turn(), turn()), positions=(10.0, 20.0), seconds=30.0, pacing=pacing)
    first, second = turn_records(result, fixture, "s")
    assert first["late_ms_max"] == pytest.approx(25.0, abs=0.01)
    assert second["late_ms_max"] == pytest.approx(4.0, abs=0.01)
    entry = session_record(result, fixture, name="s", wav="s.wav")
    assert entry.pacing.late_over_20ms == 1
    assert entry.pacing.late_max_ms == pytest.approx(25.0, abs=0.01)
    assert entry.pacing.clock_ratio == pytest.approx(1.0, abs=1e-5)


def test_a_session_entry_lists_underruns_interruptions_and_what_was_never_sent():
    turns = (turn(), turn(name="02.wav"))
    result, fixture = call(turns=turns, underruns=((12.0, 12.1),), flushes=(14.0,), closed="gone")
    entry = session_record(result, fixture, name="s", wav="s.wav", cold=True)
    assert entry.underruns == ((12.0, 12.1),)
    assert entry.flushes == (14.0,)
    assert entry.playout == PlayoutSummary(jitter_ms=60, underruns=1, rate=16000)
    assert (entry.never_sent, entry.closed, entry.cold, entry.server) == (1, "gone", True, None)
    assert entry.clock == ClockAlignment(offset=OFFSET, rtt=0.001, pings=8)
    assert entry.fixtures == {"01.wav": "abc", "02.wav": "abc"}


@pytest.mark.parametrize(
    ("told", "answer"), [({"opening": None}, 12.6), ({"opening": "Let me see."}, None), ({}, None)]
)
def test_the_first_audio_is_the_answer_only_if_the_server_says_that_nothing_bridged_it(told: dict, answer) -> None:
    reports = (report(0, marks={"vad_stop": server(12.2), "turn_commit": server(12.3)}, **told),)
    result, fixture = call(reports=reports, utterances=(said(12.6, 14.0),))
    (record,) = turn_records(result, fixture, "s")
    assert record["marks"]["first_audible"] == 12.6
    assert record["marks"]["first_answer_audible"] == answer


def stall(at: float, ms: float = 150.0, kind: str = "event loop") -> dict[str, object]:
    return {"at": server(at), "ms": ms, "kind": kind}


def test_stalls_belong_to_the_turn_in_which_they_began_whoever_reported_them():
    marks = {"vad_stop": server(12.2), "turn_commit": server(12.3)}
    later = {"vad_stop": server(22.2), "turn_commit": server(22.3)}
    reports = (
        report(0, marks=marks, stalls=[stall(9.0), stall(12.4), stall(13.0, 30.0, "garbage collection")]),
        report(1, marks=later, stalls=[stall(12.4), stall(20.1), stall(20.6)]),
    )
    result, fixture = call(turns=(turn(), turn()), positions=(10.0, 20.0), reports=reports)
    first, second = turn_records(result, fixture, "commands")
    # One that was before the first turn is told with it.
    assert [(one["at"], one["ms"], one["kind"]) for one in first["stalls"]] == [
        (9.0, 150.0, "event loop"),
        (12.4, 150.0, "event loop"),
        (13.0, 30.0, "garbage collection"),
        (20.1, 150.0, "event loop"),
    ]
    assert [one["at"] for one in second["stalls"]] == [20.6], "the second turn's sound begins at 20.5 s"
    assert [one["stalls"] for one in first["server_turns"]] == [3]
    assert len(TurnRecord.from_json(first).stalls) == 4


def test_a_server_that_watches_nothing_has_unknown_stalls():
    result, fixture = call(reports=(report(0, marks={"vad_stop": server(12.2)}),))
    (record,) = turn_records(result, fixture, "commands")
    assert (record["stalls"], record["server_turns"][0]["stalls"]) == ([], None)
    assert not TurnRecord.from_json(record).watched


def test_without_aligned_clocks_stalls_have_no_place():
    reports = (report(0, received=12.5, marks={"vad_stop": server(12.2)}, stalls=[stall(12.4)]),)
    result, fixture = call(reports=reports, alignment=None)
    (record,) = turn_records(result, fixture, "commands")
    assert record["stalls"] == []
    assert TurnRecord.from_json(record).watched


def test_a_turn_that_the_caller_marked_as_bad_says_when():
    reports = (report(0, marks={"turn_commit": server(11.2)}), report(1, marks={"turn_commit": server(21.3)}))
    result, fixture = call(turns=(turn(), turn()), positions=(10.0, 20.0), reports=reports)
    records = call_records.turn_records(result, fixture, "s", marked={1: 24.5})
    assert [record.marked_bad for record in records] == [None, 24.5]
