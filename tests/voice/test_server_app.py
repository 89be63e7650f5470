import asyncio
import gc
import weakref
from typing import Any, cast

import pytest
from fastapi import WebSocket

from voice.server import app
from voice.server.app import Calls


class Circle:
    """Refers to itself, as the parts of a call do."""

    def __init__(self) -> None:
        self.own = self


class Socket:
    async def accept(self) -> None:
        """Nobody is there."""


async def test_what_a_call_leaves_is_collected_soon_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "LET_GO_AFTER", 0.0)
    calls = Calls(cast(Any, None))
    calls.ready = True
    left: list[weakref.ref[Circle]] = []

    async def talk(*_: object) -> None:
        left.append(weakref.ref(Circle()))

    monkeypatch.setattr(calls, "_run", talk)
    gc.disable()
    try:
        await calls.take(cast(WebSocket, Socket()), "16000")
        assert left[0]() is not None
        async with asyncio.timeout(5):
            while left[0]() is not None:
                await asyncio.sleep(0)
    finally:
        gc.enable()
