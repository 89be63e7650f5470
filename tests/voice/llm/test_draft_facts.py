"""Which drafts may be spoken, and which of them say the same."""

import pytest

from voice.llm.draft_facts import facts_of, facts_of_calls, fault_in


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("It is 12 dollars.", None),
        ("It costs 3.5 dollars, Dr. Smith said.", None),
        ("I can't see why not; go ahead.", None),
        ("", "it is empty"),
        ("...", "it is empty"),
        ("I'm sorry, but I can't help with that.", "it refuses"),
        ("As an AI, I have no opinion.", "it refuses"),
        ("The answer is **twelve**.", "it has markup"),
        ("# Results\nTwelve.", "it has markup"),
        ("<b>Twelve</b>.", "it has markup"),
        ('{"name": "book", "arguments": {}}', "it is a tool call written as text"),
        ("The answer is twelve and", "it breaks off"),
        ("Ответ двенадцать.", "it is in Cyrillic letters, and the caller speaks Latin"),
        ("word " * 130 + ".", "it has more than 120 words"),
    ],
)
def test_what_is_wrong_with_a_draft(text: str, fault: str | None) -> None:
    assert fault_in(text, whole=True, question="what does it cost") == fault


def test_an_unfinished_draft_is_not_judged_by_its_end() -> None:
    assert fault_in("The answer is", whole=False) is None
    assert fault_in("", whole=False) is None


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("It is 12 dollars.", "That would be twelve dollars.", True),
        ("It is 12 dollars.", "It is 13 dollars.", False),
        ("It is 1,200 in all.", "In all 1200.", True),
        ("Twenty five of them.", "There are 25.", True),
        ("Yes, it is.", "No, it is not.", False),
        ("It leaves on Monday.", "It leaves on Tuesday.", False),
        ("The sky scatters blue light.", "Blue light is scattered more.", True),
        ("At 4:10.", "At 4:15.", False),
    ],
)
def test_drafts_agree_in_numbers_days_and_yes_or_no(one: str, other: str, agree: bool) -> None:
    assert (facts_of(one) == facts_of(other)) is agree


def test_tool_calls_agree_in_name_and_arguments() -> None:
    one = facts_of_calls([("book", {"seats": 2, "day": "Monday"})])
    assert one == facts_of_calls([("book", {"day": "Monday", "seats": 2})])
    assert one != facts_of_calls([("book", {"day": "Monday", "seats": 3})])
