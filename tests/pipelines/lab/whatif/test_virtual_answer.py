"""The virtual clock streams an answer clause by clause, which changes nothing beside one that streams every token."""

import asyncio
from collections.abc import Callable

import pytest

from latency.budget import Budget
from latency.record.turn import TurnRecord
from pipelines.lab.simulator.profiles import load_profiles
from pipelines.lab.simulator.timetable import Failure, SendText
from pipelines.lab.whatif import virtual_calls
from pipelines.lab.whatif.caller_turns import CallerTurn, Discarded
from pipelines.lab.whatif.contestants import Cell, Contestant
from pipelines.lab.whatif.draws import Randomness
from pipelines.lab.whatif.virtual_answer import Stream, VirtualLoop
from pipelines.lab.whatif.virtual_calls import VirtualCalls
from voice.llm.answer.llm_request import LLMRequest

PROFILES = load_profiles("field")
SAID = "I can do that for you. The train leaves at ten, and it arrives at noon. Is there anything else?"
TURNS = [
    CallerTurn(commit=0.3, asked=0.3, noticed=0.0, hinted=0.1, speech=1.0, answer=SAID),
    CallerTurn(commit=0.7, asked=0.2, noticed=0.0, hinted=0.3, speech=1.0, answer=SAID),
    CallerTurn(
        commit=0.5, asked=0.3, discarded=(Discarded(-0.9, -0.4),), noticed=0.1, hinted=0.2, speech=1.0, answer=SAID
    ),
]


class TokenByToken(Stream):
    """Streams a timetable into the request, as a tier does with what its service pushes."""

    async def send(self, request: LLMRequest, changed: Callable[[], None]) -> None:
        clock = asyncio.get_running_loop().time
        for action in self._timetable:
            await asyncio.sleep(request.state.request + action.at - clock())
            if isinstance(action, Failure):
                request.fail(f"HTTP {action.status}", clock())
                changed()
                return
            assert isinstance(action, SendText)
            if request.add(action.text, clock()):
                changed()
        request.complete(clock())
        changed()


def held(policy: str, large: str, fast: str | None) -> tuple[list[TurnRecord], VirtualCalls]:
    second = None if fast is None else Contestant(name=fast, profile=PROFILES[fast])
    cell = Cell(policy=policy, large=Contestant(name=large, profile=PROFILES[large]), fast=second)
    calls = VirtualCalls(cell, chance=Randomness(seed=7), budget=Budget())
    return calls.hold(TURNS * 20), calls


def seen(turn: TurnRecord) -> list[tuple[object, ...]]:
    def about(at: float | None) -> float | None:
        return None if at is None else round(at, 3)

    requests = [
        (one.tier, about(one.request), about(one.first_token), about(one.first_clause), one.outcome, one.continues)
        for one in turn.attempts
    ]
    return [*requests, *((mark, about(at)) for mark, at in sorted(turn.marks.items()))]


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
def test_it_does_what_an_answer_does_that_streams_token_by_token(
    policy: str, large: str, fast: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns, calls = held(policy, large, fast)
    monkeypatch.setattr(virtual_calls, "Stream", TokenByToken)
    others, other = held(policy, large, fast)
    assert len(turns) == 60
    assert sum(len(turn.responses) for turn in turns) == 80
    assert [seen(turn) for turn in turns] == [seen(turn) for turn in others]
    for tier in calls._book.tiers:
        assert calls._book.p95(tier) == pytest.approx(other._book.p95(tier), abs=0.001)
        assert calls._book.standing[tier].demoted == other._book.standing[tier].demoted


def test_what_never_comes_is_not_waited_for() -> None:
    loop = VirtualLoop()

    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="never comes"):
        loop.run_until_complete(wait())
    loop.close()
