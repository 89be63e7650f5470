"""What a live display is told of the messages of a call."""

import pytest

from voice.client.call.listener import CallListener, LiveEvents
from voice.wire.client_wire import Interruption, Message, Text


class Notes(CallListener):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.seen: list[tuple] = []

    def on_speaking(self, who, speaking):
        self.seen.append(("speaking", who, speaking))

    def on_partial(self, text):
        self.seen.append(("partial", text))

    def on_heard(self, text):
        self.seen.append(("heard", text))

    def on_said(self, text):
        self.seen.append(("said", text))

    def on_interruption(self):
        self.seen.append(("interruption",))

    def on_error(self, text):
        self.seen.append(("error", text))


def told(*incoming) -> list[tuple]:
    notes = Notes()
    events = LiveEvents(notes)
    for one in incoming:
        events.handle(one)
    return notes.seen


@pytest.mark.parametrize(
    ("type", "data", "expected"),
    [
        ("user-started-speaking", {}, [("speaking", "user", True)]),
        ("user-stopped-speaking", {}, [("speaking", "user", False)]),
        ("bot-started-speaking", {}, [("speaking", "bot", True)]),
        ("bot-stopped-speaking", {}, [("speaking", "bot", False)]),
        ("user-transcription", {"text": "what", "final": False}, [("partial", "what")]),
        ("user-transcription", {"text": "what time", "final": True}, [("heard", "what time")]),
        ("user-transcription", {"text": " ", "final": True}, []),
        ("bot-output", {"text": "Hi.", "segment_id": 1, "will_be_spoken": True}, [("said", "Hi.")]),
        ("bot-output", {"text": "[code]", "segment_id": 1, "will_be_spoken": False}, []),
        ("bot-tts-text", {"text": "Hi."}, [("said", "Hi.")]),
        ("error", {"error": "no voice", "fatal": True}, [("error", "no voice")]),
        ("metrics", {"ttfb": []}, []),
    ],
)
def test_each_message_of_interest_has_its_callback(type, data, expected):
    assert told(Message(type, "", data)) == expected


def test_a_segment_that_is_told_again_as_it_is_spoken_is_shown_once():
    one = {"text": "One.", "segment_id": 1, "will_be_spoken": True}
    states = [
        Message("bot-output", "", one | {"spoken_status": "new"}),
        Message("bot-tts-text", "", {"text": "One."}),
        Message("bot-output", "", one | {"spoken_status": "completed"}),
        Message("bot-output", "", {"text": "Two.", "segment_id": 2, "will_be_spoken": True}),
    ]
    assert told(*states) == [("said", "One."), ("said", "Two.")]


def test_interruptions_are_told_and_bare_text_is_not():
    assert told(Interruption(), Text("hello")) == [("interruption",)]
