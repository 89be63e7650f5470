"""GGUF files through llama.cpp; skipped where the optional packages are not installed."""

import sys
from pathlib import Path

import pytest

from voice.errors import ComponentError
from voice.llm.local.chat_template import Message
from voice.llm.local.engine import GenerationError, Usage
from voice.llm.local.gguf_header import read_gguf
from voice.llm.local.own_model import OwnModel


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gguf")
    from tests.voice.llm.local.scripted_gguf import build

    return build(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


async def ask(model: OwnModel, *messages: Message, longest: int = 20) -> Usage:
    *pieces, usage = [piece async for piece in model.stream("Be brief.", messages, longest=longest)]
    assert isinstance(usage, Usage)
    assert any(pieces)
    return usage


async def test_the_next_turn_reads_only_what_is_new(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xllamacpp")
    model = OwnModel.load(file)
    assert model.name == "scripted:gguf"
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


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    junk = tmp_path / "junk.gguf"
    junk.write_bytes(b"<html>not found</html>")
    with pytest.raises(ComponentError, match=r'is no GGUF file \(it does not begin with "GGUF"\)'):
        OwnModel.load(junk)
    with pytest.raises(ComponentError, match="There is no file"):
        OwnModel.load(tmp_path / "nothing.gguf")


@pytest.mark.parametrize("length", [4, 20, 30, 60])
def test_a_file_that_ends_in_its_header_is_refused(length: int, tmp_path: Path) -> None:
    whole = b"GGUF" + (3).to_bytes(4, "little") + (1).to_bytes(8, "little") + (2).to_bytes(8, "little")
    for key, value in ((b"general.architecture", b"qwen2"), (b"general.name", b"scripted:gguf")):
        whole += len(key).to_bytes(8, "little") + key + (8).to_bytes(4, "little")
        whole += len(value).to_bytes(8, "little") + value
    file = tmp_path / "torn.gguf"
    file.write_bytes(whole)
    assert read_gguf(file).name == "scripted:gguf"
    file.write_bytes(whole[:length])
    with pytest.raises(ComponentError, match="damaged GGUF file"):
        read_gguf(file)


def test_a_file_has_its_name_in_the_table_or_else_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    header = b"GGUF" + (3).to_bytes(4, "little") + (0).to_bytes(8, "little") + (1).to_bytes(8, "little")
    for text in (b"general.name", b"qwen2.5 coder 0.5b instruct AWQ"):
        header += (
            len(text).to_bytes(8, "little") + text + ((8).to_bytes(4, "little") if text == b"general.name" else b"")
        )
    table = tmp_path / "turnaround" / "models" / "qwen2.5-coder-0.5b" / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    for file, name in ((table, "qwen2.5-coder-0.5b"), (tmp_path / "mine.gguf", "mine")):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(header)
        assert read_gguf(file).name == name


def test_a_file_whose_weights_are_missing_is_refused(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    torn = tmp_path / "torn.gguf"
    torn.write_bytes(file.read_bytes()[:20_000])
    with pytest.raises(ComponentError, match=r"llama\.cpp cannot load .*: it is damaged, or a kind of model"):
        OwnModel.load(torn)


def test_without_the_package_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    file = tmp_path / "some.gguf"
    file.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    with pytest.raises(ComponentError, match=r"needs the package xllamacpp, which cannot be imported here"):
        OwnModel.load(file)
