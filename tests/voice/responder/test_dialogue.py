from datetime import datetime, timedelta

import pytest

from voice.responder.dialogue import NOT_UNDERSTOOD, Reply, Responder

NOW = datetime(2026, 11, 20, 16, 10)
UNRELATED = [
    "what is the capital of france", "why do people say hello", "who sang stop in the name of love", "i like trains",
    "tell me about the weather", "do you like pizza", "how far is it to the moon", "sing me a song",
    "what is one two three",
    "i think that two plus two is four", "the dog ate two for one", "don't set a timer for ten seconds",
    "what is twenty",
    "play some music", "how many people live in london", "never set a timer for ten seconds", "convert two to",
    "what should i cook for dinner", "he asked me to count to ten", "who won the match", "is it raining",
    "turn on the lights",
]  # fmt: skip


@pytest.mark.parametrize("heard", UNRELATED)
def test_an_unknown_request_gets_no_invented_answer(heard: str) -> None:
    reply = Responder().reply(heard, NOW)
    assert reply.intent == NOT_UNDERSTOOD
    assert not reply.complete


def test_the_first_refusal_explains_and_later_ones_are_brief() -> None:
    responder = Responder()
    first, second, third = (responder.reply(text, NOW).text for text in UNRELATED[:3])
    assert first == (
        "I run without a language model, so I can't answer that. I can tell the time, do arithmetic, convert units, "
        "set timers, spell words and remember things."
    )
    assert second == third == "I can't answer that without a language model. Ask me for help to hear what I can do."


def test_an_empty_utterance_is_reported_and_is_no_refusal() -> None:
    responder = Responder()
    assert responder.reply(" um ", NOW).intent == "unheard"
    assert responder.state.refusals == 0


def test_the_last_answer_is_repeated() -> None:
    responder = Responder()
    assert responder.reply("say that again", NOW).text == "I have not said anything yet."
    responder.reply("what is seven times eight", NOW)
    assert responder.reply("say that again", NOW).text == "7 times 8 is 56."
    assert responder.reply("what did you say", NOW).text == "7 times 8 is 56."


def test_a_proposal_changes_nothing_until_it_is_accepted() -> None:
    responder = Responder()
    before = responder.state
    proposal = responder.propose("set a timer for ten seconds", NOW)
    responder.propose("remember that my car is on level three", NOW)
    assert responder.state == before
    assert responder.accept(proposal) is proposal.reply
    assert [timer.seconds for timer in responder.state.timers] == [10]
    assert responder.state.facts == ()


@pytest.mark.parametrize(
    ("heard", "intent", "complete"),
    [
        ("what time is it", "time", True), ("set a timer for ten seconds", "timer", True),
        ("set a timer for", "timer", False),
        ("repeat after me the sky is blue", "repeat", False), ("remember that my car is blue", "remember", False),
        ("what is seven times eight and", "arithmetic", False), ("where is my car", "recall", True),
        ("spell giraffe", "spell", True),
    ],
)  # fmt: skip
def test_replies_name_their_intent_and_whether_the_request_was_whole(heard: str, intent: str, complete: bool) -> None:
    reply = Responder().reply(heard, NOW)
    assert (reply.intent, reply.complete) == (intent, complete)


def test_calls_share_nothing() -> None:
    one, other = Responder(), Responder()
    one.reply("remember that my car is on level three", NOW)
    assert other.reply("what do you remember", NOW).text == "You have not asked me to remember anything yet."


def order_status() -> str:
    return "Your order is on its way."


def weather(place: str) -> str:
    return f"It is sunny in {place}."


def broken() -> str:
    raise RuntimeError("no connection")


async def stock_price(company: str) -> str:
    return f"{company} is at 10."


def test_a_tool_is_called_by_its_name_with_the_other_words() -> None:
    responder = Responder(tools=[order_status, weather, broken])
    assert responder.reply("what is my order status", NOW).text == "Your order is on its way."
    assert responder.reply("can you tell me the status of my orders", NOW).text == "Your order is on its way."
    assert responder.reply("what's the weather in new york", NOW).text == "It is sunny in new york."
    assert responder.reply("say that again", NOW).text == "It is sunny in new york."


def test_a_failing_tool_is_reported_politely_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert Responder(tools=[broken]).reply("is it broken", NOW).text == "The broken tool failed."
    assert "no connection" in caplog.text


def test_built_in_skills_come_before_tools() -> None:
    def time() -> str:
        return "never"

    assert Responder(tools=[time]).reply("what time is it", NOW).intent == "time"


def test_a_proposal_runs_no_tool() -> None:
    calls: list[str] = []

    def note_taker(text: str) -> str:
        calls.append(text)
        return "noted"

    proposal = Responder(tools=[note_taker]).propose("note taker buy milk", NOW)
    assert proposal.reply.call is not None
    assert proposal.reply.call.arguments == ("buy milk",)
    assert calls == []


def test_an_asynchronous_tool_is_awaited() -> None:
    reply = Responder(tools=[stock_price]).reply("what is the stock price of acme", NOW)
    assert reply.text == "acme is at 10."


HALVES = [
    (["what is", "seven times eight"], "56"),
    (["remember that my car", "is on level three", "where is my car"], "level three"),
    (["what is", "twenty percent of fifty"], "10"),
    (["how many feet", "are in a mile"], "5280"),
]


@pytest.mark.parametrize(("texts", "expected"), HALVES)
def test_a_request_split_by_a_pause_is_answered_as_one(texts: list[str], expected: str) -> None:
    responder = Responder()
    replies = []
    for i, text in enumerate(texts):
        replies.append(responder.reply(text, NOW + timedelta(seconds=2 * i)))
        responder.interrupted()
    assert expected in replies[-1].text


def test_only_a_recently_interrupted_answer_is_taken_back() -> None:
    responder = Responder()
    responder.reply("how many feet", NOW)
    assert responder.reply("are in a mile", NOW + timedelta(seconds=3)).intent == NOT_UNDERSTOOD
    responder.reply("how many feet", NOW + timedelta(seconds=10))
    responder.interrupted()
    assert responder.reply("are in a mile", NOW + timedelta(seconds=30)).intent == NOT_UNDERSTOOD


def test_a_running_timer_is_not_taken_back_by_the_next_text() -> None:
    responder = Responder()
    responder.reply("set a timer for ten minutes", NOW)
    responder.interrupted()
    responder.reply("and forty blue windows", NOW + timedelta(seconds=2))
    assert len(responder.state.timers) == 1


def joined(first: str, rest: str, *, responder: Responder | None = None) -> tuple[Responder, Reply]:
    """A request that was answered after its first words, and its reply after all of them."""
    responder = responder or Responder()
    responder.reply(first, NOW)
    responder.goes_on(first)
    return responder, responder.reply(f"{first} {rest}", NOW + timedelta(seconds=2))


def test_a_request_that_goes_on_is_answered_as_if_its_first_words_had_not_been() -> None:
    responder, reply = joined("hello", "what is seven times eight")
    assert "56" in reply.text
    responder, reply = joined("remember that my car is", "on level three")
    assert responder.state.facts == ("my car is on level three",)
    _, reply = joined("what is two plus three", "times four")
    assert reply.text == "2 plus 3 times 4 is 14."


def test_a_timer_is_replaced_when_its_request_goes_on() -> None:
    responder, reply = joined("set a timer for ten minutes", "and thirty seconds")
    assert [timer.seconds for timer in responder.state.timers] == [630]
    assert [timer.seconds for timer in reply.cancelled] == [600]
    responder, reply = joined("set a timer for ten minutes", "what time is it")
    assert reply.intent == "time"
    assert reply.cancelled == ()
    assert [timer.seconds for timer in responder.state.timers] == [600]


def test_what_follows_is_answered_by_itself_if_it_is_a_whole_request() -> None:
    responder, reply = joined("count to twenty", "stop")
    assert reply.text == "Okay."
    responder, reply = joined("set a timer for ten minutes", "cancel the timer")
    assert reply.text == "Timer cancelled."
    assert responder.state.timers == ()


def test_a_turn_that_goes_on_twice_is_answered_by_its_last_request() -> None:
    responder, _ = joined("what day is it today", "what is two plus three")
    responder.goes_on("what day is it today what is two plus three")
    reply = responder.reply("what day is it today what is two plus three what is seven times eight", NOW)
    assert "56" in reply.text


def test_a_tool_is_not_called_again_for_the_same() -> None:
    calls: list[str] = []

    def order_status() -> str:
        calls.append("status")
        return "On its way."

    _, reply = joined("what is my order status", "please", responder=Responder(tools=[order_status]))
    assert reply.text == "On its way."
    assert calls == ["status"]


def test_only_the_text_answered_last_goes_on() -> None:
    responder = Responder()
    responder.reply("set a timer for ten minutes", NOW)
    responder.goes_on("what time")
    responder.reply("set a timer for ten minutes", NOW)
    assert len(responder.state.timers) == 2
