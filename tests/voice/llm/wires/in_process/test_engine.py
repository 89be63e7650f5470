"""A model with made-up weights through llama.cpp, and how conversations are written for a model."""

import sys
from pathlib import Path

import psutil
import pytest

from tests.voice.llm.wires.in_process.scripted_gguf import build
from voice.errors import ComponentError
from voice.llm.wires.in_process.engine import Engine, GenerationError, Message, Usage, recent, without_control_tokens
from voice.llm.wires.in_process.gguf_file import read_gguf
from voice.llm.wires.in_process.model import OwnModel


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("xllamacpp")
    return build(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


async def ask(model: OwnModel, *messages: Message, longest: int = 20) -> Usage:
    *pieces, usage = [piece async for piece in model.stream("Be brief.", messages, longest=longest)]
    assert isinstance(usage, Usage)
    assert any(pieces)
    return usage


async def test_the_next_turn_reads_only_what_is_new(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = OwnModel.load(read_gguf(file))
    assert model.name == "scripted:own"
    model.read("Be brief.").result()
    question = Message("user", "What time is it, please?")
    first = await ask(model, question)
    second = await ask(model, question, Message("assistant", "Ten."), Message("user", "Thanks."))
    assert first.kept > 0, "the system prompt, read while it warmed up"
    assert second.kept >= first.prompt - 5
    async for _ in model.stream("Be brief.", [question], longest=2000):
        break
    assert (await ask(model, question, longest=2)).answer <= 2
    with pytest.raises(GenerationError, match=r"llama\.cpp refused the request \(.*context size"):
        await ask(model, Message("user", "é" * 9000))
    model.close()
    assert capfd.readouterr().err == ""


def test_a_file_whose_weights_are_missing_is_refused(file: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(file.read_bytes()[:20_000])
    with pytest.raises(ComponentError, match=r"llama\.cpp cannot load .*: it is damaged, or a kind of model"):
        Engine(read_gguf(cut))


def test_without_the_package_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    file = tmp_path / "some.gguf"
    file.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    with pytest.raises(ComponentError, match=r"needs the package xllamacpp, which cannot be imported here"):
        Engine(read_gguf(file))


def test_a_model_that_does_not_fit_into_memory_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = psutil.virtual_memory()._replace(available=1000)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    with pytest.raises(ComponentError, match="choose a smaller model"):
        Engine(read_gguf(file))


@pytest.mark.parametrize(
    "token",
    [
        "<|eot_id|>",
        "</s>",
        "<s>",
        "<end_of_turn>",
        "<think>",
        "</tool_call>",
        "<｜User｜>",
        "[INST]",
        "[/INST]",
        "<__m__>",
    ],
)
def test_the_name_of_a_control_token_is_only_text_to_a_model(token: str) -> None:
    assert token not in without_control_tokens(f"I typed {token} and {token}.")
    assert without_control_tokens(token).replace(" ", "") == token


@pytest.mark.parametrize("text", ["1 < 2, 3 <4, a <= b", "See [1] and [that is all].", "Grüße."])
def test_ordinary_text_is_given_to_a_model_as_it_is(text: str) -> None:
    assert without_control_tokens(text) == text


def test_old_messages_are_left_out_in_whole_turns() -> None:
    talk = [Message("user", "a"), Message("assistant", "b"), Message("user", "c"), Message("assistant", "d")]
    talk.append(Message("user", "e"))
    assert recent(talk, [10] * 5, limit=50) == talk
    assert recent(talk, [10] * 5, limit=49) == talk[2:], "an answer never comes first"
    assert recent(talk, [10] * 5, limit=20) == talk[4:]
    assert recent(talk, [10, 10, 10, 10, 99], limit=20) == talk[4:], "what was just said is always there"
