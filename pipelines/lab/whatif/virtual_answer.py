"""One answer on a virtual clock: the live `Answer`, over tiers that stream by the simulator's timetables.

The clock of the event loop jumps to the next timer instead of waiting for it.
"""

import asyncio
import selectors
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pipecat.frames.frames import Frame
from pipecat.processors.aggregators.llm_context import LLMContext

from latency.budget import Deadline
from latency.record.requests import AnswerRecord, PhraseKind, RequestRecord, Tokens
from pipelines.lab.simulator.conversation import tokens
from pipelines.lab.simulator.timetable import Action, Failure, ResetConnection, SendText
from voice.frames import AnswerTextFrame, RequestsFrame
from voice.llm.answer.answer import Answer
from voice.llm.answer.clauses import ClauseSplitter
from voice.llm.answer.hold_phrases import HoldPhrases
from voice.llm.answer.llm_request import LLMRequest


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time jumps from timer to timer."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        """The virtual clock, seconds."""
        return self.now


class _Jumping(selectors.SelectSelector):
    """Waits for nothing; its loop watches no socket or thread."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("an answer on the virtual clock waits for an event that never comes")
        self._loop.now += max(0.0, timeout)
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A piece of an answer that is spoken as one."""

    text: str
    until: int
    """The number of tokens of the answer after which it is known to be complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """An answer's text, counted in the simulator's tokens."""

    text: str
    tokens: int
    clauses: tuple[Clause, ...]
    """In order; the last one is whole when the stream ends."""

    @property
    def first_clause(self) -> int:
        """Tokens that must arrive before the first clause can be spoken."""
        return self.clauses[0].until

    def after(self, heard: int) -> "Wording":
        """The rest after the first `heard` clauses, as the answer to a request that continues them."""
        return wording(" ".join(clause.text for clause in self.clauses[heard:]), begun=True)


@lru_cache(maxsize=4096)
def wording(text: str, *, begun: bool = False) -> Wording:
    """The wording of a text; `begun` if it continues an answer, so that it has no first clause."""
    splitter, clauses = ClauseSplitter(begun=begun), list[Clause]()
    arrived = tokens(text)
    for count, token in enumerate(arrived, 1):
        clauses += [Clause(text=piece, until=count) for piece in splitter.feed(token)]
    if rest := splitter.flush():
        clauses.append(Clause(text=rest, until=len(arrived)))
    return Wording(text=text, tokens=len(arrived), clauses=tuple(clauses))


class Stream:
    """A simulated server's stream for one request.

    Args:
        wording: the answer.
        timetable: the simulator's actions, with times after the request.
        prompt_tokens: tokens of its prompt.
    """

    def __init__(self, wording: Wording, timetable: Iterator[Action], *, prompt_tokens: int) -> None:
        self._wording, self._timetable, self._prompt_tokens = wording, timetable, prompt_tokens
        self._sent: list[tuple[float, int]] = []
        """Instants, each with the number of tokens sent by then."""

    async def send(self, request: LLMRequest, changed: Callable[[], None]) -> None:
        """Stream into a request. Text waits for the end of its clause, before which it changes nothing."""
        clock = asyncio.get_running_loop().time
        at, count, whole, text = request.state.request, 0, 0, ""
        for action in self._timetable:
            at = request.state.request + action.at
            if isinstance(action, SendText):
                text, count = text + action.text, count + action.tokens
                self._sent.append((at, count))
                before, whole = whole, sum(clause.until <= count for clause in self._wording.clauses)
                if whole == before and len(self._sent) > 1:
                    continue
            await asyncio.sleep(at - clock())
            match action:
                case SendText():
                    if request.add(text, clock()):
                        changed()
                    text = ""
                case Failure() | ResetConnection():
                    why = f"HTTP {action.status}" if isinstance(action, Failure) else "the connection was reset"
                    request.fail(why, clock())
                    changed()
                    return
                case _:
                    # A server that hangs, or sends only signs of life, sends no more text.
                    return
        await asyncio.sleep(at - clock())
        request.add(text, clock())
        request.complete(clock())
        changed()

    def billed(self, record: RequestRecord) -> RequestRecord:
        """The request's record with the tokens that the server had sent when it ended."""
        refused = record.outcome == "failed" and record.first_token is None
        end = float("inf") if record.end is None else record.end
        position = bisect_right(self._sent, end, key=lambda sent: sent[0])
        completion = self._sent[position - 1][1] if position else 0
        prompt = 0 if refused else self._prompt_tokens
        return replace(record, tokens=Tokens(prompt=prompt, completion=completion, estimated=False))


class SimulatedTier:
    """Replaces a `voice.llm.tiers.tier.Tier` in an answer.

    Args:
        stream: makes the stream of a request.
        streams: the list to which each request's stream is appended.
    """

    usable = True
    instruction_tokens = 0
    price = None

    def __init__(self, stream: Callable[[LLMRequest], Stream], streams: list[Stream]) -> None:
        self._stream, self._streams = stream, streams

    def ask(self, request: LLMRequest, _context: LLMContext, changed: Callable[[], None]) -> asyncio.Task[None]:
        """Make a request."""
        stream = self._stream(request)
        self._streams.append(stream)
        return asyncio.get_running_loop().create_task(stream.send(request, changed))


class SilentSpeaker:
    """A `voice.llm.answer.speaker.Speaker` without audio; it records when the first clause came."""

    def __init__(self, phrases: HoldPhrases, clock: Callable[[], float]) -> None:
        self._phrases, self._clock = phrases, clock
        self.handed: float | None = None
        """When the first clause went to synthesis; before the commit it waits there."""
        self.latest: RequestsFrame | None = None
        """The latest report."""

    async def begin(self) -> None:
        """Start the answer."""

    async def words_stand(self) -> bool:
        """Return True, because nothing checks the words."""
        return True

    async def speak(self, piece: Frame) -> None:
        """Note when the first clause comes."""
        if self.handed is None and isinstance(piece, AnswerTextFrame) and piece.clauses:
            self.handed = self._clock()

    def known_opening(self) -> str:
        """The next opening that is always true."""
        return self._phrases.phrase("opening")

    async def say(self, kind: PhraseKind, text: str | None = None) -> str:
        """Say a phrase."""
        return self._phrases.phrase(kind) if text is None else text

    async def apologise(self, reason: str) -> None:
        """Apologise."""

    async def call(self, calls: Any, answer: Answer) -> None:
        """Run no tools: none are offered."""

    async def report(self, frame: RequestsFrame) -> None:
        """Keep the report."""
        self.latest = frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The instants of an answer's request and deadlines, on the virtual clock, seconds."""

    asked: float
    commit: float
    deadline: Deadline
    """The deadline that holds from the commit on."""
    dropped: float | None = None
    """When a speculative answer is discarded, before any commit; None for one that is used."""
    hinted: float | None = None
    """When `ahead` becomes known."""
    ahead: Deadline | None = None
    """The deadline that holds until the commit; None if it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualAnswer:
    """The outcome of an answer."""

    record: AnswerRecord
    requests: tuple[RequestRecord, ...]
    handed: float | None
    """When its first clause went to synthesis."""


def run_answer(
    loop: VirtualLoop, answer: Answer, times: Times, *, speaker: SilentSpeaker, streams: list[Stream]
) -> VirtualAnswer:
    """Produce an answer, from its first request until it is spoken, given up or discarded."""
    loop.now = times.asked
    loop.run_until_complete(_produce(answer, times))
    report = speaker.latest
    assert report is not None
    requests = tuple(stream.billed(record) for stream, record in zip(streams, report.attempts, strict=True))
    return VirtualAnswer(record=report.answer, requests=requests, handed=speaker.handed)


async def _produce(answer: Answer, times: Times) -> None:
    loop = asyncio.get_running_loop()
    if times.ahead is not None and times.hinted is not None:
        if times.hinted > loop.time():
            loop.call_at(times.hinted, answer.expect, times.ahead)
        else:
            answer.expect(times.ahead)
    if times.dropped is None and times.commit <= loop.time():
        answer.commit(times.commit, times.deadline)
    running = loop.create_task(answer.run())
    if times.dropped is not None:
        await asyncio.wait([running], timeout=times.dropped - loop.time())
        if not running.done():
            answer.state.withdraw()
            running.cancel()
            await asyncio.wait([running])
        return
    if times.commit > loop.time():
        await asyncio.sleep(times.commit - loop.time())
        answer.commit(times.commit, times.deadline)
    await running
    # An answer that was complete before the commit has not reported it.
    await answer.report()
