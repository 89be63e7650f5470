from typing import Any

import pytest

from latency.judge.barge_in import BargeInResult
from latency.judge.session import SessionOutcome, judge_session
from latency.judge.turn import Outcome, Unanswered
from latency.record.session import Session
from latency.record.turn import TurnRecord
from latency.report.turn_figures import quality
from tests.latency.conversations import Conversation

NEAR = 0.010


def turn(number: int, *speech: tuple[float, float], **values: Any) -> TurnRecord:
    return TurnRecord.from_json(
        {"session": "s", "turn": number, "speech": speech, "wants_answer": True, "heard": "hello", **values}
    )


def judge(talk: Conversation, *turns: TurnRecord, **session: Any) -> SessionOutcome:
    return judge_session(Session(name="s", **session), turns, talk.samples)


def only(talk: Conversation, *turns: TurnRecord, **session: Any) -> Outcome:
    return judge(talk, *turns, **session).outcomes[0]


def test_latency_runs_from_the_labelled_end_to_the_first_audible_sample() -> None:
    # The user's channel is noisy to the end, so that no detector could find the end that the label gives.
    talk = Conversation(6).user(1, 2).noise(0, 0.05).bot(2.613, 4)
    found = only(talk, turn(0, (1, 2)))
    assert found.latency == pytest.approx(0.613, abs=0.001)
    assert found.answered
    assert not found.cut_off


@pytest.mark.parametrize("begin", [1.5, 2.2], ids=["inside speech", "inside a pause"])
def test_speaking_before_the_users_end_is_a_cut_off(begin: float) -> None:
    talk = Conversation(8).bot(begin, begin + 0.3).bot(4.4, 5)
    found = only(talk, turn(0, (1, 2), (2.8, 4)))
    assert found.cut_off
    assert found.latency == pytest.approx(0.4, abs=NEAR)
    assert (found.pauses, found.pauses_cut) == (1, int(begin == 2.2))


def test_an_answer_that_began_too_early_and_went_on_is_an_answer_without_a_latency() -> None:
    found = only(Conversation(8).bot(1.5, 4), turn(0, (1, 2)))
    assert (found.cut_off, found.answered, found.latency, found.unanswered) == (True, True, None, None)


def test_a_commit_inside_a_pause_counts_though_nothing_was_audible() -> None:
    found = only(
        Conversation(8).bot(4.4, 5),
        turn(0, (1, 2), (2.8, 4), server_turns=[{"turn": 0, "marks": {"turn_commit": 2.6}}]),
    )
    assert (found.cut_off, found.pauses, found.pauses_cut) == (True, 1, 1)
    assert not found.is_timed, "the answer to half a turn is no fast answer"


def test_an_answer_begun_before_the_end_and_heard_just_after_it_is_a_cut_off() -> None:
    early = turn(0, (1, 2), server_turns=[{"turn": 0, "marks": {"turn_commit": 1.97}}])
    found = only(Conversation(8).bot(2.05, 3), early)
    assert (found.cut_off, found.answered, found.is_timed, found.is_early) == (True, True, False, False)
    prompt = turn(0, (1, 2), server_turns=[{"turn": 0, "marks": {"turn_commit": 2.04}}])
    assert not only(Conversation(8).bot(2.05, 3), prompt).cut_off


def test_a_pause_that_was_taken_for_the_end_is_no_cut_off_when_only_the_whole_turns_answer_was_heard() -> None:
    commits = [{"turn": number, "marks": {"turn_commit": at}} for number, at in enumerate((2.6, 4.3))]
    found = only(Conversation(8).bot(4.6, 5), turn(0, (1, 2), (2.8, 4), server_turns=commits))
    assert (found.cut_off, found.pauses_cut, found.is_timed) == (False, 1, True)
    one_answer = only(Conversation(8).bot(4.2, 5), turn(0, (1, 2), (2.8, 4), server_turns=commits))
    assert one_answer.cut_off, "it was heard before the second commit, so it is the first one's"


def test_of_a_turn_that_was_joined_the_report_says_what_was_heard_of_the_first_answer() -> None:
    reports = [{"turn": 0, "marks": {"turn_commit": 2.2}}, {"turn": 1, "joined": True, "marks": {"turn_commit": 4.2}}]
    speech = turn(0, (1, 2), (2.8, 4), server_turns=reports)
    for talk, heard in ((Conversation(8).bot(2.9, 3.02).bot(4.6, 5), 120.0), (Conversation(8).bot(4.6, 5), 0.0)):
        found = quality([judge(talk, speech)])
        assert found.joined == 1
        assert found.joined_heard_ms == pytest.approx(heard, abs=10)
    apart = turn(0, (1, 2), (2.8, 4), server_turns=[{**report, "joined": False} for report in reports])
    assert quality([judge(Conversation(8).bot(4.6, 5), apart)]).joined == 0


@pytest.mark.parametrize(("begin", "early"), [(2.19, True), (2.21, False)])
def test_an_answer_within_200_ms_is_early(begin: float, early: bool) -> None:
    found = only(Conversation(8).bot(begin, 4), turn(0, (1, 2)))
    assert (found.is_early, found.is_timed) == (early, True)


def test_a_barge_in_stops_with_the_utterance_that_was_under_way() -> None:
    talk = Conversation(9).bot(1, 3.38).bot(4.9, 6)
    found = only(talk, turn(0, (3, 4), barge_in=True))
    assert found.barge_in_stop == pytest.approx(0.38, abs=NEAR)
    assert found.latency == pytest.approx(0.9, abs=NEAR)


def test_a_barge_in_of_a_silent_bot_has_no_stop_time() -> None:
    assert only(Conversation(9).bot(1, 2).bot(4.9, 6), turn(0, (3, 4), barge_in=True)).barge_in_stop is None


def test_an_apology_for_a_failed_model_is_no_answer_and_has_no_latency() -> None:
    failed = turn(0, (1, 2), failed="the model has crashed", attempts=[{"tier": "large", "outcome": "failed"}])
    found = only(Conversation(8).bot(2.5, 4), failed)
    assert (found.answered, found.latency, found.unanswered) == (False, None, Unanswered.FAILED)


def test_a_phrase_that_bridged_a_wait_for_nothing_is_no_answer() -> None:
    said = [{"at": 2.4, "kind": "hold", "text": "One moment."}]
    response = {"response": 0, "commit": 2.0, "limit": "llm", "deadline": 2.45, "said": said}
    attempts = [{"tier": "large", "outcome": "cancelled", "response": 0}]
    bridged = turn(0, (1, 2), attempts=attempts, responses=[response], heard="hello", interrupted=True)
    found = judge(Conversation(12).bot(2.5, 3.2), bridged, turn(1, (6, 7))).outcomes[0]
    assert (found.answered, found.latency, found.whole) == (False, None, None)
    assert found.unanswered is Unanswered.TALKED_OVER


def test_the_whole_answer_ends_with_the_turns_last_sound_if_it_was_heard_to_its_end() -> None:
    talk = Conversation(14).bot(2.5, 3.0).bot(3.6, 5.0).bot(8.5, 10.5).bot(11.0, 12.0)
    first, second, third = judge(talk, turn(0, (1, 2)), turn(1, (7, 8)), turn(2, (10.2, 10.8))).outcomes
    assert first.whole == pytest.approx(3.0, abs=NEAR)
    assert second.whole is None
    assert third.whole == pytest.approx(1.2, abs=NEAR)
    assert only(Conversation(9).bot(2.5, 3), turn(0, (1, 2), interrupted=True)).whole is None


@pytest.mark.parametrize(("answer", "gaps"), [(3.8, 0), (2.5, 1)])
def test_the_wait_between_a_phrase_and_its_answer_is_no_drop_out(answer: float, gaps: int) -> None:
    marks = {"first_audible": 2.5, "first_answer_audible": answer}
    found = judge(Conversation(9).bot(2.5, 3.2).bot(3.8, 5), turn(0, (1, 2), marks=marks), underruns=[(3.2, 3.79)])
    assert len(found.gaps) == gaps


def test_a_turn_that_another_model_rescued_is_answered() -> None:
    attempts = [{"tier": "large", "outcome": "failed"}, {"tier": "fast", "outcome": "spoken"}]
    found = only(Conversation(8).bot(2.5, 4), turn(0, (1, 2), attempts=attempts))
    assert (found.answered, found.unanswered) == (True, None)


def test_an_answer_after_the_next_turn_began_belongs_to_that_turn() -> None:
    talk = Conversation(12).bot(7.5, 8)
    first, second = judge(talk, turn(0, (1, 2)), turn(1, (6, 7))).outcomes
    assert (first.latency, first.unanswered) == (None, Unanswered.NO_SPEECH)
    assert second.latency == pytest.approx(0.5, abs=NEAR)


def test_a_backchannel_neither_ends_a_turn_nor_is_it_cut_off() -> None:
    talk = Conversation(9).bot(2.5, 4).bot(4.4, 6)
    answer, backchannel = judge(
        talk, turn(0, (1, 2)), turn(1, (4.2, 4.6), wants_answer=False, backchannel=True)
    ).outcomes
    assert answer.latency == pytest.approx(0.5, abs=NEAR)
    assert (backchannel.cut_off, backchannel.unanswered, backchannel.answered) == (False, None, False)


REPORT: list[dict[str, Any]] = [{"turn": 0, "marks": {}}]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"failed": "the recogniser's process died", "server_turns": REPORT}, Unanswered.FAILED),
        ({"heard": "", "server_turns": REPORT}, Unanswered.NOTHING_HEARD),
        ({"server_turns": REPORT}, Unanswered.NO_SPEECH),
        ({"heard": None}, Unanswered.NO_SPEECH),
        ({"marks": {"first_sent": 5.9}, "server_turns": REPORT}, Unanswered.TALKED_OVER),
        ({"marks": {"first_sent": 3.0}, "server_turns": REPORT}, Unanswered.NO_SPEECH),
        ({"interrupted": True, "server_turns": REPORT}, Unanswered.TALKED_OVER),
    ],
)
def test_an_unanswered_turn_has_its_reason(values: dict[str, Any], reason: Unanswered) -> None:
    found = only(Conversation(9), turn(0, (1, 2), **values), turn(1, (6, 7)))
    assert (found.unanswered, found.answered) == (reason, False)


@pytest.mark.parametrize("values", [{"server_turns": REPORT}, {"server_turns": REPORT, "heard": ""}, {"heard": None}])
def test_a_call_that_ends_before_an_answer_could_come_is_not_blamed_on_the_bot(values: dict[str, Any]) -> None:
    asked = turn(0, (1, 2), **values)
    assert only(Conversation(4), asked).unanswered is Unanswered.HUNG_UP
    assert only(Conversation(1.5), asked).unanswered is Unanswered.HUNG_UP, "in the middle of the user's words"
    waited = Unanswered.NOTHING_HEARD if values.get("heard") == "" else Unanswered.NO_SPEECH
    assert only(Conversation(7), asked).unanswered is waited
    failed = turn(0, (1, 2), failed="it crashed", **values)
    assert only(Conversation(4), failed).unanswered is Unanswered.FAILED


def test_a_turn_whose_end_was_decided_without_words_stays_unheard_in_a_call_that_ends() -> None:
    unheard = turn(0, (1, 2), heard="", ended_by="nothing_heard", server_turns=REPORT)
    assert only(Conversation(4), unheard).unanswered is Unanswered.NOTHING_HEARD


def test_a_user_who_goes_on_before_an_answer_could_come_has_talked_over_it() -> None:
    hasty = judge(Conversation(12), turn(0, (1, 2), server_turns=REPORT), turn(1, (3.2, 4), barge_in=True))
    assert hasty.outcomes[0].unanswered is Unanswered.TALKED_OVER
    patient = judge(Conversation(12), turn(0, (1, 2), server_turns=REPORT), turn(1, (6.2, 7)))
    assert patient.outcomes[0].unanswered is Unanswered.NO_SPEECH
    lost = judge(Conversation(12), turn(0, (1, 2), server_turns=REPORT), turn(2, (3.2, 4)))
    assert lost.outcomes[0].unanswered is Unanswered.RECORD_LOST, "whoever went on, and when"


def test_an_interruption_without_a_turn_is_counted() -> None:
    stopped = turn(0, (1, 2), interrupted=True, server_turns=REPORT)
    assert only(Conversation(9), stopped).unanswered is Unanswered.INTERRUPTED


def test_a_bot_that_talks_on_or_only_too_early_has_not_answered() -> None:
    assert only(Conversation(9).bot(0.5, 3), turn(0, (1, 2))).unanswered is Unanswered.TALKED_ON
    assert only(Conversation(9).bot(1.2, 1.6), turn(0, (1, 2))).unanswered is Unanswered.ONLY_EARLY


def test_a_closed_session_and_a_missing_recording_are_reasons_too() -> None:
    asked = turn(0, (1, 2), contains=["hello"])
    assert only(Conversation(9), asked, closed="server gone").unanswered is Unanswered.SESSION_CLOSED
    missing = judge_session(Session(name="s"), [asked], None)
    assert not missing.recorded
    assert (missing.outcomes[0].unanswered, missing.outcomes[0].right) == (Unanswered.NO_RECORDING, None)


@pytest.mark.parametrize(
    ("values", "right"),
    [
        ({"contains": ["56"], "said": "7 times 8 is 56."}, True),
        ({"contains": ["56"], "said": "7 times 8 is 65."}, False),
        ({"contains": ["56"], "said": None}, None),
        ({"contains": [], "said": "7 times 8 is 56."}, None),
    ],
)
def test_answers_are_scored_when_the_right_answer_is_known(values: dict[str, Any], right: bool | None) -> None:
    assert only(Conversation(6).bot(2.5, 4), turn(0, (1, 2), **values)).right is right


MARKS = {
    "vad_stop": 2.2, "transcript_final": 2.2, "turn_commit": 2.3, "llm_first_token": 2.3, "clause_to_tts": 2.3,
    "tts_first_sample": 2.4, "first_sent": 2.4, "first_audible": 2.5,
}  # fmt: skip


def test_the_residual_is_the_recorded_latency_that_the_marks_do_not_explain() -> None:
    talk = Conversation(6).bot(2.5, 4)
    assert only(talk, turn(0, (1, 2), marks=MARKS)).residual == pytest.approx(0, abs=0.001)
    moved = {**MARKS, "first_audible": 2.46}
    assert only(talk, turn(0, (1, 2), marks=moved)).residual == pytest.approx(0.04, abs=0.001)
    unnamed = {name: at for name, at in MARKS.items() if name != "transcript_final"}
    assert only(talk, turn(0, (1, 2), marks=unnamed)).residual == pytest.approx(0.1, abs=0.001)


def test_the_residual_is_unknown_without_the_servers_marks() -> None:
    assert only(Conversation(6).bot(2.5, 4), turn(0, (1, 2), marks={"first_audible": 2.5})).residual is None


def test_answer_audio_is_separated_from_the_opening_before_it() -> None:
    found = only(Conversation(6).bot(2.5, 4), turn(0, (1, 2), marks={**MARKS, "first_answer_audible": 3.1}))
    assert found.latency == pytest.approx(0.5, abs=NEAR)
    assert found.answer == pytest.approx(1.1, abs=NEAR)


def test_the_answer_after_an_opening_is_found_from_recording_and_server_report() -> None:
    report = {
        "turn": 0,
        "marks": {"turn_commit": 2.2, "llm_first_clause": 3.0},
        "opening": "One moment.",
        "opening_seconds": 0.7,
        "attempts": [{"outcome": "spoken"}],
        "responses": [{"response": 0, "commit": 2.2, "said": [{"at": 2.4, "text": "One moment."}]}],
    }
    values = {"server_turns": [report], "attempts": report["attempts"], "responses": report["responses"]}
    # The client's mark would say otherwise; it is asked only when the folder does not tell.
    marks = {"first_audible": 2.5, "first_answer_audible": 4.9}
    talk = Conversation(8).bot(2.5, 3.1).bot(3.25, 5)
    found = judge(talk, turn(0, (1, 2), marks=marks, **values), underruns=[(3.1, 3.24)])
    assert found.outcomes[0].latency == pytest.approx(0.5, abs=NEAR)
    assert found.outcomes[0].answer == pytest.approx(1.25, abs=NEAR)
    assert found.gaps == ()


def test_next_to_a_lost_record_the_end_of_an_answer_is_unknown() -> None:
    talk = Conversation(14).bot(2.5, 4).bot(6.5, 8).bot(10.5, 12)
    answered = turn(0, (1, 2), marks={"first_audible": 2.5})
    whole = [outcome.whole for outcome in judge(talk, answered, turn(2, (9, 10))).outcomes]
    assert whole == [None, pytest.approx(2.0, abs=NEAR)]


@pytest.mark.parametrize(
    ("marks", "latency"),
    [
        ({}, None),
        ({"first_audible": 2.5}, 0.5),
        ({"first_sent": 2.4}, 0.5),
        # Its own answer was played where nothing was heard: what was is the lost turn's.
        ({"first_audible": 4.5}, None),
        ({"first_sent": 4.5}, None),
    ],
)
def test_a_turn_next_to_a_lost_record_gets_only_the_answer_that_its_marks_confirm(
    marks: dict[str, float], latency: float | None
) -> None:
    talk = Conversation(14).bot(2.5, 4).bot(10.5, 12)
    first = judge(talk, turn(0, (1, 2), marks=marks), turn(2, (9, 10))).outcomes[0]
    last = judge_session(Session(name="s"), [turn(0, (1, 2), marks=marks)], talk.samples, is_whole=False).outcomes[0]
    for found in (first, last):
        assert found.latency == (None if latency is None else pytest.approx(latency, abs=NEAR))
        assert found.unanswered == (Unanswered.RECORD_LOST if latency is None else None)
        assert found.whole is None


def test_a_turn_knows_how_its_barge_in_went_and_how_long_both_talked() -> None:
    talk = Conversation(12).bot(1, 3.38).bot(4.9, 6)
    stopped, silent = judge(talk, turn(0, (3, 4), barge_in=True), turn(1, (7, 8), barge_in=True)).outcomes
    assert (stopped.barge_in, silent.barge_in) == (BargeInResult.STOPPED, BargeInResult.SILENT)
    assert stopped.talk_over == pytest.approx(0.38, abs=NEAR)
    assert (silent.talk_over, silent.barge_in_stop) == (0, None)
    ended = only(Conversation(12).bot(1, 3.38, fade=0.3).bot(4.9, 6), turn(0, (3, 4), barge_in=True))
    assert (ended.barge_in, ended.barge_in_stop) == (BargeInResult.ENDED, None)


def test_an_interruption_without_a_user_turn_is_a_false_barge_in() -> None:
    talk = Conversation(12).bot(2.5, 4.0).bot(6, 8)
    talked = [turn(0, (1, 2)), turn(1, (3.5, 4.5), barge_in=True)]
    mumbled = turn(2, (7.6, 7.9), wants_answer=False, backchannel=True)
    assert judge(talk, *talked, mumbled, flushes=[4.0]).false_barge_ins == 0
    assert judge(talk, *talked, mumbled, flushes=[4.0, 8.02]).false_barge_ins == 1
    assert judge(talk, *talked, mumbled, flushes=[10.0]).false_barge_ins == 0


def test_an_answer_stopped_right_after_the_users_turn_is_a_false_barge_in() -> None:
    talk = Conversation(12).bot(2.5, 2.9)
    assert judge(talk, turn(0, (1, 2)), flushes=[2.9]).false_barge_ins == 1
    asked = judge(talk, turn(0, (1, 2)), flushes=[2.9], silence_asked=(2.85,))
    assert asked.false_barge_ins == 0, "a key is a cause"
    assert judge(talk, turn(0, (1, 2)), flushes=[2.9], silence_asked=(1.0,)).false_barge_ins == 1
