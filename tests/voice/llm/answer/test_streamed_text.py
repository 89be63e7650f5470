"""Pieces that are ready are taken in order, and of a draft only the first sentence."""

import pytest
from pipecat.frames.frames import LLMThoughtTextFrame

from voice.frames import AnswerTextFrame
from voice.llm.answer.streamed_text import ClauseQueue, ends_sentence


def speakable(*texts: str) -> ClauseQueue:
    queue = ClauseQueue()
    for text in texts:
        queue.add(AnswerTextFrame(text, clauses=(text.strip(),)))
    return queue


def taken(queue: ClauseQueue, *, first_sentence: bool = False) -> list[str]:
    return [piece.text for piece in queue.take(first_sentence=first_sentence) if isinstance(piece, AnswerTextFrame)]


def test_all_pieces_are_taken_once_and_in_order() -> None:
    queue = speakable("Well, ", "it is. ", "So.")
    assert queue.text == "Well, it is. So."
    assert taken(queue) == ["Well, ", "it is. ", "So."]
    assert (taken(queue), queue.text, queue.begun) == ([], "", True)


def test_the_first_sentence_may_come_in_several_clauses_and_at_several_times() -> None:
    queue = speakable("Well, ")
    assert taken(queue, first_sentence=True) == ["Well, "]
    queue.add(AnswerTextFrame("it is. "))
    queue.add(AnswerTextFrame("So."))
    assert taken(queue, first_sentence=True) == ["it is. "]
    assert taken(queue, first_sentence=True) == []
    assert taken(queue) == ["So."]


def test_a_thought_keeps_its_place_and_is_no_word() -> None:
    queue = ClauseQueue()
    queue.add(LLMThoughtTextFrame("hm"))
    assert len(queue.take(first_sentence=True)) == 1
    assert not queue.begun


@pytest.mark.parametrize("text", ["It is. ", "Is it?", "“It is.”", "Go!"])
def test_a_sentence_ends_where_it_is_marked(text: str) -> None:
    assert ends_sentence(text)
    assert not ends_sentence(text.strip("“” ").rstrip(".?!") + ",")
