"""What a caller says is routed by rules that carry over from the half of a list that they were written from."""

from time import process_time

import pytest

from voice.llm.routing.__main__ import main
from voice.llm.routing.assess import assess
from voice.llm.routing.labelled import PARTS, Part, confusion, half_of, utterances


def of(part: Part) -> list:  # type: ignore[type-arg]
    return [one for one in utterances() if one.part == part]


def test_the_list_is_long_and_its_halves_are_disjoint_and_of_one_size() -> None:
    texts = [(one.text.casefold(), one.asked) for one in utterances()]
    assert len(set(texts)) == len(texts)
    tuning, test = of("tuning"), of("test")
    assert len(tuning) + len(test) >= 300
    assert 0.8 < len(tuning) / len(test) < 1.25
    assert {one.text for one in tuning} & {one.text for one in test} == set()
    assert [half_of(one.text) for one in test] == ["test"] * len(test)


@pytest.mark.parametrize("part", ["tuning", "test"])
def test_what_must_go_to_the_large_model_is_sent_there(part: Part) -> None:
    found = confusion(of(part))
    forced = found.share("large", "large")
    easy = found.share("fast", "fast")
    assert forced is not None
    assert forced >= 0.95
    assert easy is not None
    assert easy >= 0.85


def test_words_that_the_rules_miss_are_open_and_not_easy() -> None:
    found = confusion(of("indirect"))
    not_fast = found.share("large", "large", "open")
    assert not_fast is not None
    assert not_fast >= 0.9
    forced = found.share("large", "large")
    assert forced is not None
    assert forced < 0.5, "rules by words see little of what is said indirectly; say so where it has changed"


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


def test_the_command_prints_every_part_and_explains_words(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    printed = capsys.readouterr().out
    assert all(f"{part}, " in printed for part in PARTS)
    main(["transfer", "fifty", "euros"])
    assert capsys.readouterr().out == 'large: money by "transfer"\n'
