"""One call over a WebSocket: sends the user's audio, plays the bot's, and collects the server's messages."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

from voice.client.call.call_result import CallResult, ReportedTurn
from voice.client.call.clock import PINGS, ClockExchange, aligned
from voice.client.call.connection import check_url, close_reason, connect_call
from voice.client.call.line import Line
from voice.client.call.listener import CallListener, LiveEvents
from voice.client.playback.playout import Playout
from voice.client.playback.recorder import Recorder
from voice.errors import CallRefused, ComponentError, WireError
from voice.wire import framing
from voice.wire.endpoint import NATIVE
from voice.wire.framing import AudioPacket, Incoming, Interruption
from voice.wire.messages import BotReady, ClientMessage, ClientReady, DuckMessage, Refusal, RequestAnswer, TurnMessage
from voice.wire.requests import ClockPing, ClockPong, Custom, SwapRequest

READY_WITHIN = 5.0
"""Seconds the server may take from the handshake's first message to `bot-ready`."""

PING_GAP, PING_EVERY = 0.05, 5.0
"""Seconds between the pings when the call begins, and between those that follow."""


class CallSession:
    """One call; `run` makes it, and `result` returns what there is of it at any time.

    Args:
        url: `ws://host:port/ws`.
        line: the user's end.
        listener: called back while the call is under way.
        record: keep the audio of both sides for `CallResult.stereo`.
        sample_rate: the rate that the bot's audio should have: hertz, or `native` for the voice's own rate.
        clock: seconds, monotonic.

    Raises:
        ConfigurationError: the URL is not a WebSocket address.
    """

    def __init__(
        self,
        url: str,
        line: Line,
        *,
        listener: CallListener | None = None,
        record: bool = True,
        sample_rate: int | str = NATIVE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_url(url)
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
        self._asked: dict[str, ClientMessage] = {}
        self._outbox: asyncio.Queue[bytes] = asyncio.Queue()
        self._closed: str | None = None

    async def run(self) -> CallResult:
        """Make the call until the line hangs up or the server closes it; the recording is kept either way.

        Cancelling `run` ends the call; `result` then has what was recorded.

        Raises:
            CallRefused: the server takes no more calls now.
            ComponentError: the server cannot be reached, is not ready in time, or the line's device fails.
        """
        socket = await connect_call(self.url, sample_rate=self._sample_rate)
        try:
            early = await self._handshake(socket)
            self._begin(early)
            await self._converse(socket)
        finally:
            self._line.close()
            await socket.close()
        return self.result()

    def send(self, request: SwapRequest | Custom) -> ClientMessage:
        """Ask the server for something; the listener is called with its answer or refusal, if there is one.

        Returns at once. What is sent before the bot is ready waits until it is; after the call nothing is sent.

        Raises:
            TypeError: the request's data is not JSON.
        """
        # The ids of pings are plain numbers.
        message = ClientMessage(f"message-{len(self._asked)}", request)
        self._outbox.put_nowait(framing.encode(message))
        self._asked[message.id] = message
        return message

    def heard_after(self, since: float, earliest: float) -> float | None:
        """Seconds from one instant to the first sound of the bot that begins after another one.

        None while no such sound was played, or the clocks are not aligned.

        Args:
            since: seconds on the server's clock.
            earliest: the same.
        """
        alignment = aligned(self._exchanges)
        if alignment is None:
            return None
        origin = self._line.origin
        begun = (one.start + origin for one in self._playout.utterances)
        first = next((at for at in begun if at >= alignment.to_client(earliest)), None)
        return None if first is None else first - alignment.to_client(since)

    def result(self) -> CallResult:
        """What has been recorded and reported so far."""
        self._playout.advance(self._playout.start + self._recorder.seconds)
        return CallResult(
            url=self.url,
            seconds=self._recorder.seconds,
            placed=tuple(self._line.placed),
            turns=tuple(self._turns[number] for number in sorted(self._turns)),
            alignment=aligned(self._exchanges),
            pacing=self._line.pacing,
            rate=self._playout.rate,
            jitter=self._playout.jitter,
            utterances=tuple(self._playout.utterances),
            underruns=tuple(self._playout.underruns),
            flushes=tuple(self._playout.flushes),
            ducked=tuple(self._playout.ducked),
            closed=self._closed,
            recorder=self._recorder,
        )

    async def _handshake(self, socket: ClientConnection) -> list[Incoming]:
        """Announce the client and wait until the bot is ready; returns what else arrived meanwhile."""
        early: list[Incoming] = []
        try:
            await socket.send(framing.encode(ClientReady()))
            async with asyncio.timeout(READY_WITHIN):
                while True:
                    incoming = framing.decode(await socket.recv())
                    if isinstance(incoming, BotReady):
                        return early
                    early.append(incoming)
        except TimeoutError:
            raise ComponentError(
                f"{self.url} answered, but its bot was not ready within {READY_WITHIN:g} s; see the server's log."
            ) from None
        except ConnectionClosed:
            if socket.close_code == CloseCode.TRY_AGAIN_LATER:
                raise CallRefused(self.url, socket.close_reason or "it takes no more calls now") from None
            raise ComponentError(
                f"{self.url} ended the call before its bot was ready: {close_reason(socket)}."
            ) from None

    def _begin(self, early: list[Incoming]) -> None:
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
                # The sender noticed the end of the connection first; messages from before it are still to be read.
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
                    await socket.send(framing.encode_audio(frame))
                except ConnectionClosed:
                    return

    async def _receive(self, socket: ClientConnection) -> None:
        try:
            while True:
                data = await socket.recv()
                self._handle(framing.decode(data), self._clock())
        except ConnectionClosed:
            self._closed = close_reason(socket)
        except WireError as error:
            self._closed = str(error)

    async def _ping(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            for number in itertools.count():
                now = self._clock()
                self._pings[str(number)] = now
                await socket.send(framing.encode(ClientMessage(str(number), ClockPing(now))))
                await asyncio.sleep(PING_GAP if number < PINGS else PING_EVERY)

    async def _post(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.send(await self._outbox.get())

    def _handle(self, incoming: Incoming, now: float) -> None:
        match incoming:
            case AudioPacket():
                self._play(incoming, now)
            case Interruption():
                self._playout.flush(now)
            case DuckMessage():
                self._playout.duck(now, incoming.gain)
            case TurnMessage():
                self._note_turn(incoming, now)
            case RequestAnswer():
                self._note_answer(incoming, now)
            case Refusal() if asked := self._asked.get(incoming.id):
                self._listener.on_refusal(asked, incoming.reason)
            case _:
                pass
        self._events.handle(incoming)

    def _play(self, packet: AudioPacket, now: float) -> None:
        try:
            self._playout.push(now, packet.pcm, packet.rate)
        except ValueError as error:
            raise WireError(f"The call cannot go on: {error}.") from error

    def _note_answer(self, answer: RequestAnswer, now: float) -> None:
        if isinstance(answer.reply, ClockPong):
            sent = self._pings.pop(answer.id, None)
            if sent is not None:
                self._exchanges.append(ClockExchange(sent=sent, received=now, server=answer.reply.server))
        if asked := self._asked.get(answer.id):
            self._listener.on_answer(asked, answer.reply)

    def _note_turn(self, message: TurnMessage, now: float) -> None:
        origin = self._line.origin
        turn = message.report.turn
        known = self._turns.get(turn.turn)
        received = known.received if known else now - origin
        self._line.wait_for_answer(turn.answer_pending)
        self._turns[turn.turn] = ReportedTurn(report=message.report, received=received, origin=origin)
        self._listener.on_turn(turn)
