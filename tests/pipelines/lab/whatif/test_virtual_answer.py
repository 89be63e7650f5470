"""A virtual answer and a live one, of the same plan and the same requests, do the same at the same instants."""

import asyncio
import copy
import selectors
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pipecat.frames.frames import Frame
from pipecat.processors.aggregators.llm_context import LLMContext

from latency.budget import Budget
from pipelines.lab.whatif.contestant import Cell, Contestant
from pipelines.lab.whatif.turns.caller_turn import CallerTurn, Discarded
from pipelines.lab.whatif.virtual import calls as virtual_call
from pipelines.lab.whatif.virtual.answer import VirtualAnswer
from pipelines.lab.whatif.virtual.calls import Randomness, VirtualCalls
from voice.frames import AnswerTextFrame
from voice.language.phrases import ENGLISH
from voice.llm.answer.answer import Answer
from voice.llm.answer.answer_state import AnswerState
from voice.llm.answer.hold_phrases import HoldPhrases
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.policy.situation import Start
from voice.simulator.timing.profiles import load_profiles
from voice.simulator.timing.timetable import Failure, SendText

PROFILES = load_profiles("field")
SAID = "I can do that for you. The train leaves at ten, and it arrives at noon. Is there anything else?"


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer instead of waiting for it."""

    def __init__(self, start: float) -> None:
        self._now = start
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self._now

    def jump(self, seconds: float) -> None:
        self._now += seconds


class _Jumping(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout:
            self._loop.jump(timeout)
        return super().select(0)


class ScriptedTier:
    """Streams a timetable into the attempt, as a tier does with what its service pushes."""

    usable = True
    instruction_tokens = 0
    price = None

    def __init__(self, name: str, ask: Callable[[Start, int, float, int], Any]) -> None:
        self._name, self._ask = name, ask

    def ask(self, attempt: LLMRequest, context: LLMContext, changed: Callable[[], None]) -> asyncio.Task[None]:
        state = attempt.state
        start = Start(tier=self._name, continues=state.continues, opens=state.opens, follows=state.follows)
        actions = self._ask(start, state.number, state.request, state.heard)
        return asyncio.get_running_loop().create_task(self._stream(attempt, actions, changed))

    async def _stream(self, attempt: LLMRequest, actions: Iterator[Any], changed: Callable[[], None]) -> None:
        clock = asyncio.get_running_loop().time
        for action in actions:
            await asyncio.sleep(attempt.state.request + action.at - clock())
            if isinstance(action, Failure):
                attempt.fail(f"HTTP {action.status}", clock())
                changed()
                return
            assert isinstance(action, SendText)
            if attempt.add(action.text, clock()):
                changed()
        attempt.complete(clock())
        changed()


class Listener:
    """Takes an answer, and notes when its first clause came."""

    def __init__(self, bridging: HoldPhrases, clock: Callable[[], float]) -> None:
        self._bridging, self._clock = bridging, clock
        self.handed: float | None = None

    async def begin(self) -> None: ...

    async def speak(self, piece: Frame) -> None:
        if isinstance(piece, AnswerTextFrame) and piece.clauses and self.handed is None:
            self.handed = self._clock()

    def known_opening(self) -> str:
        return self._bridging.phrase("opening")

    async def say(self, kind: Any, text: str | None = None) -> str:
        return self._bridging.phrase(kind) if text is None else text

    async def apologise(self, reason: str) -> None: ...

    async def call(self, calls: Any) -> None: ...

    async def report(self, frame: Any) -> None: ...


def live(virtual: VirtualAnswer, ask: Callable[[Start, int, float, int], Any]) -> tuple[list[Any], float | None, Any]:
    """Run the real `Answer` of the same plan on a virtual clock: its requests, its first clause, what it learned."""
    times, before = virtual.times, virtual.state
    book = copy.deepcopy(before.book)
    loop = VirtualLoop(times.asked)
    try:
        listener = Listener(copy.deepcopy(virtual.bridging), loop.time)
        tiers: Any = {name: ScriptedTier(name, ask) for name in ("large", "fast")}
        state = AnswerState(number=before.number, plan=before.plan, book=book, judged=before.judged)
        speaker: Any = listener
        answer = Answer(state, tiers=tiers, context=LLMContext([]), speaker=speaker, clock=loop.time)

        async def turn() -> None:
            if times.hinted is not None and times.ahead is not None and times.hinted <= loop.time():
                answer.expect(times.ahead)
            if times.commit is not None and times.commit <= loop.time():
                answer.commit(times.commit, times.deadline)  # type: ignore[arg-type]
            task = loop.create_task(answer.run())
            if times.hinted is not None and times.ahead is not None and times.hinted > loop.time():
                loop.call_at(times.hinted, answer.expect, times.ahead)
            if times.dropped is not None:
                await asyncio.wait([task], timeout=times.dropped - loop.time())
                if not task.done():
                    state.withdraw()
                    task.cancel()
                    await asyncio.wait([task])
                return
            assert times.commit is not None
            if times.commit > loop.time():
                await asyncio.sleep(times.commit - loop.time())
                answer.commit(times.commit, times.deadline)  # type: ignore[arg-type]
            await task

        loop.run_until_complete(turn())
        return state.requests, listener.handed, book
    finally:
        loop.close()


def seen(attempt: LLMRequest) -> tuple[Any, ...]:
    def about(at: float | None) -> float | None:
        return None if at is None else round(at, 3)

    state = attempt.state
    return (
        state.tier, about(state.request), about(state.first_token), about(state.first_clause), state.outcome,
        state.spoken, state.clauses, state.continues,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "large", "fast"),
    [
        ("single", "sonnet", None),
        ("hedged", "gpt-5.4-mini", None),
        ("fallback", "sonnet", "groq-fast"),
        ("race", "gpt-4.1", "haiku"),
        ("adaptive", "fable", "cerebras"),
        ("relay", "sonnet", "groq-fast"),
    ],
)
def test_it_does_what_a_live_answer_does(
    policy: str, large: str, fast: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    class Checked(VirtualAnswer):
        def run(self) -> None:
            luck = copy.deepcopy(calls._luck)

            def ask(start: Start, number: int, now: float, heard: int) -> Any:
                left = words if start.continues is None else words.after(heard)
                if start.opens:
                    left = virtual_call.wording(ENGLISH.openings[0], begun=True)
                return virtual_call.timetable(left.text, luck.model(start.tier), now=now)

            words = virtual_call.wording(SAID)
            attempts, handed, book = live(self, ask)
            super().run()
            assert [seen(one) for one in self.requests] == [seen(one) for one in attempts]
            assert (self.handed is None) == (handed is None)
            if self.handed is not None and handed is not None:
                assert self.handed == pytest.approx(handed, abs=0.001)
            for tier in self.state.book.tiers:
                assert self.state.book.p95(tier) == pytest.approx(book.p95(tier), abs=0.001)
                assert self.state.book.standing[tier].demoted == book.standing[tier].demoted
            compared.append(self.state.number)

    monkeypatch.setattr(virtual_call, "VirtualAnswer", Checked)
    second = None if fast is None else Contestant(name=fast, profile=PROFILES[fast])
    cell = Cell(policy=policy, large=Contestant(name=large, profile=PROFILES[large]), fast=second)
    calls = VirtualCalls(cell, chance=Randomness(seed=7), budget=Budget())
    turns = [
        CallerTurn(commit=0.3, asked=0.3, noticed=0.0, hinted=0.1, speech=1.0, answer=SAID),
        CallerTurn(commit=0.7, asked=0.2, noticed=0.0, hinted=0.3, speech=1.0, answer=SAID),
        CallerTurn(
            commit=0.5, asked=0.3, discarded=(Discarded(-0.9, -0.4),), noticed=0.1, hinted=0.2, speech=1.0, answer=SAID
        ),
    ]
    assert len(list(calls.hold(turns * 20))) == 60
    assert len(compared) == 80
