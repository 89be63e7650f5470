"""A real small language model: what it has read ahead of a request it does not read again."""

from pathlib import Path

import pytest

from tests.pulled import use_pulled
from voice.language.english.phrases import ENGLISH
from voice.llm.wires.in_process.engine import Message, Usage
from voice.llm.wires.in_process.gguf_file import read_gguf
from voice.llm.wires.in_process.model import OwnModel
from voice.models.store import find

SAID = [
    Message("user", "What day is it today?"),
    Message("assistant", "Today is Wednesday, November 25."),
    Message("user", "Convert ten miles to kilometers."),
    Message("assistant", "10 miles is 16.09 kilometers."),
]
ASKED = Message("user", "What is the capital of Australia?")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> OwnModel:
    use_pulled(monkeypatch, "smollm2-135m")
    path = find("smollm2-135m")
    assert isinstance(path, Path)
    return OwnModel.load(read_gguf(path))


async def answered(model: OwnModel, said: list[Message]) -> tuple[str, Usage]:
    pieces = [piece async for piece in model.stream(ENGLISH.prompt, said, longest=16)]
    (usage,) = [piece for piece in pieces if isinstance(piece, Usage)]
    return "".join(piece for piece in pieces if isinstance(piece, str)), usage


async def test_what_was_read_ahead_is_not_read_again(model: OwnModel) -> None:
    try:
        model.read(ENGLISH.prompt, SAID).result()
        text, usage = await answered(model, [*SAID, ASKED])
        assert "Canberra" in text
        assert usage.prompt - usage.kept < 25, "the caller's words and the marks around them"
    finally:
        model.close()


async def test_a_request_is_answered_after_a_reading_was_withdrawn(model: OwnModel) -> None:
    try:
        reading = model.read(ENGLISH.prompt, SAID * 8)
        reading.cancel()
        assert not reading.is_wanted
        text, usage = await answered(model, [ASKED])
        assert "Canberra" in text
        assert usage.answer > 0
    finally:
        model.close()
