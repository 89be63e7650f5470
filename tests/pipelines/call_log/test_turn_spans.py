"""A turn's record as spans: which there are, and what they say."""

from latency.record.marks import Mark, Marks
from latency.record.requests import RequestRecord
from latency.record.turn import HangRecord, ServerTurn
from pipelines.call_log.call_statistics import CallStatistics, ClosedTurn
from pipelines.call_log.tracing import About, SpanRecord, turn_span
from tests.pipelines.call_log.test_call_statistics import asked, turn

ABOUT = About(conversation="c1", providers={"large": "openai", "fast": "anthropic"})


def closed(record: ServerTurn) -> ClosedTurn:
    statistics = CallStatistics(stop=0.2, budget=0.45)
    statistics.note(record)
    statistics.close()
    (one,) = statistics.closed
    return one


def span(record: ServerTurn, about: About = ABOUT) -> SpanRecord:
    return turn_span(closed(record), about)


def test_a_rescued_turn_says_which_model_was_spoken_and_that_the_budget_was_kept() -> None:
    found = span(asked(3, clause=0.4, usd=0.5, spoken="fast"))
    assert found.name == "invoke_agent turnaround"
    assert (found.start, found.end) == (10.2, 10.7)
    assert found.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "turnaround",
        "gen_ai.conversation.id": "c1",
        "turnaround.turn.number": 3,
        "turnaround.turn.outcome": "answered",
        "turnaround.turn.latency": 0.7,
        "turnaround.turn.ended_by": "smart_turn",
        "turnaround.turn.interrupted": False,
        "turnaround.llm.verdict": "rescued",
        "turnaround.llm.rescued": True,
        "turnaround.llm.policy": "fallback",
    }
    assert found.error is None
    large, fast = found.children
    assert (large.kind, fast.kind) == ("client", "client")
    assert large.attributes["turnaround.llm.outcome"] == "cancelled"
    assert fast.attributes["gen_ai.provider.name"] == "anthropic"
    assert fast.attributes["gen_ai.usage.input_tokens"] == 10
    assert fast.attributes["gen_ai.usage.output_tokens"] == 5
    assert fast.attributes["turnaround.llm.time_to_first_clause"] == 0.4
    # Nothing says when it ended: it is over when the turn is.
    assert (fast.start, fast.end) == (10.3, 10.7)


def test_a_request_is_named_after_its_model_and_says_why_it_failed() -> None:
    attempt = RequestRecord(
        model="gpt-4.1", tier="large", request=10.3, first_token=10.5, end=11.0, outcome="failed", failed="it is down",
        finish="length",
    )  # fmt: skip
    (chat,) = span(turn(0, attempts=(attempt,))).children
    assert chat.name == "chat gpt-4.1"
    assert (chat.start, chat.end, chat.error) == (10.3, 11.0, "it is down")
    assert chat.attributes["error.type"] == "_OTHER"
    assert chat.attributes["gen_ai.response.time_to_first_chunk"] == 0.2
    assert chat.attributes["gen_ai.response.finish_reasons"] == ("length",)
    assert "gen_ai.usage.input_tokens" not in chat.attributes, "unknown is no number"


def test_tools_and_stages_are_spans_of_the_turn() -> None:
    record = turn(0, attempts=(RequestRecord(request=10.3, end=10.4, outcome="called", calls=("weather",)),))
    record.marks.update(
        {
            Mark.SPEECH_END: 10.0,
            Mark.TRANSCRIPT_FINAL: 10.25,
            Mark.TOOL_CALLED: 10.4,
            Mark.TOOL_RETURNED: 10.45,
            Mark.CLAUSE_TO_TTS: 10.6,
            Mark.TTS_FIRST_SAMPLE: 10.65,
        }
    )
    found = span(record)
    assert found.start == 10.0
    spans = {child.name: child for child in found.children}
    assert [*spans] == ["chat", "execute_tool weather", "transcription", "speech synthesis"]
    tool = spans["execute_tool weather"]
    assert tool.attributes["gen_ai.tool.name"] == "weather"
    assert (tool.kind, tool.start, tool.end) == ("internal", 10.4, 10.45)
    assert (spans["transcription"].start, spans["transcription"].end) == (10.0, 10.25)


def test_words_are_in_a_span_only_if_that_was_asked_for() -> None:
    record = turn(0, heard="my pin is 1234", said="Thank you.")
    assert "1234" not in repr(span(record))
    told = span(record, About(conversation="c1", providers={}, content=True)).attributes
    user = '[{"role": "user", "parts": [{"type": "text", "content": "my pin is 1234"}]}]'
    assert told["gen_ai.input.messages"] == user
    assert str(told["gen_ai.output.messages"]).endswith('"content": "Thank you."}], "finish_reason": "stop"}]')


def test_a_turn_that_failed_is_an_error_with_a_kind() -> None:
    failed = span(turn(0, failed="the model is down"))
    assert (failed.error, failed.attributes["error.type"]) == ("the model is down", "_OTHER")
    hung = HangRecord(part="synthesis", at=11.0, seconds=8.0)
    assert span(turn(0, failed="it hangs", hung=hung)).attributes["error.type"] == "hung synthesis"


def test_a_turn_with_one_instant_is_a_span_all_the_same() -> None:
    found = span(ServerTurn(turn=0, ended_by="nothing_heard", marks=Marks({Mark.TURN_COMMIT: 10.3})))
    assert (found.start, found.end, found.children) == (10.3, 10.3, ())
