"""A turn's instants are collected once, in order, and speech that answers nobody is nobody's."""

from pipelines.turn_log import TurnLog


def answered(log: TurnLog, at: float = 10.0) -> None:
    log.user_started(at)
    log.mark_last("vad_stop", at + 1.2)
    log.heard("what time is it", at + 1.21)
    log.requested(at + 1.25)
    log.mark_last("turn_commit", at + 1.251)
    log.ended("smart_turn", probability=0.9, inference=0.04, failed=None)
    log.mark_first("llm_first_token", at + 1.26)
    log.clause("a", "It is ten,", at + 1.27)
    log.clause("a", "past four.", at + 1.29)
    log.llm_ended(at + 1.28)
    log.audio("a", at + 1.3)
    log.sent(at + 1.31)


def test_an_answered_turn_holds_every_instant_and_text() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    done = log.bot_stopped(13.0)
    assert done is not None
    report = done.report()
    assert report["final"]
    assert report["said"] == "It is ten, past four."
    assert report["ended_by"] == "smart_turn"
    assert report["smart_turn"] == {"probability": 0.9, "ms": 40.0}
    assert report["marks"]["first_sent"] == 11.31
    assert list(report["marks"].values()) == sorted(report["marks"].values())
    assert report["marks"]["turn_commit"] == report["marks"]["llm_request"] == 11.25
    assert report["attempts"][0]["outcome"] == "spoken"


def test_a_pause_counts_the_last_vad_stop_and_joins_the_texts() -> None:
    log = TurnLog(tier="responder")
    log.user_started(1.0)
    log.mark_last("vad_stop", 2.0)
    log.heard("set a timer for", 2.0)
    log.mark_last("vad_stop", 3.5)
    log.heard("ten seconds", 3.5)
    log.mark_last("turn_commit", 3.6)
    assert log.turn is not None
    assert log.turn.marks["vad_stop"] == 3.5
    assert log.turn.report()["heard"] == "set a timer for ten seconds"
    assert log.turn.report()["ended_by"] == "timeout"


def test_a_new_turn_interrupts_an_answer_under_way() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    before = log.user_started(12.0)
    assert before is not None
    assert before.interrupted
    assert before.final


def test_a_finished_turn_is_not_interrupted_by_the_next() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    log.bot_stopped(13.0)
    assert log.user_started(14.0) is None


def test_a_timer_that_rings_is_not_part_of_the_turn() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    log.clause("timer", "Your timer is done.", 12.0)
    assert log.turn is not None
    assert log.turn.report()["said"] == "It is ten, past four."


def test_what_comes_after_the_commit_changes_nothing_heard() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    log.heard("too late", 12.0)
    log.mark_last("vad_stop", 12.0)
    assert log.turn is not None
    assert log.turn.report()["heard"] == "what time is it"
    assert log.turn.marks["vad_stop"] == 11.2


def test_events_before_the_first_turn_are_ignored() -> None:
    log = TurnLog(tier="responder")
    log.heard("x", 0.5)
    log.clause("a", "Hello.", 1.0)
    log.requested(1.0)
    assert log.ended("fallback", probability=None, inference=None, failed=None) is None
    assert log.sent(1.0) is None
    assert log.bot_stopped(1.0) is None


def asked(log: TurnLog) -> None:
    log.user_started(10.0)
    log.mark_last("vad_stop", 11.2)
    log.heard("what time is it", 11.21)
    log.requested(11.25)


def test_a_model_that_fails_before_its_first_words_leaves_a_failed_turn_with_the_apology() -> None:
    log = TurnLog(tier="sim:echo")
    asked(log)
    failed = log.llm_failed("sim:echo could not be reached.", 11.3)
    log.llm_ended(11.3)
    log.clause("a", "Sorry.", 11.31)
    log.audio("a", 11.35)
    log.sent(11.36)
    assert failed is not None
    assert log.bot_stopped(12.0) is failed
    report = failed.report()
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
    log.clause("a", "It is", 11.31)
    log.llm_failed("it broke off", 11.4)
    assert log.turn is not None
    report = log.turn.report()
    assert report["failed"] == "it broke off"
    assert report["attempts"][0]["outcome"] == "spoken"
    assert report["marks"]["llm_first_clause"] == 11.31


def test_an_answer_with_a_tools_result_belongs_to_the_turn_though_words_before_it_were_spoken_to_their_end() -> None:
    log = TurnLog(tier="sim:echo")
    answered(log)
    log.bot_stopped(13.0)
    log.requested(13.1)
    log.clause("b", "The tool says four.", 13.3)
    log.llm_ended(13.2)
    done = log.bot_stopped(14.0)
    assert done is not None
    report = done.report()
    assert report["said"] == "It is ten, past four. The tool says four."
    assert report["marks"]["llm_request"] == 11.25
    assert report["marks"]["first_sent"] == 11.31
    assert report["attempts"][0]["end"] == 13.2
