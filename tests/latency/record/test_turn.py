import json
import re
from typing import Any

import pytest

from latency.record.contributions import CONTRIBUTIONS
from latency.record.json_form import TurnError, from_json, to_json
from latency.record.marks import Mark
from latency.record.turn import Stall, TurnRecord

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
        ({"marks": {"vad_stop": "soon"}}, "the mark vad_stop is 'soon', not seconds"),
        ({"marks": {"vad_stop": float("nan")}}, "the mark vad_stop is nan, not seconds"),
        ({"server_turns": [{"turn": 0, "marks": {"vad_stop": []}}]}, "the mark vad_stop is [], not seconds"),
        ({"marks": {"llm_first_token": 2.1, "llm_request": 2.4}}, "turn 3 of session 'commands': llm_first_token"),
        ({"speech": [[1.0, 2.0], [1.9, 3.0]]}, "speech stretches must follow one another"),
        ({"speech": [[2.0, 1.0]]}, "speech stretches must follow one another"),
        ({"speech": []}, "wants an answer but has no speech"),
        ({"speech": [1.0, 2.0]}, "speech[0] is 1.0, not a list"),
        ({"speech": [[1.0]]}, "speech[0] is [1.0], not a list of length 2"),
        ({"speech": [[1.0, 10**400]]}, "not a number within range"),
        ({"ended_by": "magic"}, "ended_by is 'magic', not one of fallback, nothing_heard, own_voice, recogniser"),
        ({"truth": "certain"}, "truth is 'certain', not one of estimated, labelled"),
        ({"contains": "it is"}, "contains is 'it is', not a list"),
        ({"responses": {"response": 0}}, "responses is {'response': 0}, not a list"),
        ({"stalls": [{"at": 1.0}]}, "the key stalls[0].ms is missing"),
        ({"stalls": [{"at": 1.0, "ms": 30, "kind": "nap"}]}, "stalls[0].kind is 'nap', not one of event loop, garbage"),
        ({"session": 3}, "session is 3, not a text"),
        ({"turn": "3"}, "turn is '3', not a whole number"),
        ({"turn": -1}, "turn is -1, not a whole number >= 0"),
        ({"wants_answer": None}, "wants_answer is None, not true or false"),
        ({"schema": 0}, "schema is 0, not the 1"),
        ({"schema": "2"}, "schema is '2', not the 1"),
        ({"speech": [[-1.0, 2.0]]}, "speech[0][0] is -1.0, not a number >= 0"),
        ({"marks": {"vad_stop": -0.5}}, "the mark vad_stop is -0.5, not seconds from 0 on"),
        ({"attempts": [{"request": -2.3}]}, "attempts[0].request is -2.3, not a number >= 0"),
        ({"marks": [1]}, "marks is [1], not an object"),
        ({"server_turns": [1]}, "server_turns[0] is 1, not an object"),
        ({"server_turns": [{}]}, "the key server_turns[0].turn is missing"),
        ({"server_turns": [{"turn": 0, "attempts": "x"}]}, "server_turns[0].attempts is 'x', not a list"),
        ({"server_turns": [{"turn": 0, "speculation": {"started": 1.5}}]}, "speculation.started is 1.5, not a whole"),
        ({"attempts": [None]}, "attempts[0] is None, not an object"),
        ({"attempts": [{"request": "x"}]}, "attempts[0].request is 'x', not a number"),
        ({"attempts": [{"tokens": 3}]}, "attempts[0].tokens is 3, not an object"),
        ({"attempts": [{}, {"tokens": {"in": "many"}}]}, "attempts[1].tokens.in is 'many', not a whole number"),
        ({"attempts": [{"outcome": ["spoken"]}]}, "attempts[0].outcome is ['spoken'], not a text"),
        (
            {"attempts": [{}, {"outcome": "lost"}]},
            "attempts[1].outcome is 'lost', not one of called, cancelled, failed",
        ),
        ({"server_turns": [{"turn": 0, "responses": [{"limit": "x"}]}]}, "limit is 'x', not one of floor, llm, turn"),
        ({"responses": [{"response": [0]}]}, "responses[0].response is [0], not a whole number"),
        ({"responses": [{"said": [2]}]}, "responses[0].said[0] is 2, not an object"),
    ],
)
def test_contradictions_and_wrong_forms_are_refused_with_one_sentence_that_names_the_key(
    values: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(TurnError, match=re.escape(complaint)):
        turn(**values)


@pytest.mark.parametrize(
    ("line", "complaint"), [('{"turn": 1', "not JSON"), ("[]", "object"), ("{}", "key session is missing")]
)
def test_a_line_that_is_no_turn_is_refused(line: str, complaint: str) -> None:
    with pytest.raises(TurnError, match=complaint):
        TurnRecord.from_json(line)


def test_half_a_character_is_not_json() -> None:
    with pytest.raises(TurnError, match="not JSON"):
        TurnRecord.from_json(json.dumps({**MINIMAL, "text": "\ud800"}))


def test_keys_and_marks_of_newer_versions_are_ignored() -> None:
    attempt = {"tier": "large", "cost_usd": 0.1}
    newer = turn(marks={"asr_done": 1.0, "vad_stop": 2.2}, colour="blue", attempts=[attempt])
    assert newer == turn(marks={"vad_stop": 2.2}, attempts=[{"tier": "large"}])


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
        "tool": 0, "sentence_aggregation": 60, "tier_hold": 0, "speech_synthesis": 40, "output_transport": 10,
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


def test_a_stall_survives_its_line() -> None:
    entry = {"at": 2.5, "ms": 150.5, "kind": "garbage collection"}
    stall = from_json(Stall, entry)
    assert to_json(stall) == entry
    assert stall.end == pytest.approx(2.6505)


@pytest.mark.parametrize("entry", [{}, 5, {"at": None, "ms": 1, "kind": "event loop"}, {"at": 1, "ms": 1, "kind": "?"}])
def test_what_is_no_stall_is_refused(entry: object) -> None:
    with pytest.raises(TurnError):
        from_json(Stall, entry)
