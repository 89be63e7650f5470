import json
import re
from typing import Any

import pytest

from latency.record.marks import Mark
from latency.record.turn import CONTRIBUTIONS, TurnError, TurnRecord

MINIMAL = {"session": "commands", "turn": 3, "wants_answer": True, "speech": [[1.0, 2.0]]}


def turn(**values: Any) -> TurnRecord:
    return TurnRecord.from_json({**MINIMAL, **values})


def test_a_turn_survives_its_line_unchanged() -> None:
    before = turn(
        labels=[[0.0, 3.0, "noise"]], contains=["it is"], ended_by="smart_turn",
        marks={"vad_stop": 2.2, "first_sent": None}, smart_turn={"probability": 0.93, "ms": 41.0},
        attempts=[{"tier": "responder", "request": 2.3}], responses=[{"response": 0, "deadline": 2.7}],
        stalls=[{"at": 2.4, "ms": 150.5, "kind": "event loop"}],
    )  # fmt: skip
    line = json.dumps(before.to_json())
    assert TurnRecord.from_json(line) == before
    assert json.loads(line)["schema"] == 1
    assert json.loads(line)["marks"] == {"vad_stop": 2.2}


def test_absent_and_null_marks_are_unknown() -> None:
    assert turn(marks={"vad_stop": None}).marks == turn().marks == {}


def test_a_line_from_before_there_were_budgets_still_loads() -> None:
    line = {"schema": 1, **MINIMAL, "attempts": [{"tier": "responder", "request": 2.3}]}
    assert (turn().responses, TurnRecord.from_json(line).responses) == ((), ())


def test_a_line_from_before_stalls_were_watched_still_loads() -> None:
    before, since = turn(server_turns=[{"turn": 0}]), turn(server_turns=[{"turn": 0, "stalls": 0}])
    assert (before.stalls, before.watched, since.stalls, since.watched) == ((), False, (), True)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"marks": {"asr_done": 1.0}}, "unknown mark 'asr_done'; known are speech_end, "),
        ({"marks": {"vad_stop": "soon"}}, "vad_stop is 'soon', not seconds"),
        ({"server_turns": [{"marks": {"vad_stopp": 1.0}}]}, "unknown mark 'vad_stopp'"),
        ({"marks": {"llm_first_token": 2.1, "llm_request": 2.4}}, "turn 3 of session 'commands': llm_first_token"),
        ({"speech": [[1.0, 2.0], [1.9, 3.0]]}, "speech stretches must follow one another"),
        ({"speech": [[2.0, 1.0]]}, "speech stretches must follow one another"),
        ({"speech": []}, "wants an answer but has no speech"),
        ({"speech": [1.0, 2.0]}, "speech is"),
        ({"ended_by": "magic"}, "ended_by is 'magic'"),
        ({"contains": "it is"}, "contains is a list"),
        ({"responses": {"response": 0}}, "responses is a list"),
        ({"stalls": [{"at": 1.0}]}, "a stall has at, ms and kind"),
        ({"stalls": [{"at": 1.0, "ms": 30, "kind": "nap"}]}, "the kind of a stall is event loop or garbage"),
        ({"session": 3}, "session is 3, not a text"),
        ({"turn": "3"}, "turn is '3', not a whole number"),
        ({"wants_answer": None}, "wants_answer is unknown"),
        ({"want_answer": True}, "unknown key 'want_answer'"),
        ({"schema": 2}, "schema 2 is not the 1"),
        ({"marks": [1]}, "marks is an object, not [1]"),
        ({"marks": {"vad_stop": float("nan")}}, "the mark vad_stop is nan, not seconds"),
        ({"server_turns": [1]}, "server_turns is a list of objects, not"),
        ({"server_turns": [{"attempts": "x"}]}, "attempts in server_turns is a list of objects, not 'x'"),
        ({"attempts": [None]}, "attempts is a list of objects, not"),
        ({"attempts": [{"request": "x"}]}, "request in attempts is 'x', not seconds"),
        ({"attempts": [{"tokens": 3}]}, "tokens in attempts is 3, not an object"),
        ({"attempts": [{"tokens": {"in": "many"}}]}, "in in tokens is 'many', not a whole number"),
        ({"attempts": [{"outcome": ["spoken"]}]}, "outcome in attempts is ['spoken'], not a text"),
        ({"responses": [{"response": [0]}]}, "response in responses is [0], not a whole number"),
        ({"server_turns": [{"speculation": {"started": 1.5}}]}, "started in speculation is 1.5, not a whole number"),
        ({"text": "\ud800"}, "text is '\\ud800', not a text"),
        ({"speech": [[1.0, 10**400]]}, "speech is [[start, end], ...] in seconds"),
        ({"truth": "certain"}, "truth is 'certain'; it is labelled or estimated"),
        ({"responses": [{"said": [2]}]}, "said in responses is a list of objects, not"),
    ],
)
def test_contradictions_and_unknown_names_are_refused_with_one_sentence(values: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TurnError, match=re.escape(complaint)):
        turn(**values)


@pytest.mark.parametrize(("line", "complaint"), [('{"turn": 1', "not JSON"), ("[]", "object"), ("{}", "'session'")])
def test_a_line_that_is_no_turn_is_refused(line: str, complaint: str) -> None:
    with pytest.raises(TurnError, match=complaint):
        TurnRecord.from_json(line)


def test_pauses_are_silences_of_100_ms_and_more_between_stretches() -> None:
    assert turn(speech=[[1, 2], [2.05, 3], [3.6, 4]]).pauses == ((3, 3.6),)


FULL = {
    "vad_stop": 2.2, "transcript_final": 2.23, "turn_commit": 2.29, "llm_request": 2.3, "llm_first_token": 2.6,
    "llm_first_clause": 2.65, "clause_to_tts": 2.66, "tts_first_sample": 2.7, "first_sent": 2.71,
    "first_received": 2.715, "first_audible": 2.78,
}  # fmt: skip


def test_contributions_tile_the_turn() -> None:
    parts = turn(marks=FULL).contributions()
    assert tuple(parts) == CONTRIBUTIONS
    assert {key: round((part or 0) * 1000) for key, part in parts.items()} == {
        "endpointing_wait": 200, "transcription": 30, "turn_detection": 60, "llm_inference": 310,
        "sentence_aggregation": 60, "tier_hold": 0, "speech_synthesis": 40, "output_transport": 10,
        "playout": 70, "pipeline": 0,
    }  # fmt: skip


@pytest.mark.parametrize("dropped", [[], ["transcript_final"], ["llm_first_token", "clause_to_tts"], ["first_sent"]])
@pytest.mark.parametrize("moved", [{}, {"llm_request": 2.05, "llm_first_token": 2.2}, {"transcript_final": 2.4}])
def test_contributions_always_add_up_to_the_turn(dropped: list[str], moved: dict[str, float]) -> None:
    marks = {name: at for name, at in {**FULL, **moved}.items() if name not in dropped}
    parts = turn(marks=marks).contributions()
    assert sum(part for part in parts.values() if part is not None) == pytest.approx(0.78)
    assert all(part is None or part >= -1e-9 for part in parts.values())


def test_a_stage_that_ran_ahead_takes_no_time_of_its_own() -> None:
    parts = turn(marks={**FULL, "llm_request": 2.1, "llm_first_token": 2.25}).contributions()
    assert parts["llm_inference"] == 0
    assert parts["sentence_aggregation"] == pytest.approx(0.37)


def test_a_clause_that_was_held_for_a_better_model_is_no_slow_aggregation() -> None:
    parts = turn(marks={**FULL, "clause_ready": 2.62}).contributions()
    assert parts["sentence_aggregation"] == pytest.approx(0.02)
    assert parts["tier_hold"] == pytest.approx(0.04)


def test_a_bridge_ends_the_wait_for_the_model() -> None:
    bridged = turn(marks={**FULL, "llm_first_token": 4.0, "llm_first_clause": 4.1}).contributions()
    assert bridged["llm_inference"] == pytest.approx(0.37)
    assert sum(part or 0 for part in bridged.values()) == pytest.approx(0.78)


def test_unknown_stages_are_none_and_their_time_is_the_pipelines() -> None:
    marks = {name: at for name, at in FULL.items() if name != "transcript_final"}
    parts = turn(marks=marks).contributions()
    assert parts["transcription"] is None
    assert parts["turn_detection"] is None
    assert parts["pipeline"] == pytest.approx(0.09)
    unheard = turn(marks={"vad_stop": 2.2}).contributions()
    assert unheard["endpointing_wait"] == pytest.approx(0.2)
    assert unheard["pipeline"] is None


def test_the_labelled_end_outranks_the_servers_opinion() -> None:
    parts = turn(marks={**FULL, Mark.SPEECH_END: 1.5}).contributions()
    assert parts["endpointing_wait"] == pytest.approx(0.2)
