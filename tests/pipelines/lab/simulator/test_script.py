"""What simulated models say makes sense, starts with a clause of a usual length, and needs no memory."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from pipelines.lab.simulator.conversation import Message, OfferedTool
from pipelines.lab.simulator.script import ConversationScript
from voice.llm.answer.clauses import ClauseSplitter

NOW = datetime(2026, 11, 20, 16, 10, tzinfo=UTC)


def say(*texts: str, tools: tuple[OfferedTool, ...] = ()) -> str:
    return ConversationScript().answer([Message("user", text) for text in texts], tools, now=NOW).text


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "goodbye",
        "stop",
        "thank you",
        "what time is it",
        "count to ten",
        "tell me a story",
        "who are you",
        "what is seven times eight",
        "who is the president",
        "spell giraffe",
        "set a timer for ten seconds",
        "what can you do",
        "",
    ],
)
def test_the_first_clause_has_four_to_ten_words(text: str) -> None:
    spoken = say(text)
    first = ClauseSplitter().feed(spoken + " ")[0]
    assert 4 <= len(first.split()) <= 10, spoken


def test_the_answer_is_that_of_the_responder() -> None:
    assert say("what is seven times eight") == "7 times 8 is 56."
    assert say("count to ten").endswith("1, 2, 3, 4, 5, 6, 7, 8, 9, 10.")


def test_unknown_requests_are_refused_as_a_simulated_model() -> None:
    assert say("who is the president").startswith("I am a simulated model")
    assert "simulated" in say("who are you")


def test_earlier_messages_count() -> None:
    assert say("remember that my car is on level three", "hello", "where is my car") == "Your car is on level three."


def test_a_story_is_long_enough_to_interrupt() -> None:
    assert say("please tell me a story").count(".") >= 5


def test_a_kept_conversation_gives_the_same_answer_as_a_replayed_one() -> None:
    texts = [
        "hello",
        "remember that my car is red",
        "who is the president",
        "what time is it",
        "what do you remember",
        "say that again",
    ]
    growing = ConversationScript()
    for count in range(1, len(texts) + 1):
        messages = [Message("user", text) for text in texts[:count]]
        assert growing.answer(messages, (), now=NOW) == ConversationScript().answer(messages, (), now=NOW)
    other = [Message("user", text) for text in [*texts[:4], "what do you remember"]]
    assert "car is red" in growing.answer(other, (), now=NOW).text


def test_a_timer_runs_from_the_request_that_set_it() -> None:
    script = ConversationScript()
    messages = [Message("user", "set a timer for ten minutes"), Message("user", "hello")]
    script.answer(messages, (), now=NOW)
    left = Message("user", "how long is left on the timer")
    assert "6 minutes" in script.answer([*messages, left], (), now=NOW + timedelta(minutes=4)).text


def test_a_conversation_without_a_user_message_gets_a_greeting() -> None:
    assert "Hello" in ConversationScript().answer([Message("system", "Greet the caller.")], (), now=NOW).text


@pytest.mark.parametrize(
    ("schema", "said", "arguments"),
    [
        ({"properties": {"city": {"type": "string"}}, "required": ["city"]}, "weather in paris", {"city": "paris"}),
        ({"properties": {"days": {"type": "integer"}}, "required": ["days"]}, "weather in three", {"days": 3}),
        ({"properties": {"days": {"type": "number"}}, "required": ["days"]}, "weather please", {"days": 1}),
        ({"properties": {"unit": {"enum": ["c", "fahrenheit"]}}}, "weather in fahrenheit", {"unit": "fahrenheit"}),
        ({"properties": {"hourly": {"type": "boolean"}}, "required": ["hourly"]}, "weather", {"hourly": True}),
        ({}, "weather", {}),
    ],
)
def test_a_tool_call_has_arguments_that_fit_the_schema(
    schema: dict[str, object], said: str, arguments: dict[str, object]
) -> None:
    called = ConversationScript().answer([Message("user", said)], [OfferedTool("get_weather", schema)], now=NOW)
    assert called.tool == "get_weather"
    assert json.loads(called.text) == arguments


@pytest.mark.parametrize("name", ["", "-", "1", "get"])
def test_a_tool_whose_name_cannot_be_spoken_is_never_called(name: str) -> None:
    assert ConversationScript().answer([Message("user", "hello")], [OfferedTool(name)], now=NOW).tool is None
