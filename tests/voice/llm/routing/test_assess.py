"""What a caller says is routed by rules."""

from time import process_time

import pytest

from tests.benchmarks.routing.labelled import utterances
from voice.llm.routing.__main__ import main
from voice.llm.routing.assess import assess


@pytest.mark.parametrize(
    ("text", "asked", "difficulty"),
    [
        ("", None, "open"),
        ("Cancel the timer.", None, "command"),
        ("Cancel the subscription.", None, "tool"),
        ("yes", "Shall I transfer €200 to Anna?", "money"),
        ("Yes.", "Shall I play some jazz?", "reply"),
        ("yes", "I have transferred the money.", "reply"),
        ("yes but what about the transfer fee", "Shall I play some jazz?", "money"),
        ("WHAT\u2019S THE TIME?", None, "time"),
        ("okay, now delete it", None, "tool"),
        ("okay, what time is it", None, "time"),
        ("what time should I take the pills", None, "health"),
        ("set an alarm for my insulin", None, "health"),
        ("it costs \u20ac50", None, "money"),
    ],
)
def test_single_utterances(text: str, asked: str | None, difficulty: str) -> None:
    assert assess(text, asked=asked).difficulty == difficulty


def test_the_name_of_an_irreversible_tool_is_heard() -> None:
    assert assess("water the plants now", irreversible=["water_plants"]).difficulty == "tool"
    assert assess("water the plants now").difficulty == "open"
    assert assess("okay", asked="I would water the plants, okay?", irreversible=["water_plants"]).asked


def test_a_decision_takes_well_under_five_milliseconds_whatever_is_said() -> None:
    texts = [one.text for one in utterances()]
    long = ["if one how " * 90, "how long " * 120, "check and " * 200, "okay " * 300, "set " * 200, "a" * 5000]
    assess("warm up")
    began = process_time()
    for text in [*texts, *long]:
        assess(text, asked="Shall I " * 80 + "?")
    assert process_time() - began < 0.005 * len(texts)


def test_the_command_explains_words(capsys: pytest.CaptureFixture[str]) -> None:
    main(["transfer", "fifty", "euros"])
    assert capsys.readouterr().out == 'large: money by "transfer"\n'
