import logging
from dataclasses import replace

import pytest
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import FunctionCallFromLLM, LLMThoughtTextFrame
from pipecat.metrics.metrics import LLMTokenUsage
from pipecat.processors.aggregators.llm_context import LLMContext

from latency.budget import Deadline
from latency.record.requests import RequestRecord, Tokens
from voice.frames import AnswerTextFrame
from voice.llm.answer.hold_phrases import HOLD_GUARD
from voice.llm.answer.llm_request import LONGEST_ANSWER, LLMRequest, ToolRules
from voice.llm.answer.provider_note import ProviderNote
from voice.llm.policy.situation import RequestState
from voice.llm.policy.tier_statistics import Wait
from voice.llm.tools import describe


@pytest.fixture
def attempt() -> LLMRequest:
    return LLMRequest(RequestState(number=0, tier="large", request=1.0))


def call() -> FunctionCallFromLLM:
    return FunctionCallFromLLM(function_name="order", tool_call_id="1", arguments={}, context=None)


def given(attempt: LLMRequest) -> list[tuple[str, tuple[str, ...]]]:
    """The texts that may be spoken since the last time, each with its clauses."""
    frames = attempt.take()
    assert all(isinstance(frame, AnswerTextFrame) for frame in frames)
    return [(frame.text, frame.clauses) for frame in frames if isinstance(frame, AnswerTextFrame)]


def test_only_speakable_text_is_progress(attempt: LLMRequest) -> None:
    assert not attempt.add("", 1.1)
    assert not attempt.add("  ", 1.2)
    assert attempt.state.first_token is None
    assert attempt.add("Well", 1.3)
    assert not attempt.add(" then, the", 1.4)
    assert (attempt.state.first_token, attempt.state.first_clause) == (1.3, None)
    assert attempt.add(" sky is blue, and", 1.5)
    assert (attempt.state.first_clause, attempt.state.clauses) == (1.5, 1)


def test_text_is_given_out_once_and_in_whole_clauses(attempt: LLMRequest) -> None:
    attempt.add("The sky is blue, and 3.5 mi", 1.1)
    assert given(attempt) == [("The sky is blue, ", ("The sky is blue,",))]
    assert given(attempt) == []
    attempt.add("les high. Th", 1.2)
    assert given(attempt) == [("and 3.5 miles high. ", ("and 3.5 miles high.",))]
    attempt.add("at is all", 1.3)
    attempt.complete(1.4)
    assert given(attempt) == [("That is all", ("That is all",))]
    assert attempt.state.clauses == 3


def test_text_that_completes_several_clauses_is_given_out_with_all_of_them(attempt: LLMRequest) -> None:
    attempt.add("It is so. - Really. And", 1.1)
    assert given(attempt) == [("It is so. - Really. ", ("It is so.", "Really."))]


def test_what_has_no_words_at_the_end_of_an_answer_is_text_without_a_clause(attempt: LLMRequest) -> None:
    attempt.add("It is so. 🙂", 1.1)
    attempt.complete(1.2)
    assert given(attempt) == [("It is so. ", ("It is so.",)), ("🙂", ())]
    assert attempt.state.clauses == 1


def test_a_short_answer_without_marks_is_a_clause_at_its_end(attempt: LLMRequest) -> None:
    attempt.add("Four", 1.1)
    attempt.complete(1.2)
    assert (attempt.state.first_clause, attempt.state.outcome) == (1.2, "complete")
    assert given(attempt) == [("Four", ("Four",))]


def test_a_stream_that_breaks_inside_a_clause_leaves_no_torn_words(attempt: LLMRequest) -> None:
    attempt.add("The sky is blue, because the", 1.1)
    attempt.fail("it broke", 1.2)
    attempt.add(" air.", 1.3)
    assert given(attempt) == [("The sky is blue, ", ("The sky is blue,",))]
    assert (attempt.state.outcome, attempt.state.failed, attempt.state.end) == ("failed", "it broke", 1.2)


@pytest.mark.parametrize("silent", ["\n", " . . . ", "🙂"])
def test_an_answer_without_words_or_tools_has_failed(silent: str, attempt: LLMRequest) -> None:
    attempt.add(silent, 1.1)
    attempt.complete(1.2)
    assert attempt.state.outcome == "failed"
    assert attempt.state.failed == "it gave an answer without words"


def test_an_answer_of_tools_alone_is_complete_and_what_fails_after_it_does_not_count(attempt: LLMRequest) -> None:
    attempt.call([call()], 1.2)
    attempt.fail("an answer without words", 1.3)
    attempt.complete(1.4)
    assert (attempt.state.outcome, attempt.state.ready, attempt.state.first_clause) == ("complete", 1.2, None)
    attempt.state.spoken = True
    assert attempt.record(response=0).outcome == "called"


def test_frames_of_other_kinds_keep_their_place(attempt: LLMRequest) -> None:
    thought = LLMThoughtTextFrame("hm")
    attempt.add("It is so. ", 1.1)
    attempt.add_frame(thought)
    attempt.add("Really. ", 1.2)
    frames = attempt.take()
    assert frames[1] is thought
    assert [frame.text for frame in frames if isinstance(frame, AnswerTextFrame)] == ["It is so. ", "Really. "]


def test_a_continuation_is_cut_at_whole_sentences_and_set_apart_by_a_space() -> None:
    attempt = LLMRequest(RequestState(number=1, tier="fast", request=2.0, continues=0, heard=1))
    attempt.add("because the air, as we", 2.1)
    assert given(attempt) == []
    attempt.add(" know, scatters it. ", 2.2)
    ((text, clauses),) = given(attempt)
    assert text == " because the air, as we know, scatters it. "
    assert clauses == ("because the air, as we know, scatters it.",)


def test_the_reported_outcome_says_which_attempt_was_heard(attempt: LLMRequest) -> None:
    attempt.add("Four.", 1.1)
    attempt.complete(1.2)
    assert attempt.record(response=0).outcome == "cancelled"
    attempt.state.spoken = True
    assert attempt.record(response=0).outcome == "spoken"


def test_the_record_says_what_the_state_and_the_provider_say_under_the_same_names() -> None:
    state = RequestState(number=3, tier="large", request=1.0, verifies=2)
    request = LLMRequest(state)
    request.stirred(1.05)
    request.add("It is so. ", 1.1)
    request.learn(ProviderNote(speed="fast", served="standard", slowed="it was refused", finish="stop", queued=0.1))
    request.complete(1.2)
    assert request.record(response=7) == RequestRecord(
        response=7, tier="large", request=1.0, alive=1.05, first_token=1.1, first_clause=1.1, end=1.2,
        outcome="verdict", verifies=2, tokens=Tokens(prompt=0, completion=3, estimated=True), speed="fast",
        served="standard", slowed="it was refused", finish="stop", queued=0.1,
    )  # fmt: skip


def test_tokens_are_estimated_until_usage_is_reported() -> None:
    attempt = LLMRequest(RequestState(number=0, tier="large", request=1.0), prompt_tokens=50)
    attempt.add("Nine char", 1.1)
    attempt.cancel(1.2)
    record = attempt.record(response=0)
    assert record.outcome == "cancelled"
    assert record.tokens == Tokens(prompt=50, completion=3, estimated=True)
    attempt.usage = LLMTokenUsage(prompt_tokens=40, completion_tokens=5, total_tokens=45)
    assert attempt.record(response=0).tokens == Tokens(prompt=40, completion=5, estimated=False)


def test_cached_tokens_are_part_of_the_prompt_whether_or_not_the_provider_counts_them_so(attempt: LLMRequest) -> None:
    for prompt in (10, 40):
        attempt.usage = LLMTokenUsage(
            prompt_tokens=prompt,
            completion_tokens=5,
            total_tokens=45,
            cache_read_input_tokens=20,
            cache_creation_input_tokens=10,
        )
        assert attempt.record(response=0).tokens == Tokens(prompt=40, completion=5, cached=20, cache_written=10)


def test_a_cancelled_attempt_stays_as_it_was(attempt: LLMRequest) -> None:
    attempt.cancel(1.1)
    assert not attempt.add("Too late. ", 1.2)
    attempt.call([call()], 1.2)
    attempt.complete(1.3)
    assert (attempt.state.outcome, attempt.state.end, attempt.calls, attempt.take()) == ("cancelled", 1.1, (), [])
    assert attempt.state.summary(since=0.0).startswith("large cancelled, asked at 1000, no clause")


def test_a_discarded_attempt_that_failed_is_reported_as_failed(attempt: LLMRequest) -> None:
    attempt.add("It is so. And ", 1.1)
    attempt.state.spoken = attempt.state.withdrawn = True
    attempt.fail("The connection ended.", 1.2)
    assert attempt.record(response=0).outcome == "failed"


def test_every_wait_says_something_about_the_tier_unless_it_was_discarded_before_a_clause() -> None:
    def ended(*, text: str = "", withdrawn: bool = False, continues: int | None = None) -> Wait | None:
        attempt = LLMRequest(RequestState(number=0, tier="large", request=1.0, continues=continues))
        attempt.add(text, 1.25)
        assert attempt.state.wait is None, "it runs"
        attempt.state.withdrawn = withdrawn
        attempt.cancel(1.5)
        return attempt.state.wait

    assert ended(text="It is so. ") == ended(text="It is so. ", withdrawn=True) == Wait(0.25, reached=True)
    assert ended(text="It is") == Wait(0.5, reached=False)
    assert ended(text="It is", withdrawn=True) is None
    assert ended(text="It is so. ", continues=0) is None


@pytest.mark.parametrize(
    ("text", "end", "fails", "in_time"),
    [
        ("It is so. ", 1.2, False, True),
        ("It is", 1.2, False, None),
        ("It is", 1.2, True, False),
        ("It is", 1.5 - HOLD_GUARD, False, False),
    ],
)
def test_an_attempt_is_judged_in_time_only_if_it_ran_to_the_deadline(
    attempt: LLMRequest, text: str, end: float, fails: bool, in_time: bool | None
) -> None:
    attempt.add(text, 1.1)
    assert attempt.state.in_time(Deadline(1.5)) is None, "it runs"
    if fails:
        attempt.fail("it broke", end)
    else:
        attempt.cancel(end)
    assert attempt.state.in_time(Deadline(1.5)) is in_time
    assert attempt.state.in_time(Deadline(1.05)) is False


@pytest.mark.parametrize("piece", ["Go on. ", "x" * 10_000_000, " " * 5000])
def test_an_answer_without_end_has_failed(piece: str, attempt: LLMRequest) -> None:
    for number in range(LONGEST_ANSWER // len(piece) + 1):
        attempt.add(piece, 1.0 + number)
    assert attempt.state.outcome == "failed"
    assert attempt.state.failed == "its answer is longer than 30,000 characters"
    assert not attempt.add("More.", 9000.0)


def weather(city: str) -> str:
    """The weather."""
    return f"sunny in {city}"


CONTEXT = LLMContext(tools=ToolsSchema([describe(weather)]))
WRITTEN = '<tool_call>{"name": "weather", "arguments": {"city": "Paris\\ud83d"}}</tool_call>'


def test_a_thought_that_never_began_is_dropped_before_it_is_taken(attempt: LLMRequest) -> None:
    attempt.add("I look at the clock. It shows ten.", 1.1)
    assert (attempt.state.first_clause, attempt.state.clauses) == (1.1, 1)
    attempt.add("</think>\n\n", 1.2)
    assert (attempt.state.first_token, attempt.state.first_clause, attempt.state.clauses, attempt.text) == (
        None,
        None,
        0,
        "",
    )
    attempt.add("It is ten.", 1.3)
    attempt.complete(1.4)
    assert given(attempt) == [("It is ten.", ("It is ten.",))]
    assert (attempt.state.first_token, attempt.state.first_clause, attempt.streamed.cleaner.thought_before) == (
        1.3,
        1.4,
        True,
    )


def test_of_a_thought_that_is_being_spoken_the_rest_is_dropped(attempt: LLMRequest) -> None:
    attempt.add("I look at the clock. It shows ten. Now I", 1.1)
    assert given(attempt) == [("I look at the clock. It shows ten. ", ("I look at the clock.", "It shows ten."))]
    attempt.add(" answer. And</think>It is ten.", 1.2)
    attempt.complete(1.3)
    assert given(attempt) == [("It is ten.", ("It is ten.",))]
    assert (attempt.state.clauses, attempt.text) == (3, "I look at the clock. It shows ten. It is ten.")


def test_words_before_a_retracted_thought_are_kept_with_their_clauses(attempt: LLMRequest) -> None:
    attempt.add("It is ten.<think>a</think> Or so. More thought. </think>Bye.", 1.1)
    attempt.complete(1.2)
    assert given(attempt) == [("It is ten. ", ("It is ten.",)), ("Bye.", ("Bye.",))]


def test_a_call_that_stands_in_the_text_is_a_call_if_the_tool_is_there() -> None:
    attempt = LLMRequest(RequestState(number=0, tier="large", request=1.0), rules=ToolRules(context=CONTEXT))
    attempt.add(f"Let me see. {WRITTEN}", 1.1)
    assert attempt.calls == ()
    attempt.complete(1.2)
    (called,) = attempt.calls
    assert (called.function_name, called.arguments, called.context) == ("weather", {"city": "Paris"}, CONTEXT)
    assert called.tool_call_id
    assert (attempt.state.outcome, given(attempt)) == ("complete", [("Let me see. ", ("Let me see.",))])


@pytest.mark.parametrize("context", [None, LLMContext()])
def test_a_written_call_of_a_tool_that_is_not_there_is_no_answer(context: LLMContext | None) -> None:
    attempt = LLMRequest(RequestState(number=0, tier="large", request=1.0), rules=ToolRules(context=context))
    attempt.add(WRITTEN, 1.1)
    attempt.complete(1.2)
    assert (attempt.state.outcome, attempt.calls, attempt.take()) == ("failed", (), [])


@pytest.mark.parametrize("finish", ["content_filter", "length", "max_tokens"])
def test_a_written_call_does_not_run_if_the_answer_did_not_end_by_itself(finish: str) -> None:
    attempt = LLMRequest(RequestState(number=0, tier="large", request=1.0), rules=ToolRules(context=CONTEXT))
    attempt.add(f"Let me see. {WRITTEN}", 1.1)
    attempt.learn(ProviderNote(finish=finish))
    attempt.complete(1.2)
    assert (attempt.state.outcome, attempt.calls) == ("complete", ())


def test_a_written_call_that_is_taken_back_does_not_run_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    attempt = LLMRequest(RequestState(number=0, tier="large", request=1.0), rules=ToolRules(context=CONTEXT))
    attempt.add(f"Plan: {WRITTEN} wait, no.</think>It is ten.", 1.1)
    attempt.complete(1.2)
    assert (attempt.calls, attempt.text) == ((), "It is ten.")
    assert [record.message for record in caplog.records] == [
        "tier large only mentioned a call of weather; it does not run"
    ]


def test_a_forbidden_call_does_not_run_because_it_is_written() -> None:
    attempt = LLMRequest(
        RequestState(number=0, tier="fast", request=1.0),
        rules=ToolRules(context=CONTEXT, forbidden=frozenset(["weather"])),
    )
    attempt.add(WRITTEN, 1.1)
    attempt.complete(1.2)
    assert (attempt.state.outcome, attempt.calls, attempt.state.overreached) == ("failed", (), True)


def test_calls_and_reports_are_text_that_can_be_sent(attempt: LLMRequest) -> None:
    attempt.call([replace(call(), tool_call_id="\ud83d1", arguments={"n\0": ["\ud83d\ude00", 1]})], 1.1)
    attempt.learn(ProviderNote(finish="st\ud83dop"))
    assert attempt.calls[0] == replace(call(), arguments={"n": ["😀", 1]})
    assert attempt.note.finish == "stop"


def test_arguments_that_are_nested_without_end_are_no_call(attempt: LLMRequest) -> None:
    nested: list[object] = []
    for _ in range(5000):
        nested = [nested]
    attempt.call([replace(call(), arguments={"n": nested})], 1.1)
    assert (attempt.calls, attempt.state.failed) == ((), "it called a tool with arguments that are nested too deeply")


def test_the_reason_of_a_failure_can_be_written(attempt: LLMRequest) -> None:
    attempt.fail("quota\ud83d \x1b[31mexceeded\0", 1.1)
    assert attempt.state.failed == "quota exceeded"
