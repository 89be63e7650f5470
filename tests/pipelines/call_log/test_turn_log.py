"""A turn's instants are collected once, in order, and speech that answers nobody is nobody's."""

from typing import Any

import pytest

from latency.record.json_form import from_json
from latency.record.requests import AnswerRecord, RequestRecord
from latency.record.turn import CheckRecord, Stall
from pipelines.call_log.live_turn import LiveTurn
from pipelines.call_log.turn_log import TurnLog
from voice.frames import RequestsFrame, TurnEndFrame


def answered(log: TurnLog, at: float = 10.0) -> None:
    log.turn_opened(at)
    log.mark_last("vad_stop", at + 1.2)
    log.heard(at + 1.21, "what time is it")
    log.asked(at + 1.25)
    log.mark_last("turn_commit", at + 1.251)
    log.turn_ended(
        12.5, TurnEndFrame(ended_by="smart_turn", probability=0.9, inference=0.04, finished=0.8, silence=0.2)
    )
    log.mark_first("llm_first_token", at + 1.26)
    log.speech_begun(at + 1.27, "It is ten,", "a")
    log.speech_begun(at + 1.29, "past four.", "a")
    log.model_ended(at + 1.28)
    log.speech_made(at + 1.3, 0.1, "a")
    log.agent_started(at + 1.31)


def test_an_answered_turn_holds_every_instant_and_text() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    done = log.agent_stopped(13.0)
    assert done is not None
    report = done.report().to_json()
    assert report["final"]
    assert report["said"] == "It is ten, past four."
    assert report["ended_by"] == "smart_turn"
    assert report["smart_turn"] == {"probability": 0.9, "ms": 40.0, "finished": 0.8, "silence_ms": 200}
    assert report["marks"]["first_sent"] == 11.31
    assert list(report["marks"].values()) == sorted(report["marks"].values())
    assert report["marks"]["turn_commit"] == report["marks"]["llm_request"] == 11.25
    assert report["attempts"][0]["outcome"] == "spoken"


def test_a_pause_counts_the_last_vad_stop_and_joins_the_texts() -> None:
    log = TurnLog(tier="responder")
    log.turn_opened(1.0)
    log.mark_last("vad_stop", 2.0)
    log.heard(2.0, "set a timer for")
    log.mark_last("vad_stop", 3.5)
    log.heard(3.5, "ten seconds")
    log.mark_last("turn_commit", 3.6)
    assert log.turn is not None
    assert log.turn.marks["vad_stop"] == 3.5
    assert log.turn.report().to_json()["heard"] == "set a timer for ten seconds"
    assert log.turn.report().to_json()["ended_by"] == "timeout"


def test_a_revised_text_replaces_the_one_before_it() -> None:
    log = TurnLog(tier="responder")
    log.turn_opened(1.0)
    log.heard(2.0, "Remember that my car up.")
    log.heard(3.5, "Remember that my car is up on level 3.", revised=True)
    assert log.turn is not None
    assert log.turn.report().to_json()["heard"] == "Remember that my car is up on level 3."
    assert log.turn.marks["transcript_final"] == 3.5


def test_a_new_turn_interrupts_an_answer_under_way() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    before = log.turn_opened(12.0)
    assert before is not None
    assert before.interrupted
    assert before.final


def test_a_client_that_asks_for_silence_interrupts_an_answer_under_way() -> None:
    log = TurnLog(tier="responder")
    assert log.silenced(1.0) is None
    answered(log)
    silenced = log.silenced(12.0)
    assert silenced and silenced.interrupted and not silenced.final, "its words are still to be sent"  # noqa: PT018
    assert log.agent_stopped(12.1) is silenced
    assert log.silenced(13.0) is None


def test_the_silence_was_long_enough_when_it_had_lasted_as_long_as_the_turn_needed() -> None:
    log = TurnLog(tier="responder")
    log.turn_opened(10.0)
    log.speech_stopped(11.262, 0.2)
    log.heard(11.272, "set a timer")
    log.turn_closed(12.478)
    turn = log.turn_ended(12.5, TurnEndFrame(ended_by="fallback", silence=1.403))
    assert turn is not None
    assert turn.marks["silent_enough"] == pytest.approx(12.465)
    again = log.turn_ended(12.5, TurnEndFrame(ended_by="fallback", silence=9.0))
    assert again is not None
    assert again.marks["silent_enough"] == 12.478, "never after the commit, whatever the rounding"
    log.turn_opened(14.0)
    log.speech_stopped(15.0, 0.2)
    unheard = log.turn_ended(12.5, TurnEndFrame(ended_by="nothing_heard"))
    assert unheard is not None
    assert "silent_enough" not in unheard.marks


def test_the_words_that_were_played_belong_to_the_turn_they_answer_even_when_the_next_has_begun() -> None:
    log = TurnLog(tier="responder")
    assert log.played("Welcome.") is None, "no turn has been answered yet"
    answered(log)
    log.turn_opened(12.0)
    before = log.played("It is ten,")
    assert before is not None
    assert before.report().turn.played == "It is ten,"
    assert before.report().turn.said == "It is ten, past four."
    assert log.turn is not None
    assert log.turn.report().turn.played == ""


def test_a_finished_turn_is_not_interrupted_by_the_next() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    log.agent_stopped(13.0)
    assert log.turn_opened(14.0) is None


def test_a_timer_that_rings_is_not_part_of_the_turn() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    log.speech_begun(12.0, "Your timer is done.", "timer")
    assert log.turn is not None
    assert log.turn.report().to_json()["said"] == "It is ten, past four."


def test_what_comes_after_the_commit_changes_nothing_heard() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    log.heard(12.0, "too late")
    log.mark_last("vad_stop", 12.0)
    assert log.turn is not None
    assert log.turn.report().to_json()["heard"] == "what time is it"
    assert log.turn.marks["vad_stop"] == 11.2


def test_events_before_the_first_turn_are_ignored() -> None:
    log = TurnLog(tier="responder")
    log.heard(0.5, "x")
    log.speech_begun(1.0, "Hello.", "a")
    log.asked(1.0)
    assert log.turn_ended(12.5, TurnEndFrame(ended_by="fallback")) is None
    assert log.agent_started(1.0) is None
    assert log.agent_stopped(1.0) is None


def asked(log: TurnLog) -> None:
    log.turn_opened(10.0)
    log.mark_last("vad_stop", 11.2)
    log.heard(11.21, "what time is it")
    log.asked(11.25)


def test_a_model_that_fails_before_its_first_words_leaves_a_failed_turn_with_the_apology() -> None:
    log = TurnLog(tier="sim:echo")
    asked(log)
    failed = log.model_failed(11.3, "sim:echo could not be reached.")
    log.model_ended(11.3)
    log.speech_begun(11.31, "Sorry.", "a")
    log.speech_made(11.35, 0.1, "a")
    log.agent_started(11.36)
    assert failed is not None
    assert log.agent_stopped(12.0) is failed
    report = failed.report().to_json()
    assert report["failed"] == "sim:echo could not be reached."
    assert report["said"] == "Sorry."
    assert "llm_first_clause" not in report["marks"]
    assert report["marks"]["clause_to_tts"] == 11.31
    (attempt,) = report["attempts"]
    assert (attempt["outcome"], attempt["first_token"], attempt["first_clause"]) == ("failed", None, None)


def test_a_model_that_breaks_off_has_answered_and_failed() -> None:
    log = TurnLog(tier="sim:echo")
    asked(log)
    log.mark_first("llm_first_token", 11.3)
    log.speech_begun(11.31, "It is", "a")
    log.model_failed(11.4, "it broke off")
    assert log.turn is not None
    report = log.turn.report().to_json()
    assert report["failed"] == "it broke off"
    assert report["attempts"][0]["outcome"] == "spoken"
    assert report["marks"]["llm_first_clause"] == 11.31


def test_an_answer_with_a_tools_result_belongs_to_the_turn_though_words_before_it_were_spoken_to_their_end() -> None:
    log = TurnLog(tier="sim:echo")
    answered(log)
    log.agent_stopped(13.0)
    log.asked(13.1)
    log.speech_begun(13.3, "The tool says four.", "b")
    log.model_ended(13.2)
    done = log.agent_stopped(14.0)
    assert done is not None
    report = done.report().to_json()
    assert report["said"] == "It is ten, past four. The tool says four."
    assert report["marks"]["llm_request"] == 11.25
    assert report["marks"]["first_sent"] == 11.31
    assert report["attempts"][0]["end"] == 13.2


def attempt(tier: str, **known: Any) -> dict[str, Any]:
    unknown = dict.fromkeys(("first_token", "first_clause", "end", "outcome", "failed", "continues"))
    return {"tier": tier, "request": 11.25, **unknown, "calls": [], **known}


def tell(
    log: TurnLog, *attempts: dict[str, Any], number: int = 0, final: bool = False, **known: Any
) -> LiveTurn | None:
    common = {"policy": "fallback", "reason": "large first", "commit": 11.25, "deadline": 11.7, "limit": "llm"}
    spoken = next((one["tier"] for one in attempts if one["outcome"] == "spoken"), None)
    answer = from_json(AnswerRecord, {"response": number, "tier": spoken, **common, **known})
    return log.attempted(RequestsFrame(answer, from_json(tuple[RequestRecord, ...], attempts), final))


def tiered() -> TurnLog:
    return TurnLog(tier="fallback", models={"large": "sim:sonnet", "fast": "sim:groq-fast"})


def test_the_attempts_of_a_turn_are_those_that_the_budgeted_service_tells() -> None:
    log = tiered()
    asked(log)
    tell(log, attempt("large"))
    tell(log, attempt("large"), attempt("fast"))
    log.mark_first("llm_first_token", 11.66)
    log.speech_begun(11.67, "It is ten.", "a")
    fast = attempt("fast", first_token=11.5, first_clause=11.52, end=11.6, outcome="spoken")
    turn = tell(log, attempt("large", end=11.67, outcome="cancelled"), fast, final=True)
    assert turn is not None
    report = turn.report().to_json()
    assert [(a["tier"], a["model"], a["outcome"]) for a in report["attempts"]] == [
        ("large", "sim:sonnet", "cancelled"),
        ("fast", "sim:groq-fast", "spoken"),
    ]
    assert report["marks"]["llm_first_token"] == 11.5, "it was there before it was chosen"
    (response,) = report["responses"]
    assert (response["tier"], response["deadline"], response["response"]) == ("fast", 11.7, 0)


def test_a_simulated_model_behind_a_proxy_is_named_as_simulated() -> None:
    log = TurnLog(tier="fallback", models={"large": "gpt-4.1", "fast": "sim:groq-fast"})
    asked(log)
    large = attempt("large", end=11.67, outcome="spoken", simulated=True)
    turn = tell(log, large, attempt("fast", outcome="cancelled", simulated=True), final=True)
    assert turn is not None
    assert [one["model"] for one in turn.report().to_json()["attempts"]] == ["sim:gpt-4.1", "sim:groq-fast"]


def test_a_hold_phrase_is_an_opening_and_no_part_of_the_answer() -> None:
    log = tiered()
    asked(log)
    tell(log, attempt("large"))
    log.speech_begun(11.68, "One moment.", "hold", of_answer=False)
    log.speech_made(11.69, 0.4, "hold")
    log.speech_made(11.7, 0.3, "hold")
    log.agent_started(11.7)
    assert log.agent_stopped(12.4) is None, "the answer is still to come"
    assert log.turn is not None
    assert log.turn.report().to_json()["answer_pending"]
    log.speech_begun(12.9, "It is ten.", "a")
    log.speech_made(12.95, 0.5, "a")
    turn = tell(log, attempt("large", first_token=12.85, first_clause=12.9, end=13.0, outcome="spoken"), final=True)
    assert log.agent_stopped(13.6) is turn
    assert turn is not None
    report = turn.report().to_json()
    assert (report["opening"], report["opening_seconds"], report["said"]) == ("One moment.", 0.7, "It is ten.")
    assert not report["answer_pending"]
    marks = report["marks"]
    assert (marks["clause_to_tts"], marks["tts_first_sample"], marks["first_sent"]) == (11.68, 11.69, 11.7)
    assert marks["llm_first_clause"] == 12.9


def test_what_is_told_of_an_answer_later_belongs_to_the_turn_that_it_answers() -> None:
    log = tiered()
    asked(log)
    tell(log, attempt("large"))
    log.turn_opened(12.0)
    before = tell(log, attempt("large", end=12.0, outcome="cancelled"), final=True)
    assert before is not None
    assert (before.number, before.interrupted) == (0, True)
    assert log.turn is not None
    assert log.turn.report().to_json()["responses"] == ()


def test_stalls_are_told_with_the_turn_that_was_reported_last_before_they_ended() -> None:
    ended = [9.0, 11.0, 12.5, 14.0]

    def between(since: float, until: float) -> list[Stall]:
        return [Stall(at=at, ms=0.0, kind="event loop") for at in ended if since < at <= until]

    log = TurnLog(tier="responder", stalls=between, began=9.5)
    answered(log)
    first = log.agent_stopped(12.0)
    assert first is not None
    log.turn_opened(13.0)
    assert log.turn is not None
    assert [stall["at"] for stall in first.report().to_json()["stalls"]] == [11.0], "9.0 is of an earlier call"
    # The one at 12.5 s came after the first turn's last report.
    assert [stall["at"] for stall in log.turn.report().to_json()["stalls"]] == [12.5, 14.0]


def test_a_loop_that_nobody_watches_has_unknown_stalls() -> None:
    log = TurnLog(tier="responder")
    log.turn_opened(1.0)
    assert log.turn is not None
    assert log.turn.report().to_json()["stalls"] is None


def ahead(log: TurnLog) -> LiveTurn:
    log.turn_opened(10.0)
    log.speech_may_have_stopped(11.1, 0.1)
    log.asked_ahead(11.15)
    log.spoken_ahead()
    log.mark_last("vad_stop", 11.2)
    log.heard(11.2, "what time is it")
    assert log.turn is not None
    return log.turn


def test_an_answer_begun_ahead_has_its_request_before_the_commit() -> None:
    log = TurnLog(tier="responder", speculates=True)
    turn = ahead(log)
    log.turn_closed(11.21)
    log.turn_ended(12.5, TurnEndFrame(ended_by="smart_turn", speculated=1, confirmed=True))
    log.speech_begun(11.22, "It is noon.", "a")
    report = turn.report().to_json()
    assert report["speculation"] == {
        "hints": 1, "started": 1, "discarded": 0, "early": 0, "used": True, "request": 11.15, "spoken_ahead": True
    }  # fmt: skip
    marks = report["marks"]
    assert (marks["eager_hint"], marks["llm_request"], marks["turn_commit"]) == (11.1, 11.15, 11.21)
    assert report["said"] == "It is noon."


def test_a_withdrawn_answer_leaves_only_its_count() -> None:
    log = TurnLog(tier="responder", speculates=True)
    turn = ahead(log)
    log.withdrawn()
    log.speech_may_have_stopped(12.0, 0.1)
    log.asked(12.2)
    log.turn_closed(12.21)
    log.turn_ended(12.5, TurnEndFrame(ended_by="smart_turn", speculated=1, discarded=1))
    report = turn.report().to_json()
    assert report["speculation"] == {
        "hints": 2, "started": 1, "discarded": 1, "early": 0, "used": False, "request": None, "spoken_ahead": False
    }  # fmt: skip
    assert (report["marks"]["llm_request"], report["marks"]["turn_commit"]) == (12.2, 12.2)


def test_the_instants_of_a_withdrawn_answer_are_not_those_of_the_next() -> None:
    log = tiered()
    turn = ahead(log)
    known = {"first_token": 11.3, "first_clause": 11.35}
    tell(log, attempt("large", outcome="spoken", **known))
    assert turn.marks["llm_first_token"] == 11.3
    log.withdrawn()
    tell(log, attempt("large", outcome="withdrawn", end=11.4, **known), final=True)
    log.asked_ahead(12.1)
    log.turn_closed(12.6)
    tell(log, attempt("large"), number=1)
    # The next answer has not come when the user speaks again.
    before = log.turn_opened(16.0)
    assert before is not None
    marks = before.report().to_json()["marks"]
    assert marks["llm_request"] == 12.1
    assert not {"llm_first_token", "clause_ready"} & set(marks)


def test_nothing_is_told_of_speculation_where_there_is_none() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    assert log.turn is not None
    assert log.turn.report().to_json()["speculation"] is None


def test_tools_are_marked_unless_something_was_spoken_before_they_ran() -> None:
    log = TurnLog(tier="responder")
    log.turn_opened(1.0)
    log.asked(2.0)
    log.tool_began(2.3, "weather")
    log.tool_began(2.4, "weather")
    log.tool_ended(3.0, "weather", goes_on=True)
    log.tool_ended(5.0, "weather", goes_on=True)
    log.mark_first("llm_first_token", 5.4)
    log.tool_began(6.0, "weather")
    log.tool_ended(7.0, "weather", goes_on=True)
    assert log.turn is not None
    assert (log.turn.marks["tool_called"], log.turn.marks["tool_returned"]) == (2.3, 5.0)
    log.turn_opened(10.0)
    log.asked(11.0)
    log.mark_first("llm_first_token", 11.2)
    log.tool_began(11.5, "weather")
    log.tool_ended(12.0, "weather", goes_on=True)
    assert not log.turn.marks.keys() & {"tool_called", "tool_returned"}


def test_corrected_words_replace_the_heard_ones_and_their_answer_is_the_turns() -> None:
    log = TurnLog(tier="large", speculates=True)
    log.turn_opened(1.0)
    log.mark_last("vad_stop", 2.2)
    log.heard(2.2, "set a timer for fifteen minutes")
    log.asked_ahead(2.21)
    log.turn_closed(2.25)
    log.corrected("set a timer for fifty minutes")
    log.asked(2.5)
    log.checked(CheckRecord(outcome="changed", began=2.2, ended=2.4, seconds=0.19, before="fifteen", after="fifty"))
    log.held(0.05)
    assert log.turn is not None
    turn = log.turn.report().turn
    assert turn.heard == "set a timer for fifty minutes"
    assert (turn.marks["llm_request"], turn.marks["turn_commit"]) == (2.5, 2.25)
    assert turn.speculation is not None
    assert (turn.speculation.used, turn.speculation.discarded) == (False, 1)
    (check,) = turn.checks
    assert (check.outcome, check.held_ms) == ("changed", 50.0)


def test_a_turn_without_checks_has_none_and_an_answer_may_wait_for_one_that_is_not_over() -> None:
    log = TurnLog(tier="large")
    log.turn_opened(1.0)
    log.held(0.05)
    assert log.turn is not None
    assert log.turn.report().turn.checks == ()
