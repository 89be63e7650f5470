"""`voice talk` as a process on a real pseudo-terminal, calling a small server; only its sound card is made up."""

import asyncio
import fcntl
import json
import os
import pty
import re
import signal
import sys
import termios
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pipecat.frames.protobufs import frames_pb2
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tests.voice.llm.answer import budgeted_rig as rig
from voice.errors import ConfigurationError
from voice.llm.policy.make import make_policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.swap import TierSwap
from voice.llm.tiers.tier import Tier
from voice.responder.service import ResponderLLMService
from voice.server.rtvi import NO_TIERS
from voice.wire.requests import SwapRequest

ROOT = Path(__file__).resolve().parents[3]
# The card calls back every 10 ms from a thread of its own, as PortAudio does; its microphone hears faint noise.
TALK = """
import random, sys, threading, time
from pipelines import cli
from pipelines.talking import talk
from voice.client.sound.device_line import DeviceLine

class Card:
    latency = (0.01, 0.01)

    def __init__(self, callback):
        self.callback, self.closed = callback, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def start(self):
        self.thread.start()

    def close(self):
        self.closed.set()
        self.thread.join()

    def run(self):
        heard = bytes(random.randrange(4) if n % 2 == 0 else 0 for n in range(320))
        while not self.closed.wait(0.01):
            self.callback(heard, memoryview(bytearray(320)), 160, None, False)

talk.require_sound = lambda *_devices: None
talk.DeviceLine = lambda input, output, canceller: DeviceLine(canceller=canceller, open_stream=Card)
sys.exit(cli.main(sys.argv[1:]))
"""
OFFER = "l large only · f fast only · a adaptive · r race · b fallback · ? now"


class Server:
    """Takes one call: handshake, clock, and swaps as `swap` carries them out (None: there is nothing to swap)."""

    def __init__(self, swap: TierSwap | None) -> None:
        self.swap = swap
        self.socket: ServerConnection | None = None
        self.asked = asyncio.Event()
        """Whether the client has been told what there is to swap."""
        self.left = asyncio.Event()
        self.left_at = 0.0

    async def take(self, socket: ServerConnection) -> None:
        self.socket = socket
        try:
            with suppress(ConnectionClosed):
                async for data in socket:
                    frame = frames_pb2.Frame.FromString(data)
                    if frame.WhichOneof("frame") == "message":
                        await self._answer(json.loads(frame.message.data))
        finally:
            self.left_at = time.monotonic()
            self.left.set()

    async def _answer(self, message: dict[str, Any]) -> None:
        if message["type"] == "client-ready":
            await self.send("bot-ready", {"version": "2.0.0"}, message["id"])
            return
        kind, data = message["data"]["t"], message["data"]["d"]
        if kind == "clock":
            data = data | {"server": time.monotonic()}
        elif kind == "llm":
            try:
                if self.swap is None:
                    raise ConfigurationError(NO_TIERS)
                data = self.swap.carry_out(SwapRequest.from_json(data)).to_json()
            except ConfigurationError as error:
                await self.send("error-response", {"error": str(error)}, message["id"])
                return
        await self.send("server-response", {"t": kind, "d": data}, message["id"])
        if kind == "llm":
            self.asked.set()

    async def send(self, kind: str, data: dict[str, Any], id: str = "") -> None:
        frame = frames_pb2.Frame()
        frame.message.data = json.dumps({"label": "rtvi-ai", "type": kind, "id": id, "data": data})
        assert self.socket is not None
        await self.socket.send(frame.SerializeToString())

    async def report(self, turn: int, tier: str, policy: str, reason: str) -> None:
        async with asyncio.timeout(30):
            await self.asked.wait()
        response = {"response": turn, "policy": policy, "reason": reason, "tier": tier}
        state = {"type": "turn", "turn": turn, "final": True, "marks": {}, "responses": [response]}
        await self.send("server-message", state)


class Terminal:
    """The user's end of a pseudo-terminal: types, and reads what is shown."""

    def __init__(self, master: int) -> None:
        self.master = master
        self.shown = ""
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(master, self._read)

    def _read(self) -> None:
        with suppress(OSError):
            self.shown += os.read(self.master, 65536).decode(errors="replace")
        self._news.set()

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    @property
    def plain(self) -> str:
        """What was shown, without colours."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.shown)

    async def until(self, text: str) -> None:
        """Wait until the text has been shown."""
        try:
            async with asyncio.timeout(40):
                while text not in self.plain:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            pytest.fail(f"{text!r} was not shown; the last was {self.plain[-500:]!r}")


class Talk:
    """A talk under way."""

    def __init__(self, process: asyncio.subprocess.Process, terminal: Terminal, server: Server, slave: int) -> None:
        self.process, self.terminal, self.server, self.slave = process, terminal, server, slave

    @property
    def line_wise(self) -> bool:
        """Whether the terminal waits for Enter and echoes."""
        flags = termios.tcgetattr(self.slave)[3]
        return bool(flags & termios.ICANON and flags & termios.ECHO)

    async def ended(self) -> int:
        async with asyncio.timeout(30):
            return await self.process.wait()


@pytest.fixture
def talking(tmp_path: Path) -> Callable[..., Any]:
    """Starts `voice talk` against a server with these tiers."""

    @asynccontextmanager
    async def start(*tiers: str, policy: str = "adaptive", stdin_is_terminal: bool = True) -> AsyncIterator[Talk]:
        server = Server(_swap(*tiers, policy=policy) if tiers else None)
        master, slave = pty.openpty()

        def own_terminal() -> None:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        async with serve(server.take, "127.0.0.1", 0, compression=None) as listening:
            port = listening.sockets[0].getsockname()[1]
            terminal = Terminal(master)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", TALK, "talk", "--url", f"ws://127.0.0.1:{port}/ws"),
                *("--out", str(tmp_path / "run")),
                cwd=ROOT,
                env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
                stdin=slave if stdin_is_terminal else asyncio.subprocess.DEVNULL,
                stdout=slave,
                stderr=slave,
                preexec_fn=own_terminal,
            )
            try:
                yield Talk(process, terminal, server, slave)
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
                asyncio.get_running_loop().remove_reader(master)
                os.close(master)
                os.close(slave)

    return start


def _swap(*tiers: str, policy: str) -> TierSwap:
    large, fast = (role if role in tiers else None for role in ("large", "fast"))
    chosen = make_policy(policy, large=large, fast=fast, bridge=False)
    service = rig.budgeted(
        [Tier(name, ResponderLLMService()) for name in tiers], chosen, book=TierStatistics(dict.fromkeys(tiers, 0.3))
    )
    return TierSwap(service, tiers=tiers, large=large, fast=fast, bridge=False)


async def test_keys_choose_a_model_during_the_call_and_the_transcript_shows_which_one_answered(talking) -> None:
    async with talking("large", "fast") as talk:
        await talk.terminal.until("Ctrl-C hangs up")
        await talk.terminal.until(OFFER)
        assert not talk.line_wise
        await talk.server.report(0, "large", "adaptive", "large first")
        await talk.terminal.until("llm  large answered (adaptive: large first)")
        talk.terminal.type("f")
        await talk.terminal.until("keys  from your next turn on: fast only")
        assert talk.server.swap.state.tier == "fast"
        await talk.server.report(1, "fast", "single", "asked for")
        await talk.terminal.until("llm  fast answered (single: asked for)")
        talk.terminal.type("r?")
        await talk.terminal.until("keys  from your next turn on: race")
        await talk.terminal.until("keys  now in use: race")
        pressed = time.monotonic()
        talk.terminal.type("\x03")
        assert await talk.ended() == 0
        assert talk.server.left_at - pressed < 1.0, "Ctrl-C hangs up within a second"
        assert talk.line_wise


async def test_a_key_marks_a_bad_turn_and_takes_the_mark_back(talking) -> None:
    async with talking("large", "fast") as talk:
        await talk.terminal.until("m mute · i interrupt · x mark a bad turn")
        talk.terminal.type("x")
        await talk.terminal.until("bad  there is no turn to mark yet")
        await talk.server.send("server-message", {"type": "turn", "turn": 0, "marks": {}, "heard": "what time is it"})
        await talk.server.report(1, "large", "single", "the only tier")
        await talk.terminal.until("llm  large answered")
        talk.terminal.type("x")
        await talk.terminal.until("bad  marked as bad: “what time is it”")
        talk.terminal.type("x")
        await talk.terminal.until("bad  no longer marked as bad")
        talk.terminal.type("\x03")
        assert await talk.ended() == 0


async def test_it_is_said_once_that_the_agent_hears_itself(talking) -> None:
    async with talking("large", policy="single") as talk:
        await talk.terminal.until("Echo cancellation is on")
        for turn in range(2):
            state = {"type": "turn", "turn": turn, "final": True, "marks": {}, "ended_by": "own_voice"}
            await talk.server.send("server-message", state)
        await talk.server.report(2, "large", "single", "the only tier")
        await talk.terminal.until("echo  The agent still hears itself")
        talk.terminal.type("\x03")
        assert await talk.ended() == 0
        assert talk.terminal.plain.count("still hears itself") == 1


async def test_with_one_tier_a_key_explains_in_one_sentence_that_there_is_no_other(talking) -> None:
    async with talking("large", policy="single") as talk:
        await talk.terminal.until("Ctrl-C hangs up")
        await talk.server.report(0, "large", "single", "the only tier")
        talk.terminal.type("f")
        await talk.terminal.until('keys  There is no tier "fast" in this call; there is large.')
        assert OFFER not in talk.terminal.shown
        assert "answered" not in talk.terminal.shown
        talk.terminal.type("\x03")
        assert await talk.ended() == 0


async def test_without_a_language_model_the_keys_say_so(talking) -> None:
    async with talking() as talk:
        await talk.terminal.until("Ctrl-C hangs up")
        talk.terminal.type("r")
        await talk.terminal.until("keys  This pipeline answers without a language model")
        assert talk.terminal.shown.count("This pipeline answers") == 1
        talk.terminal.type("\x03")
        assert await talk.ended() == 0


async def test_sigterm_hangs_up_and_leaves_the_terminal_as_it_was(talking) -> None:
    async with talking("large", "fast") as talk:
        await talk.terminal.until(OFFER)
        talk.process.send_signal(signal.SIGTERM)
        assert await talk.ended() == 0
        assert talk.server.left.is_set()
        assert talk.line_wise


async def test_a_server_that_ends_the_call_leaves_the_terminal_as_it_was(talking) -> None:
    async with talking("large", "fast") as talk:
        await talk.terminal.until(OFFER)
        await talk.server.socket.close(1011, "no recogniser")
        assert await talk.ended() == 4
        await talk.terminal.until("no recogniser")
        assert talk.line_wise


async def test_without_a_terminal_no_keys_are_read_and_nothing_fails(talking) -> None:
    async with talking("large", "fast", stdin_is_terminal=False) as talk:
        await talk.terminal.until("Ctrl-C hangs up")
        await talk.server.report(0, "fast", "race", "both at once")
        await talk.terminal.until("fast answered (race: both at once)")
        assert OFFER not in talk.terminal.shown
        assert talk.line_wise
        talk.process.send_signal(signal.SIGINT)
        assert await talk.ended() == 0
