"""A model with made-up weights really decodes, streams, is cancelled and freed."""

import asyncio
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from tests.voice.llm.local.scripted_model import NAME, TEXT, build
from voice.errors import ComponentError, ConfigurationError
from voice.llm.local.chat_template import Message
from voice.llm.local.engine import Usage
from voice.llm.local.own_model import OwnModel

ASKED = [Message("user", "What time is it?")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("own") / "model")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnModel]:
    model = OwnModel.load(build(tmp_path_factory.mktemp("endless") / "model", endless=True, width=256, layers=4))
    yield model
    model.close()


async def answer(model: OwnModel, prompt: str = "Be brief.", longest: int = 60) -> tuple[str, Usage]:
    pieces = [piece async for piece in model.stream(prompt, ASKED, longest=longest)]
    usage = pieces.pop()
    assert isinstance(usage, Usage)
    return "".join(piece for piece in pieces if isinstance(piece, str)), usage


async def test_it_says_its_text_word_by_word_and_keeps_the_prompt(folder: Path) -> None:
    model = OwnModel.load(folder)
    assert model.name == NAME
    text, first = await answer(model)
    assert text == TEXT
    again, second = await answer(model)
    assert again == TEXT
    assert first.kept == 0
    assert 0 < second.kept < second.prompt == first.prompt
    other, third = await answer(model, prompt="Be somebody else.")
    assert (other, third.kept) == (TEXT, 0)
    model.close()
    model.close()


async def test_the_longest_answer_is_kept_to(endless: OwnModel) -> None:
    assert (await answer(endless, longest=5))[1].answer == 5


async def test_closing_the_iterator_stops_within_a_token(endless: OwnModel) -> None:
    began = time.monotonic()
    async with aclosing(endless.stream("Go on.", ASKED, longest=500)) as pieces:
        async for _ in pieces:
            break
        first = time.monotonic() - began
    # The whole would take hundreds of tokens; the next request waits for none of them.
    stopped = time.monotonic()
    _, usage = await answer(endless, prompt="Go on.", longest=1)
    took = time.monotonic() - stopped
    whole = time.monotonic()
    await answer(endless, prompt="Go on.", longest=500)
    assert usage.answer == 1
    assert took < first + (time.monotonic() - whole) / 4


async def test_a_withdrawn_request_that_waits_is_never_run(endless: OwnModel) -> None:
    async def take() -> str:
        return (await answer(endless, longest=100_000))[0]

    running = asyncio.create_task(answer(endless, longest=200))
    waiting = asyncio.create_task(take())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await running)[1].answer == 200
    assert (await answer(endless, longest=1))[1].answer == 1


async def test_the_event_loop_goes_on_while_it_decodes(endless: OwnModel) -> None:
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.001)

    beating = asyncio.create_task(beat())
    _, usage = await answer(endless, longest=200)
    beating.cancel()
    assert beats > usage.answer / 10


def test_the_process_ends_cleanly_with_a_model_left_loaded(folder: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from voice.llm.local.own_model import OwnModel\n"
        "model = OwnModel.load(Path(sys.argv[1])); model.read('Be brief.').result()"
    )
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("missing", ["model.bin", "tokenizer.json", "config.json"])
def test_a_folder_that_lacks_a_file_is_refused(copy: Path, missing: str) -> None:
    (copy / missing).unlink()
    with pytest.raises(ComponentError, match=f"lacks {missing}; convert one with ct2-transformers-converter"):
        OwnModel.load(copy)


def test_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="There is no folder"):
        OwnModel.load(tmp_path / "nothing")


def test_a_damaged_model_or_tokenizer_is_refused(copy: Path) -> None:
    weights = (copy / "model.bin").read_bytes()
    (copy / "model.bin").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(ComponentError, match="cannot load the model"):
        OwnModel.load(copy)
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(ComponentError, match="is no tokenizer"):
        OwnModel.load(copy)


def test_an_unknown_or_missing_chat_template_is_refused_unless_one_is_named(copy: Path) -> None:
    (copy / "tokenizer_config.json").write_text('{"chat_template": "[INST] {{ m }} [/INST]"}')
    with pytest.raises(ConfigurationError, match=r"is not one of chatml, llama3: choose another model, or serve"):
        OwnModel.load(copy)
    (copy / "tokenizer_config.json").unlink()
    with pytest.raises(ConfigurationError, match=r"has no chat template: copy its tokenizer_config\.json"):
        OwnModel.load(copy)
    OwnModel.load(copy, template="chatml").close()
    with pytest.raises(ComponentError, match="does not know .*which the chat template llama3 needs"):
        OwnModel.load(copy, template="llama3")


def test_a_model_that_does_not_fit_into_memory_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = psutil.virtual_memory()._replace(available=1000)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    with pytest.raises(ComponentError, match="choose a smaller model"):
        OwnModel.load(folder)
