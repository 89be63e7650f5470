"""How finished words read to a language model: the questions, their limits, and real weights."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.pulled import use_pulled
from voice.errors import ComponentError
from voice.turns.words.end_reader import OPEN, EndReader, prompt_of


class Scripted:
    """Stands in for the model: gives the same likeliest tokens to every prompt, once it may."""

    def __init__(self, *tokens: tuple[str, float]) -> None:
        self.tokens = tokens
        self.prompts: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def __call__(self, prompt: str) -> tuple[tuple[str, float], ...]:
        self.prompts.append(prompt)
        self.may_answer.wait(10)
        return self.tokens


@pytest.fixture
def model() -> Scripted:
    return Scripted((".", 0.25), ("?", 0.125), (" and", 0.25), ("", 0.0625), (" ", 0.125), ("\n", 0.03125))


@pytest.fixture
def reader(model: Scripted) -> Iterator[EndReader]:
    made = EndReader(model, name="scripted: reader")
    yield made
    model.may_answer.set()
    made.close()


async def test_the_probabilities_of_all_ends_are_added(reader: EndReader) -> None:
    assert await reader.probability("Turn on the light.") == 0.25 + 0.125 + 0.0625 + 0.03125


async def test_the_model_reads_the_agents_sentence_and_the_words_without_their_end_marks(
    reader: EndReader, model: Scripted
) -> None:
    await reader.probability("A large one, please.", said="What size?")
    assert model.prompts[-1].endswith(
        "<|im_start|>assistant\nWhat size?<|im_end|>\n<|im_start|>user\nA large one, please"
    )


def test_control_tokens_in_the_words_are_broken_up() -> None:
    assert prompt_of("end<|im_end|>".replace("<|", "< |"), "and<|im_end|>").count("<|im_end|>") == 2


@pytest.mark.parametrize("text", ["I would like, um", "on Monday,", "my number is...", "Well —"])
async def test_words_marked_as_unfinished_need_no_question(reader: EndReader, model: Scripted, text: str) -> None:
    assert await reader.probability(text) == OPEN
    assert not model.prompts


@pytest.mark.parametrize("text", ["", "  ", "...", "?"])
async def test_without_words_there_is_no_probability(reader: EndReader, model: Scripted, text: str) -> None:
    assert await reader.probability(text) is None
    assert not model.prompts


async def test_a_late_answer_is_none_and_its_question_withdrawn(reader: EndReader, model: Scripted) -> None:
    model.may_answer.clear()
    first = asyncio.create_task(reader.probability("one"))
    second = asyncio.create_task(reader.probability("two"))
    assert await first is None
    assert await second is None
    model.may_answer.set()
    assert await reader.probability("three") is not None
    assert [prompt.rpartition("\n")[2] for prompt in model.prompts] == ["one", "three"]


async def test_a_failing_model_is_reported_once_and_gives_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail(prompt: str) -> list[tuple[str, float]]:
        raise ComponentError("it broke")

    reader = EndReader(fail, name="scripted: reader")
    assert await reader.probability("one") is None
    assert await reader.probability("two") is None
    reader.close()
    assert caplog.text.count("scripted: reader cannot read the ends of turns: it broke") == 1


CUT, WHOLE = (
    ("turn off the lights in the", "can i get a large", "what is the capital of", "remind me to call my"),
    (
        "turn off the lights in the kitchen",
        "can i get a large latte",
        "what is the capital of australia",
        "remind me to call my mother",
    ),
)


def test_real_weights_tell_cut_requests_from_whole_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    use_pulled(monkeypatch, "smollm2-135m")
    from pipelines.reader_loading import load_reader, reader_file
    from pipelines.settings import Turns

    file = reader_file(Turns(), "en")
    assert file is not None
    assert file.name == "smollm2-135m"
    reader = load_reader(file)
    found = [(reader.read(cut) or 0.0, reader.read(whole) or 0.0) for cut, whole in zip(CUT, WHOLE, strict=True)]
    short = reader.read("a large one"), reader.read("a large one", said="Which size would you like?")
    reader.close()
    assert all(cut < 0.01 < whole for cut, whole in found)
    assert short[0] is not None
    assert short[1] is not None
    assert short[1] > short[0], "an answer to a question is whole"


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda weights: weights[: -40 << 20] + b"\xff" * (40 << 20), "gives no probabilities"),
        (lambda weights: weights.replace(b"<|im_start|>", b"<|xx_start|>"), "does not know ChatML"),
    ],
    ids=["damaged", "another template"],
)
def test_weights_that_cannot_read_are_refused_in_a_sentence(
    damage: Callable[[bytes], bytes], sentence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_pulled(monkeypatch, "smollm2-135m")
    from pipelines.reader_loading import load_reader, reader_file
    from pipelines.settings import Turns

    good = reader_file(Turns(), "en")
    assert good is not None
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(damage(good.path.read_bytes()))
    with pytest.raises(ComponentError, match=sentence):
        load_reader(reader_file(Turns(reader=str(copy)), "en") or good)


@pytest.mark.parametrize(
    ("reader", "sentence"),
    [("smollm", "names no model"), ("./no.gguf", "There is no file"), ("smollm2-135m", "voice models pull")],
)
def test_a_model_that_is_not_here_is_one_clear_sentence(reader: str, sentence: str) -> None:
    from pipelines.reader_loading import reader_file
    from pipelines.settings import Turns
    from voice.errors import VoiceError

    with pytest.raises(VoiceError, match=sentence):
        reader_file(Turns(reader=reader), "en")


def test_auto_without_the_model_leaves_the_words_to_the_trigram_model(tmp_path: Path) -> None:
    from pipelines.reader_loading import reader_file
    from pipelines.settings import Turns

    assert reader_file(Turns(), "en") is None
    assert reader_file(Turns(reader="trigram"), "en") is None
