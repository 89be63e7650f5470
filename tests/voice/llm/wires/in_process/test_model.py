"""A model with made-up weights really decodes, streams, is cancelled and freed."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from tests.voice.llm.wires.in_process.scripted_gguf import NAME, TEXT, build
from voice.llm.wires.in_process.engine import Message, Usage
from voice.llm.wires.in_process.gguf_file import GgufFile, read_gguf
from voice.llm.wires.in_process.model import OwnModel

pytest.importorskip("xllamacpp")
ASKED = [Message("user", "What time is it?")]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> GgufFile:
    return read_gguf(build(tmp_path_factory.mktemp("own") / "model.gguf"))


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnModel]:
    path = build(tmp_path_factory.mktemp("endless") / "model.gguf", endless=True, width=256, layers=4)
    model = OwnModel.load(read_gguf(path))
    yield model
    model.close()


async def answer(model: OwnModel, prompt: str = "Be brief.", longest: int = 60) -> tuple[str, Usage]:
    pieces = [piece async for piece in model.stream(prompt, ASKED, longest=longest)]
    usage = pieces.pop()
    assert isinstance(usage, Usage)
    return "".join(piece for piece in pieces if isinstance(piece, str)), usage


async def test_it_says_its_text_word_by_word_and_keeps_the_prompt(file: GgufFile) -> None:
    model = OwnModel.load(file)
    assert model.name == NAME
    text, first = await answer(model)
    assert text == TEXT
    again, second = await answer(model)
    assert again == TEXT
    assert first.kept == 0
    assert 0 < second.kept < second.prompt == first.prompt
    other, third = await answer(model, prompt="Be somebody else.")
    assert (other, third.kept) == (TEXT, len("system\nBe ") + 1), "a byte is a token; so is the mark before them"
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


def test_the_process_ends_cleanly_with_a_model_left_loaded(file: GgufFile) -> None:
    program = (
        "import sys; from pathlib import Path; from voice.llm.wires.in_process.gguf_file import read_gguf\n"
        "from voice.llm.wires.in_process.model import OwnModel\n"
        "model = OwnModel.load(read_gguf(Path(sys.argv[1]))); model.read('Be brief.').result()"
    )
    done = subprocess.run([sys.executable, "-c", program, str(file.path)], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
