import random
from fractions import Fraction

import pytest

from voice.responder.language.grammar import Template
from voice.responder.language.numbers import NUMBER

KINDS = {"number": NUMBER}


@pytest.mark.parametrize(
    ("template", "text", "matches"),
    [
        ("flip (a|the) coin", "flip a coin ", True),
        ("flip (a|the) coin", "flip coin ", False),
        ("what time is it [right now]", "what time is it ", True),
        ("what time is it [right now]", "what time is it right now ", True),
        ("what time is it [right now]", "what time is it right ", False),
        ("count to <number>", "count to ten ", True),
        ("count to <number>", "count to bed ", False),
        ("[please|do] (count [up]|go) to <n:number>", "do count up to ten ", True),
    ],
)
def test_a_template_matches_the_whole_text_or_not_at_all(template: str, text: str, matches: bool) -> None:
    assert (Template.compile(template, KINDS).match(text) is not None) == matches


def test_a_slot_carries_its_value_and_a_missing_optional_slot_has_no_entry() -> None:
    template = Template.compile("roll [<count:number>] dice", KINDS)
    assert template.match("roll three dice ") == {"count": Fraction(3)}
    assert template.match("roll dice ") == {}


@pytest.mark.parametrize("text", ["set a timer four ten seconds ", "set the timer for ten seconds "])
def test_words_that_recognisers_confuse_match_each_other(text: str) -> None:
    assert Template.compile("set a timer for ten seconds", {}).match(text) is not None


def test_confusions_are_never_generated() -> None:
    template = Template.compile("set a timer for <number>", KINDS)
    assert all(template.sample(random.Random(seed), {}).startswith("set a timer for ") for seed in range(50))


def test_samples_match_their_own_template() -> None:
    template = Template.compile("(add|take) [the number] <a:number> (by|from) <b:number>", KINDS)
    samples = {template.sample(random.Random(seed), {"a": "five"}) for seed in range(100)}
    assert len(samples) > 50
    assert all(template.match(sample + " ") is not None for sample in samples)


@pytest.mark.parametrize("template", ["flip (a coin", "flip [a coin", "flip a) coin", "count to <limit>"])
def test_a_malformed_template_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="template|kind"):
        Template.compile(template, KINDS)
