"""A call's service on a model with made-up weights, in a real tier."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from pipecat.processors.aggregators.llm_context import LLMContext

from tests.voice.llm.wires.in_process.scripted_gguf import TEXT, build
from tests.voice.llm.wires.responses.rig import in_call, said
from voice.llm.wires.in_process.engine import GenerationError, Message
from voice.llm.wires.in_process.gguf_file import read_gguf
from voice.llm.wires.in_process.model import OwnModel
from voice.llm.wires.in_process.service import OwnLLMService
from voice.llm.wires.in_process.service import said as heard

pytest.importorskip("xllamacpp")
NOT_SIMULATED = cast(Any, None)
ASK: Any = [{"role": "user", "content": "What time is it?"}]


def load(folder: Path, **options: Any) -> OwnModel:
    return OwnModel.load(read_gguf(build(folder / "model.gguf", **options)))


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[OwnModel]:
    model = load(tmp_path, endless=True, width=256, layers=4)
    yield model
    model.close()


def service(model: OwnModel, *, max_tokens: int = 60) -> OwnLLMService:
    return OwnLLMService(model, prompt="Be brief.", max_tokens=max_tokens)


async def test_the_answer_and_its_tokens_are_on_record(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = load(tmp_path)
    model.read("Be brief.").result()
    async with in_call(service(model), NOT_SIMULATED) as call:
        task, attempt = call.start(LLMContext(ASK))
        await task
    assert attempt.state.outcome == "complete"
    assert said(attempt).strip() == TEXT
    assert attempt.usage is not None
    assert attempt.usage.cache_read_input_tokens
    assert "ERROR" not in capfd.readouterr().err
    model.close()


async def test_thoughts_are_not_spoken(tmp_path: Path) -> None:
    model = load(tmp_path, text="<think> They want tea. </think> Certainly, at four.")
    async with in_call(service(model), NOT_SIMULATED) as call:
        task, attempt = call.start(LLMContext(ASK))
        await task
    assert said(attempt).strip() == "Certainly, at four."
    model.close()


async def test_a_cancelled_request_leaves_the_model_free_for_the_next_turn(endless: OwnModel) -> None:
    async with in_call(service(endless, max_tokens=100_000), NOT_SIMULATED) as call:
        task, attempt = call.start(LLMContext(ASK))
        async with asyncio.timeout(20):
            while attempt.state.first_token is None:
                await asyncio.sleep(0.001)
            task.cancel()
            while not endless._queue.is_idle:
                await asyncio.sleep(0.001)
        pieces = [piece async for piece in endless.stream("Be brief.", [Message("user", "Go on.")], longest=2)]
    assert len(pieces) == 3


async def test_a_failure_is_the_attempts_reason(endless: OwnModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise GenerationError("llama.cpp failed (no memory)")

    monkeypatch.setattr(endless._engine, "generate", broken)
    async with in_call(service(endless), NOT_SIMULATED) as call:
        attempt = await call.ask("Hello?")
    assert (attempt.state.outcome, attempt.state.failed) == (
        "failed",
        "scripted:own in this process: llama.cpp failed (no memory).",
    )


def test_tool_messages_and_empty_ones_are_left_out() -> None:
    messages: Any = [
        {"role": "developer", "content": "The user said nothing."},
        {"role": "assistant", "content": "", "tool_calls": []},
        {"role": "tool", "content": "42", "tool_call_id": "1"},
        {"role": "user", "content": [{"type": "text", "text": "And now?"}]},
    ]
    assert heard(LLMContext(messages)) == [Message("user", "The user said nothing."), Message("user", "And now?")]
