"""How each part of a running call is broken, and mended again. Runs on the server's event loop."""

import asyncio
import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pipecat.frames.frames import Frame, InputAudioRawFrame
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameProcessor

from pipelines.shared_engines import Engines
from tests.faults.matrix import Cell, Failure
from tests.faults.stream_proxy import StreamProxy
from voice.asr.sphinx.service import SphinxSTTService
from voice.turns.smart_turn import SmartTurnVerdict

Mend = Callable[[], None]
HUNG_FOR = 25.0
"""Seconds after which what hangs in a thread gives up, though nobody has mended it: tests must end."""
ERRNO = {"dies": errno.ENOSPC, "refuses": errno.EROFS}


@dataclass
class Broken:
    """What can be broken of a call.

    Parameters:
        engines: of the server.
        parts: the processors of the call's pipeline.
        client: between the caller and the server.
        large, fast: between the server and each of its models.
    """

    engines: Engines
    parts: list[FrameProcessor]
    client: StreamProxy
    large: StreamProxy
    fast: StreamProxy

    def part(self, kind: type[Any]) -> Any:
        (found,) = [part for part in self.parts if isinstance(part, kind)]
        return found


@dataclass
class Switch:
    """Makes what passes it fail, in whatever thread, until it is mended."""

    failure: Failure | None = None
    mended: threading.Event = field(default_factory=threading.Event)

    def turn_on(self, failure: Failure) -> Mend:
        self.failure, self.mended = failure, threading.Event()
        return self.turn_off

    def turn_off(self) -> None:
        self.failure = None
        self.mended.set()

    def pass_blocking(self, *, slow: float) -> None:
        """Fail as set; for threads.

        Raises:
            RuntimeError: it dies or refuses.
        """
        if self.failure in ("dies", "refuses"):
            raise RuntimeError(f"broken by a test: it {self.failure}")
        if self.failure == "hangs":
            self.mended.wait(HUNG_FOR)
        elif self.failure == "slow":
            time.sleep(slow)

    def write(self) -> None:
        """Fail as a disk does; for threads.

        Raises:
            OSError: the disk is full, or may not be written to.
        """
        if self.failure in ERRNO:
            code = ERRNO[self.failure]
            raise OSError(code, os.strerror(code))
        self.pass_blocking(slow=1.0)


TOOL, SYNTHESIS, DISK = Switch(), Switch(), Switch()
"""What the rig's tool, its voice and its files ask whether they are broken."""


def breakage(cell: Cell, call: Broken) -> Mend:
    """Break a part of a call; returns what mends it."""
    failure = cell.failure
    match cell.part:
        case "recogniser process":
            return _recogniser(failure, call)
        case "Whisper service":
            return _whisper(failure, call)
        case "voice detector":
            return _voice_detector(failure, call)
        case "Smart Turn":
            return _smart_turn(failure, call)
        case "large model":
            return _model(failure, call.large)
        case "fast model":
            return _model(failure, call.fast)
        case "tool":
            return TOOL.turn_on(failure)
        case "synthesis":
            return SYNTHESIS.turn_on(failure)
        case "client's socket":
            return _socket(failure, [call.client])
        case "provider's socket":
            return _socket(failure, [call.large, call.fast])
        case "recording's disk":
            return DISK.turn_on(failure)


def _put(owner: Any, name: str, what: Any) -> Mend:
    """Put something in the place of a method of one instance."""
    setattr(owner, name, what)
    return lambda: delattr(owner, name)


def _recogniser(failure: Failure, call: Broken) -> Mend:
    service = call.part(SphinxSTTService)
    pool, worker = service._pool, service._worker
    assert worker is not None
    match failure:
        case "garbage":
            worker._replies.feed_data(b"\xff" * 64 + b"\n")
            return lambda: None
        case "hangs":
            os.kill(worker.pid, signal.SIGSTOP)
            return lambda: _go_on(worker.pid)
        case "slow":
            os.kill(worker.pid, signal.SIGSTOP)
            asyncio.get_running_loop().call_later(1.0, _go_on, worker.pid)
            return lambda: None
        case "refuses":

            async def refuse() -> None:
                raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

            mend = _put(pool, "_load", refuse)
            for idle in list(pool._all):
                idle.kill()
            worker.kill()
            return mend
        case _:
            worker.kill()
            return lambda: None


def _go_on(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def _whisper(failure: Failure, call: Broken) -> Mend:
    model: Any = call.engines.recogniser._whisper  # type: ignore[attr-defined]
    if failure == "refuses":

        def refuse(*_: object, **__: object) -> None:
            raise RuntimeError("CUDA failed with error out of memory")

        return _put(model, "submit", refuse)
    switch, decode = Switch(), model.transcribe
    off = switch.turn_on(failure)

    def transcribe(*args: Any, **kwargs: Any) -> str:
        switch.pass_blocking(slow=1.5)
        return "\0\ufffd\u202e" * 40 if switch.failure == "garbage" else decode(*args, **kwargs)

    mend = _put(model, "transcribe", transcribe)
    return lambda: (off(), mend())[0]  # type: ignore[func-returns-value]


class _BrokenSilero:
    """In the place of a call's Silero model."""

    def __init__(self, model: Any, failure: Failure) -> None:
        self._model, self._failure = model, failure

    def __call__(self, audio: Any, rate: int) -> Any:
        if self._failure == "dies":
            raise RuntimeError("broken by a test: it dies")
        if self._failure == "garbage":
            return np.array([[np.nan]])
        time.sleep(0.02)
        return self._model(audio, rate)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def _voice_detector(failure: Failure, call: Broken) -> Mend:
    processor = call.part(VADProcessor)
    vad = processor._vad
    if failure != "hangs":
        model = vad._model
        vad._model = _BrokenSilero(model, failure)
        return lambda: setattr(vad, "_model", model)
    process, mended = processor._vad_controller.process_frame, asyncio.Event()

    async def keep(frame: Frame) -> None:
        if isinstance(frame, InputAudioRawFrame):
            await mended.wait()
        await process(frame)

    undo = _put(processor._vad_controller, "process_frame", keep)
    return lambda: (mended.set(), undo())[0]  # type: ignore[func-returns-value]


def _smart_turn(failure: Failure, call: Broken) -> Mend:
    shared: Any = call.engines.turns._smart_turn
    if failure == "refuses":

        def refuse(_: bytes) -> None:
            raise RuntimeError("cannot schedule new futures after shutdown")

        return _put(shared, "submit", refuse)
    switch, judge = Switch(), shared._predictor.judge
    off = switch.turn_on(failure)

    def judged(pcm: bytes) -> SmartTurnVerdict:
        switch.pass_blocking(slow=1.0)
        return SmartTurnVerdict(float("nan"), 0.01) if switch.failure == "garbage" else judge(pcm)

    mend = _put(shared._predictor, "judge", judged)
    return lambda: (off(), mend())[0]  # type: ignore[func-returns-value]


def _model(failure: Failure, proxy: StreamProxy) -> Mend:
    proxy.mode = {  # type: ignore[assignment]
        "dies": "status 502",
        "hangs": "freezes",
        "slow": "slow",
        "garbage": "broken json",
        "refuses": "status 429",
    }[failure]
    if failure == "dies":
        proxy.cut()
    return proxy.mend


def _socket(failure: Failure, proxies: list[StreamProxy]) -> Mend:
    for proxy in proxies:
        match failure:
            case "dies":
                proxy.cut()
            case "hangs":
                proxy.mode = "freezes"
            case "slow":
                proxy.mode = "slow"
            case "garbage":
                proxy.send_garbage()
            case "refuses":
                proxy.mode = "resets"
                proxy.cut()
    return lambda: [proxy.mend() for proxy in proxies][-1]


def failing_pieces(voice: Any) -> None:
    """Have a voice ask `SYNTHESIS` before each step of each clause."""
    pieces = voice.pieces

    def steps(text: str, *, lead: float) -> Iterator[Any]:
        if SYNTHESIS.failure == "refuses":
            raise RuntimeError("broken by a test: it refuses")
        for made in pieces(text, lead=lead):
            SYNTHESIS.pass_blocking(slow=0.7)
            if SYNTHESIS.failure == "garbage":
                for piece in made:
                    yield [type(piece)(np.zeros(0, np.int16), piece.words)]
            else:
                yield made

    voice.pieces = lambda text, *, lead=0.0: steps(text, lead=lead)
