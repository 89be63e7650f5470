"""What is kept of an answer beside its words can be sent again, or is not kept."""

from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pipecat.frames.frames import (
    Frame,
    LLMMessagesAppendFrame,
    LLMThoughtEndFrame,
    LLMThoughtStartFrame,
    LLMThoughtTextFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage

from voice.llm.wires.delivery import deliver
from voice.llm.wires.events import Event


async def pushed(*events: Event) -> list[Frame]:
    async def stream() -> AsyncGenerator[Event]:
        for each in events:
            yield each

    frames: list[Frame] = []

    async def push(frame: Frame) -> None:
        frames.append(frame)

    await deliver(cast(Any, SimpleNamespace(push_frame=push)), LLMContext([]), stream())
    return frames


@pytest.mark.parametrize(
    ("thought", "signature", "is_kept"),
    [
        ("plan", "sig", True),
        ("plan", None, True),
        ("pl\ud83dan", "sig", False),
        ("plan\0", "sig", False),
        ("plan", "sig\ud83d", False),
        ("plan", "sig\0", False),
    ],
)
async def test_a_signed_thought_is_kept_as_it_is_or_not_at_all(
    thought: str, signature: str | None, is_kept: bool
) -> None:
    frames = await pushed(
        LLMThoughtStartFrame(), LLMThoughtTextFrame(text=thought), LLMThoughtEndFrame(signature=signature)
    )
    assert any(isinstance(frame, LLMThoughtEndFrame) for frame in frames) is is_kept
    for frame in frames:
        getattr(frame, "text", "").encode()


@pytest.mark.parametrize("secret", ["enc", "enc\ud83d", "enc\0"])
async def test_a_reasoning_item_is_kept_as_it_is_or_not_at_all(secret: str) -> None:
    item = LLMSpecificMessage(llm="x", message={"type": "reasoning", "encrypted_content": secret})
    assert len(await pushed(LLMMessagesAppendFrame([item]))) == (secret == "enc")
