"""One call over a WebSocket: user audio out, bot audio in, and everything that was said about it."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from voice.client.call.call_result import CallResult, ReportedTurn
from voice.client.call.clock import PINGS, ClockAlignment, ClockExchange
from voice.client.call.dialling import check_address, dial, farewell
from voice.client.call.line import Line
from voice.client.call.listener import CallListener, LiveEvents
from voice.client.playback.playout import Playout
from voice.client.playback.recorder import Recorder
from voice.errors import ComponentError
from voice.wire import client_wire as wire

READY_WITHIN = 5.0
"""Seconds the server may take from the handshake's first message to `bot-ready`."""

PING_GAP, PING_EVERY = 0.05, 5.0
"""Seconds between the pings at connect, and after them."""


class CallSession:
    """One call; `run` makes it, `result` is what there is of it at any time.

    Args:
        url: `ws://host:port/ws`.
        line: the user's end.
        listener: told what happens while it happens.
        record: keep the audio of both sides for `CallResult.stereo`.
        sample_rate: what the bot's audio should come at: hertz, or `native` for the voice's own rate.
        clock: seconds, monotonic.

    Raises:
        ConfigurationError: the address is no WebSocket address.
    """

    def __init__(
        self,
        url: str,
        line: Line,
        *,
        listener: CallListener | None = None,
        record: bool = True,
        sample_rate: int | str = "native",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_address(url)
        self.url = url
        self._sample_rate = sample_rate
        self._line = line
        self._listener = listener or CallListener()
        self._events = LiveEvents(self._listener)
        self._record = record
        self._clock = clock
        self._playout = Playout(0.0, keep=False)
        self._recorder = Recorder(self._playout, keep=False)
        self._pings: dict[str, float] = {}
        self._exchanges: list[ClockExchange] = []
        self._turns: dict[int, ReportedTurn] = {}
        self._asked: dict[str, wire.ClientMessage] = {}
        self._outbox: asyncio.Queue[bytes] = asyncio.Queue()
        self._closed: str | None = None

    async def run(self) -> CallResult:
        """Make the call until the line hangs up or the server ends it; what was recorded is kept either way.

        Cancelling it ends the call; `result` then has what was recorded.

        Raises:
            ComponentError: the server cannot be reached, is not ready in time, or the line's device fails.
        """
        socket = await dial(self.url, sample_rate=self._sample_rate)
        try:
            early = await self._handshake(socket)
            self._begin(early)
            await self._converse(socket)
        finally:
            self._line.close()
            await socket.close()
        return self.result()

    def send_message(self, type: str, data: Any) -> wire.ClientMessage:
        """Tell the server something, or ask it; the listener is told what it answers, if it does.

        Returns at once. What is sent before the bot is ready waits until it is; after the call nothing is sent.

        Args:
            type: what it is about.
            data: any JSON.

        Raises:
            TypeError: `data` is no JSON.
        """
        # Pings have plain numbers.
        message = wire.ClientMessage(f"message-{len(self._asked)}", type, data)
        self._outbox.put_nowait(wire.client_message(message))
        self._asked[message.id] = message
        return message

    def result(self) -> CallResult:
        """What has been recorded and reported so far."""
        self._playout.advance(self._playout.start + self._recorder.seconds)
        return CallResult(
            url=self.url,
            seconds=self._recorder.seconds,
            placed=tuple(self._line.placed),
            turns=tuple(self._turns[number] for number in sorted(self._turns)),
            alignment=ClockAlignment.of(self._exchanges),
            pacing=self._line.pacing,
            rate=self._playout.rate,
            jitter=self._playout.jitter,
            utterances=tuple(self._playout.utterances),
            underruns=tuple(self._playout.underruns),
            flushes=tuple(self._playout.flushes),
            closed=self._closed,
            recorder=self._recorder,
        )

    async def _handshake(self, socket: ClientConnection) -> list[wire.Incoming]:
        """Say that the client is ready and wait for the bot; what else arrived meanwhile."""
        early: list[wire.Incoming] = []
        try:
            await socket.send(wire.client_ready())
            async with asyncio.timeout(READY_WITHIN):
                while True:
                    incoming = wire.decode(await socket.recv())
                    if isinstance(incoming, wire.Message) and incoming.type == "bot-ready":
                        return early
                    early.append(incoming)
        except TimeoutError:
            raise ComponentError(
                f"{self.url} answered, but its bot was not ready within {READY_WITHIN:g} s; see the server's log."
            ) from None
        except ConnectionClosed:
            raise ComponentError(f"{self.url} ended the call before its bot was ready: {farewell(socket)}.") from None

    def _begin(self, early: list[wire.Incoming]) -> None:
        self._playout = self._line.open(keep=self._record)
        self._recorder = Recorder(self._playout, keep=self._record)
        self._listener.on_ready()
        now = self._clock()
        for incoming in early:
            self._handle(incoming, now)

    async def _converse(self, socket: ClientConnection) -> None:
        sender = asyncio.create_task(self._send(socket))
        receiver = asyncio.create_task(self._receive(socket))
        pinger = asyncio.create_task(self._ping(socket))
        poster = asyncio.create_task(self._post(socket))
        tasks = (sender, receiver, pinger, poster)
        try:
            await asyncio.wait((sender, receiver), return_when=asyncio.FIRST_COMPLETED)
            if socket.close_code is not None:
                # The sender saw the connection end first; messages that came before are still to be read.
                await asyncio.wait((receiver,), timeout=1)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in tasks:
            if not task.cancelled() and (error := task.exception()):
                raise error

    async def _send(self, socket: ClientConnection) -> None:
        placed = 0
        async with contextlib.aclosing(self._line.frames()) as frames:
            async for frame in frames:
                self._recorder.inject(frame)
                for turn in self._line.placed[placed:]:
                    self._listener.on_placed(turn)
                placed = len(self._line.placed)
                try:
                    await socket.send(wire.encode_audio(frame))
                except ConnectionClosed:
                    return

    async def _receive(self, socket: ClientConnection) -> None:
        try:
            while True:
                data = await socket.recv()
                self._handle(wire.decode(data), self._clock())
        except ConnectionClosed:
            self._closed = farewell(socket)
        except wire.WireError as error:
            self._closed = str(error)

    async def _ping(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            for number in itertools.count():
                now = self._clock()
                self._pings[str(number)] = now
                await socket.send(wire.clock_ping(number, now))
                await asyncio.sleep(PING_GAP if number < PINGS else PING_EVERY)

    async def _post(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.send(await self._outbox.get())

    def _handle(self, incoming: wire.Incoming, now: float) -> None:
        if isinstance(incoming, wire.AudioPacket):
            self._play(incoming, now)
        elif isinstance(incoming, wire.Interruption):
            self._playout.flush(now)
        elif isinstance(incoming, wire.Message):
            self._note_pong(incoming, now)
            self._note_turn(incoming, now)
            self._note_answer(incoming)
        self._events.handle(incoming)

    def _play(self, packet: wire.AudioPacket, now: float) -> None:
        try:
            self._playout.push(now, packet.pcm, packet.rate)
        except ValueError as error:
            raise wire.WireError(f"The call cannot go on: {error}.") from error

    def _note_pong(self, message: wire.Message, now: float) -> None:
        server = wire.clock_pong(message)
        sent = self._pings.pop(message.id, None)
        if server is not None and sent is not None:
            self._exchanges.append(ClockExchange(sent=sent, received=now, server=server))

    def _note_answer(self, message: wire.Message) -> None:
        answer = wire.answer(message)
        asked = self._asked.get(answer.id) if answer else None
        if answer is None or asked is None:
            return
        if answer.refusal is None:
            self._listener.on_answer(asked, answer.data)
        else:
            self._listener.on_refusal(asked, answer.refusal)

    def _note_turn(self, message: wire.Message, now: float) -> None:
        report = message.data
        if message.type != "server-message" or report.get("type") != "turn":
            return
        number = report.get("turn")
        if not isinstance(number, int) or not isinstance(report.get("marks"), dict):
            raise wire.WireError("The server reported a turn without its number or marks.")
        origin = self._line.origin
        known = self._turns.get(number)
        received = known.received if known else now - origin
        self._line.wait_for_answer(bool(report.get("answer_pending")))
        self._turns[number] = ReportedTurn(number=number, report=report, received=received, origin=origin)
        self._listener.on_turn(report)
