"""One call over a WebSocket: sends the user's audio, plays the bot's, and collects the server's messages."""

import asyncio
import contextlib
import itertools
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from latency.record.session import ClockAlignment
from voice.client.call.agent_call import AgentCall, CallOver
from voice.client.call.call_result import CallResult, Recorder, ReportedTurn
from voice.client.call.connection import LOST, PipecatCall
from voice.client.call.line import Line
from voice.client.call.listener import CallListener, LiveEvents
from voice.client.playback.playout import Playout
from voice.errors import WireError
from voice.wire import framing
from voice.wire.endpoint import NATIVE
from voice.wire.framing import AudioPacket, Incoming, Interruption
from voice.wire.messages import ClientMessage, DuckMessage, Refusal, RequestAnswer, ServerFailure, TurnMessage
from voice.wire.requests import ClockPing, ClockPong, Custom, InterruptRequest, SwapRequest

PINGS = 8
"""Clock exchanges when the call begins: with fewer, a single delayed one could decide the offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockExchange:
    """One ping and its answer; instants are seconds on the client's clock, except `server`."""

    sent: float
    received: float
    server: float
    """The server's clock when it answered."""

    def __post_init__(self) -> None:
        if self.received < self.sent:
            raise ValueError("a ping was answered before it was sent")

    @property
    def rtt(self) -> float:
        """Round trip, seconds."""
        return self.received - self.sent

    @property
    def offset(self) -> float:
        """Server's clock minus client's in seconds, assuming that both ways took equally long."""
        return self.server - (self.sent + self.received) / 2


def aligned(exchanges: Iterable[ClockExchange]) -> ClockAlignment | None:
    """The best alignment that the exchanges allow; None when there are none."""
    known = list(exchanges)
    if not known:
        return None
    best = min(known, key=lambda exchange: exchange.rtt)
    return ClockAlignment(offset=best.offset, rtt=best.rtt, pings=len(known))


RATES = range(4000, 192001)
"""Hertz of audio that can be played."""
PING_GAP, PING_EVERY = 0.05, 5.0
"""Seconds between pings at the beginning of the call, and between later ones."""


class CallSession:
    """One call; `run` makes it, and `result` returns its results so far at any time.

    Args:
        url: `ws://host:port/ws`.
        line: the user's end.
        listener: called back while the call is under way.
        agent: the call to an agent whose own reports are not wanted; None for a pipecat server at `url`.
        record: keep the audio of both sides for `CallResult.stereo`.
        sample_rate: the requested rate of the bot's audio: hertz, or `native` for the voice's own rate.
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
        agent: AgentCall | None = None,
        record: bool = True,
        sample_rate: int | str = NATIVE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url = url
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
        self._silence_asked: list[float] = []
        self._failures: list[tuple[float, str]] = []
        self._outages: list[tuple[float, float]] = []
        self._is_over = False
        self._pipecat: PipecatCall | None = None
        if agent is None:
            agent = self._pipecat = PipecatCall(
                url,
                sample_rate=sample_rate,
                lost=self._connection_lost,
                resumed=self._connected_again,
                clock=clock,
            )
        self._agent = agent

    async def run(self) -> CallResult:
        """Make the call until the line hangs up or the server closes it; the recording is kept either way.

        Cancelling `run` ends the call; `result` then has the recording so far.

        Raises:
            CallRefused: the server takes no more calls now.
            ComponentError: the server cannot be reached, is not ready in time, or the line's device fails.
        """
        try:
            await self._agent.open()
            self._begin()
            await self._converse()
        finally:
            self._line.close()
            await self._agent.close()
        return self.result()

    def send(self, request: SwapRequest | InterruptRequest | Custom) -> ClientMessage:
        """Send a request to the server; the listener is called with an answer or refusal, if one comes.

        Returns at once. Requests are queued until the bot is ready; after the call nothing is sent.

        Raises:
            TypeError: the request's data is not JSON.
        """
        # The ids of pings are plain numbers.
        message = ClientMessage(f"message-{len(self._asked)}", request)
        self._outbox.put_nowait(framing.encode(message))
        self._asked[message.id] = message
        if isinstance(request, InterruptRequest):
            self._silence_asked.append(self.seconds)
        return message

    @property
    def seconds(self) -> float:
        """Length of the recording so far."""
        return self._recorder.seconds

    def cut(self) -> None:
        """Break the connection without telling the server, as a network does; the call goes on with another one."""
        if self._pipecat is not None:
            self._pipecat.cut()

    def heard_after(self, since: float, earliest: float) -> float | None:
        """Seconds from `since` to the first sound of the bot after `earliest`.

        None before such a sound, or if the clocks are not aligned.

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
        """The recording and the reports so far."""
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
            outages=tuple(self._outages),
            away=tuple(self._line.away),
            silence_asked=tuple(self._silence_asked),
            failures=tuple(self._failures),
            closed=self._closed,
            recorder=self._recorder,
        )

    def _begin(self) -> None:
        self._playout = self._line.open(keep=self._record)
        self._recorder = Recorder(self._playout, keep=self._record)
        self._listener.on_ready()

    async def _converse(self) -> None:
        sender, receiver = asyncio.create_task(self._send()), asyncio.create_task(self._receive())
        tasks = [sender, receiver]
        if self._pipecat is not None:
            tasks += [asyncio.create_task(self._ping(self._pipecat)), asyncio.create_task(self._post(self._pipecat))]
        try:
            await asyncio.wait((sender, receiver), return_when=asyncio.FIRST_COMPLETED)
            if self._is_over:
                # The sender noticed the end of the connection first; messages from before it are still to be read.
                await asyncio.wait((receiver,), timeout=1)
            elif isinstance(self._agent, PipecatCall) and self._agent.away:
                # The line hung up before the server could be reached again.
                self._closed = LOST
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in tasks:
            if not task.cancelled() and (error := task.exception()):
                raise error

    async def _send(self) -> None:
        placed = 0
        async with contextlib.aclosing(self._line.frames()) as frames:
            async for frame in frames:
                self._recorder.inject(frame)
                for turn in self._line.placed[placed:]:
                    self._listener.on_placed(turn)
                placed = len(self._line.placed)
                try:
                    await self._agent.send_audio(frame)
                except CallOver:
                    self._is_over = True
                    return

    async def _receive(self) -> None:
        try:
            while True:
                self._handle(await self._agent.receive(), self._clock())
        except CallOver as over:
            self._closed = str(over)
        except WireError as error:
            self._closed = str(error)

    async def _ping(self, connection: PipecatCall) -> None:
        with contextlib.suppress(CallOver):
            for number in itertools.count():
                now = self._clock()
                self._pings[str(number)] = now
                await connection.send(framing.encode(ClientMessage(str(number), ClockPing(now))))
                await asyncio.sleep(PING_GAP if number < PINGS else PING_EVERY)
                connection.check(2 * PING_EVERY)

    async def _post(self, connection: PipecatCall) -> None:
        with contextlib.suppress(CallOver):
            while True:
                await connection.send(await self._outbox.get())

    def _connection_lost(self) -> None:
        self._outages.append((self._clock() - self._line.origin, math.inf))
        self._listener.on_lost()

    def _connected_again(self) -> None:
        start, now = self._outages[-1][0], self._clock() - self._line.origin
        self._outages[-1] = (start, now)
        self._listener.on_resumed(now - start)

    def _handle(self, incoming: Incoming, now: float) -> None:
        match incoming:
            case AudioPacket():
                self._play(incoming, now)
            case Interruption():
                self._playout.flush(now)
            case DuckMessage():
                self._playout.duck(now, incoming.gain)
            case TurnMessage() if self._pipecat is not None:
                self._note_turn(incoming, now)
            case ServerFailure() if self._pipecat is None:
                self._failures.append((self.seconds, incoming.reason))
            case RequestAnswer():
                self._note_answer(incoming, now)
            case Refusal() if asked := self._asked.get(incoming.id):
                self._listener.on_refusal(asked, incoming.reason)
            case _:
                pass
        self._events.handle(incoming)

    def _play(self, packet: AudioPacket, now: float) -> None:
        if packet.rate not in RATES:
            raise WireError(f"The call cannot go on: the agent sends audio of {packet.rate} Hz.")
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
