"""The end of a turn whose words are read by a language model in the background."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from voice.turns.words.end_reader import EndReader


class Reading:
    """Stands in for the model: words that end in one of these are finished; answers once it may."""

    def __init__(self) -> None:
        self.finished = ("jazz",)
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def __call__(self, prompt: str) -> Sequence[tuple[str, float]]:
        words = prompt.rpartition("\n")[2]
        self.asked.append(words)
        self.may_answer.wait(10)
        return [(".", 0.9 if words.endswith(self.finished) else 0.0001)]


@pytest.fixture
def model() -> Reading:
    return Reading()


@pytest.fixture
def reader(model: Reading) -> Iterator[EndReader]:
    made = EndReader(model, name="scripted: reader")
    yield made
    model.may_answer.set()
    made.close()


async def test_each_new_text_is_read_once(turn_rig: Any, embedded: Any, model: Reading, reader: EndReader) -> None:
    async with turn_rig.calling(embedded, reader=reader) as call:
        await turn_rig.said(call, "please play some jazz")
        await call.audio(1.6)
        await call.until(lambda: call.answered)
    assert [words for words in model.asked if words] == ["please play some jazz"], "and then the answer is prepared"


async def test_the_turn_waits_for_the_reader_and_no_longer_than_its_limit(
    turn_rig: Any, embedded: Any, model: Reading, reader: EndReader
) -> None:
    model.may_answer.clear()
    async with turn_rig.calling(embedded, reader=reader) as call:
        await turn_rig.said(call, "please play some jazz")
        await call.until(lambda: call.answered)
        (end,) = call.ends
    assert end.finished is not None


async def test_words_that_read_unfinished_wait_longer(
    turn_rig: Any, embedded: Any, model: Reading, reader: EndReader
) -> None:
    finished: list[float] = []
    for text in ("please play some jazz", "please play some"):
        async with turn_rig.calling(embedded, reader=reader) as call:
            await turn_rig.said(call, text)
            await call.audio(3.0)
            await call.until(lambda call=call: call.answered)
            finished.append(call.ends[0].finished)
    assert finished[0] > finished[1]


async def test_an_early_answer_waits_for_the_reader(
    turn_rig: Any, embedded: Any, model: Reading, reader: EndReader
) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=2.0, reads=lambda _text: -0.5, reader=reader) as call:
        await call.speaks()
        await call.audio(0.1)
        await call.eager("please play some")
        await call.eager("please play some jazz")
        await call.until(lambda: call.model.asked)
        assert call.model.asked == ["please play some jazz"], "trigrams would have answered the first text"
