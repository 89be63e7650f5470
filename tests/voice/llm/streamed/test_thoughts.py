"""Thoughts in front of an answer are never spoken, however they are torn; everything else is."""

import pytest

from voice.llm.streamed.thoughts import ThoughtFilter


def passed(text: str, size: int) -> str:
    thoughts = ThoughtFilter()
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return "".join([*map(thoughts.feed, pieces), thoughts.flush()])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("It is ten past four.", "It is ten past four."),
        ("<think>The user wants the time.</think>\n\nIt is ten.", "It is ten."),
        ("\n<think>\n\n</think>It is ten.", "It is ten."),
        ("<think>never comes to an end", ""),
        ("<b>bold</b> is markup.", "<b>bold</b> is markup."),
        ("It is <think>not</think> in front.", "It is <think>not</think> in front."),
        ("<thin", "<thin"),
        ("  ", "  "),
        ("", ""),
    ],
)
def test_only_the_answer_is_passed_on(text: str, spoken: str, size: int) -> None:
    assert passed(text, size) == spoken
