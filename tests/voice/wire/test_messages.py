"""RTVI messages are read and written as pipecat and its clients know them."""

import json
from typing import Any

import pytest
from pipecat.processors.frameworks.rtvi import models

from latency.record.marks import Mark, Marks
from latency.record.turn import ServerTurn, TurnReport
from voice.errors import WireError
from voice.wire.messages import (
    BotOutput,
    BotReady,
    Refusal,
    RequestAnswer,
    ServerFailure,
    ServerMessage,
    Speaking,
    SpokenText,
    Transcription,
    TurnMessage,
    UnknownMessage,
    read_rtvi,
    to_rtvi,
)
from voice.wire.requests import ClockPong, Custom, SwapState


def read(type: str, data: object, *, id: str = "4") -> ServerMessage:
    return read_rtvi(json.dumps({"label": "rtvi-ai", "type": type, "id": id, "data": data}))


@pytest.mark.parametrize(
    ("type", "data", "expected"),
    [
        ("bot-ready", {"version": "2.0.0"}, BotReady()),
        ("user-started-speaking", {}, Speaking("user", True)),
        ("user-stopped-speaking", None, Speaking("user", False)),
        ("bot-started-speaking", {}, Speaking("bot", True)),
        ("bot-stopped-speaking", {}, Speaking("bot", False)),
        ("user-transcription", {"text": "what", "final": False}, Transcription("what", False)),
        ("user-transcription", {"text": "what time", "final": True}, Transcription("what time", True)),
        ("bot-output", {"text": "Hi.", "segment_id": 1, "will_be_spoken": True}, BotOutput("Hi.", 1, True)),
        (
            "bot-output",
            {
                "text": "Hi you.",
                "segment_id": 1,
                "spoken_progress": {"accumulated_text": "Hi", "remaining_text": " you."},
            },
            BotOutput("Hi you.", 1, True, "Hi", " you."),
        ),
        ("bot-output", {"text": "Hi.", "spoken_progress": "all"}, BotOutput("Hi.", None, True)),
        ("bot-output", {"text": "Hi.", "spoken": False}, BotOutput("Hi.", None, False)),
        ("bot-output", {"text": "Hi."}, BotOutput("Hi.", None, True)),
        ("bot-tts-text", {"text": "Hi."}, SpokenText("Hi.")),
        ("error", {"error": "no voice", "fatal": True}, ServerFailure("no voice")),
        ("error", {"message": "no voice"}, ServerFailure("no voice")),
    ],
)
def test_a_message_of_the_call_becomes_a_typed_one(type: str, data: object, expected: ServerMessage) -> None:
    assert read(type, data) == expected


@pytest.mark.parametrize(
    ("type", "data"),
    [
        ("metrics", {"ttfb": []}),
        ("user-transcription", {"text": " ", "final": True}),
        ("bot-output", {"text": None}),
        ("server-message", {"type": "weather"}),
        ("server-message", {"t": "llm", "d": {}}),
        ("server-message", "text"),
    ],
)
def test_a_message_of_no_interest_is_unknown(type: str, data: object) -> None:
    assert read(type, data) == UnknownMessage(type)


@pytest.mark.parametrize(
    ("type", "data", "expected"),
    [
        (
            "server-response",
            {"t": "clock", "d": {"client": 1.0, "server": 7.5}},
            RequestAnswer("4", ClockPong(server=7.5, client=1.0)),
        ),
        (
            "server-response",
            {"t": "llm", "d": {"policy": "race", "tier": None, "tiers": ["large"], "policies": ["single"]}},
            RequestAnswer("4", SwapState(policy="race", tier=None, tiers=("large",), policies=("single",))),
        ),
        ("server-response", {"t": "llm"}, RequestAnswer("4", Custom("llm"))),
        ("server-response", {"t": "other", "d": [1]}, RequestAnswer("4", Custom("other", [1]))),
        ("error-response", {"error": "No such tier."}, Refusal("4", "No such tier.")),
        ("error-response", {}, Refusal("4", "The server refused without a reason.")),
    ],
)
def test_an_answer_and_a_refusal_name_the_message_that_they_answer(
    type: str, data: object, expected: ServerMessage
) -> None:
    assert read(type, data) == expected


def test_an_answer_to_a_ping_without_the_servers_clock_is_refused() -> None:
    with pytest.raises(WireError, match="without its clock"):
        read("server-response", {"t": "clock", "d": {"client": 1.0}})


def test_the_report_of_a_turn_travels_as_a_server_message() -> None:
    report = TurnReport(turn=ServerTurn(turn=3, final=True, marks=Marks({Mark.TURN_COMMIT: 1.5})))
    sent = models.ServerMessage(data=TurnMessage(report).to_json()).model_dump()
    assert sent["data"] == {"type": "turn", **report.to_json()}
    received = read_rtvi(json.dumps(sent))
    assert received == TurnMessage(report)
    assert isinstance(received, TurnMessage)
    assert received.report.turn.turn == 3


@pytest.mark.parametrize("lacking", [{"turn": "one", "marks": {}}, {"turn": 1}, {"marks": {}}])
def test_the_report_of_a_turn_without_its_number_or_marks_is_refused(lacking: dict[str, Any]) -> None:
    with pytest.raises(WireError, match="broken report of a turn"):
        read("server-message", {"type": "turn", **lacking})


@pytest.mark.parametrize(
    "message", [BotReady(), *(Speaking(who, started) for who in ("user", "bot") for started in (True, False))]
)
def test_a_server_writes_what_a_client_reads(message: BotReady | Speaking) -> None:
    assert read_rtvi(json.dumps(to_rtvi(message, id="1"))) == message
