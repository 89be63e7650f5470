"""A live display is called back about the messages of a call that concern it."""

from typing import Literal

import pytest

from voice.client.call.listener import CallListener, LiveEvents
from voice.wire.framing import BareText, Incoming, Interruption
from voice.wire.messages import BotOutput, ServerFailure, Speaking, SpokenText, Transcription, UnknownMessage


class Notes(CallListener):
    """Writes down what it is called with."""

    def __init__(self) -> None:
        self.seen: list[tuple[object, ...]] = []

    def on_speaking(self, who: Literal["user", "bot"], speaking: bool) -> None:
        self.seen.append(("speaking", who, speaking))

    def on_partial(self, text: str) -> None:
        self.seen.append(("partial", text))

    def on_heard(self, text: str) -> None:
        self.seen.append(("heard", text))

    def on_said(self, text: str) -> None:
        self.seen.append(("said", text))

    def on_interruption(self) -> None:
        self.seen.append(("interruption",))

    def on_error(self, text: str) -> None:
        self.seen.append(("error", text))


def seen(*incoming: Incoming) -> list[tuple[object, ...]]:
    notes = Notes()
    events = LiveEvents(notes)
    for one in incoming:
        events.handle(one)
    return notes.seen


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (Speaking("user", True), ("speaking", "user", True)),
        (Speaking("bot", False), ("speaking", "bot", False)),
        (Transcription("what", final=False), ("partial", "what")),
        (Transcription("what time", final=True), ("heard", "what time")),
        (BotOutput("Hi.", segment=1, will_be_spoken=True), ("said", "Hi.")),
        (SpokenText("Hi."), ("said", "Hi.")),
        (ServerFailure("no voice"), ("error", "no voice")),
        (Interruption(), ("interruption",)),
    ],
)
def test_each_message_of_interest_has_its_callback(message: Incoming, expected: tuple[object, ...]) -> None:
    assert seen(message) == [expected]


@pytest.mark.parametrize(
    "message", [BotOutput("[code]", segment=1, will_be_spoken=False), UnknownMessage("metrics"), BareText("hello")]
)
def test_other_messages_have_none(message: Incoming) -> None:
    assert seen(message) == []


def test_a_segment_that_is_sent_again_after_it_was_spoken_is_shown_once() -> None:
    one = BotOutput("One.", segment=1, will_be_spoken=True)
    two = BotOutput("Two.", segment=2, will_be_spoken=True)
    assert seen(one, SpokenText("One."), one, two) == [("said", "One."), ("said", "Two.")]


class Progress(CallListener):
    """Writes down how much of the bot's words has been played."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def on_spoken(self, segment: object, heard: str, left: str) -> None:
        self.seen.append((heard, left))


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        ([BotOutput("One two.", 1, True, "", "One two."), BotOutput("One two.", 1, True, "One", " two.")],
         [("", "One two."), ("One", " two.")]),
        ([BotOutput("[code]", 1, False, "", "[code]")], []),
        ([BotOutput("One.", 1, True), BotOutput("One.", 1, True)], [("One.", "")]),
        ([SpokenText("One.")], [("One.", "")]),
    ],
)  # fmt: skip
def test_it_is_known_how_much_has_been_played(incoming: list[Incoming], expected: list[tuple[str, str]]) -> None:
    progress = Progress()
    events = LiveEvents(progress)
    for one in incoming:
        events.handle(one)
    assert progress.seen == expected
