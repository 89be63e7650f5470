"""What a persistent socket saves a turn, and what cancelling costs the next one; the figures are printed.

python -m pytest tests/benchmarks/test_responses_benchmark.py -m slow -s
"""

import statistics
from typing import Any

import pytest

from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.simulator import Simulator
from tests.voice.llm.wires.responses.rig import FAST, SLOW, calling, chat_sizes, ended, in_call, make_service, until
from voice.llm.answer.llm_request import LLMRequest


@pytest.mark.slow
async def test_benchmark_of_the_persistent_socket(capsys: pytest.CaptureFixture[str]) -> None:
    """What the persistent socket saves: run with `pytest -m slow -s tests/benchmarks/test_responses_benchmark.py`."""
    turns, model = 100, "sim:gpt-5.4-mini?ttft_ms=200&tokens_per_s=2000"
    persistent: list[float] = []
    fresh: list[float] = []
    simulator = Simulator(seed=1)
    async with (
        serving(simulator) as endpoint,
        in_call(make_service(endpoint, model, profile="gpt-5.4-mini"), simulator) as call,
    ):
        await call.ready()
        # Alternately, so that both see the same machine.
        for turn in range(turns):
            persistent.append(waited(await call.ask(f"what is {turn % 10} plus {turn // 10}")))
            async with in_call(make_service(endpoint, model, profile="gpt-5.4-mini"), simulator) as other:
                other.messages = call.messages[:-1]
                fresh.append(waited(await other.ask()))
    lines = [f"first token over {turns} turns each, ms (model 200 ms, round trip 30 ms):"]
    lines += [row("connecting each turn", fresh), row("persistent socket", persistent)]
    sizes = {"responses": await responses_sizes(turns=20), "chat": await chat_sizes(turns=20)}
    lines.append("bytes of a request at turn 1, 5, 10, 20:")
    for name, wire in sizes.items():
        lines.append(f"  {name:30} " + " ".join(f"{wire[turn - 1]:6}" for turn in (1, 5, 10, 20)))
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert statistics.median(fresh) > statistics.median(persistent)


@pytest.mark.slow
@pytest.mark.parametrize("on_cancel", ["keep", "ignore", "unknown"])
async def test_benchmark_of_cancelling(on_cancel: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """When the server knows, and what the next turn waits: run as the one above."""
    turns = 50
    seen: list[float] = []
    usual: list[float] = []
    after: list[float] = []
    async with calling(SLOW, sim=Simulator(seed=1, on_cancel=on_cancel)) as call:
        await call.ready()
        for turn in range(turns):
            call.use(FAST)
            usual.append(waited(await call.ask("hello")))
            call.use(SLOW)
            # Every second one before the server has named it.
            attempt = await call.interrupt("tell me a story", tokens=2 * (turn % 2))
            cancelled = call.requests[-1]
            call.use(FAST)
            after.append(waited(await call.ask("what is two plus two")))
            await ended(cancelled)
            assert cancelled.ended is not None
            assert attempt.state.end is not None
            seen.append(cancelled.ended - attempt.state.end)
            await until(lambda: len(call.simulator.connections) == 2)
            call.messages.clear()
    with capsys.disabled():
        print(f"\ncancelling {turns} requests, on_cancel={on_cancel}, ms:")
        print("\n".join([row("seen by the server after", seen), row("first token of a usual turn", usual)]))
        print(row("first token right after a cancel", after))


def row(name: str, seconds: list[float]) -> str:
    cuts = statistics.quantiles([1000 * value for value in seconds], n=20)
    return f"  {name:32} p50 {cuts[9]:6.1f}  p95 {cuts[18]:6.1f}  max {1000 * max(seconds):6.1f}"


def waited(attempt: LLMRequest) -> float:
    assert attempt.state.first_token is not None
    return attempt.state.first_token - attempt.state.request


async def responses_sizes(*, turns: int) -> list[int]:
    async with calling() as call:
        await call.ready()
        for turn in range(turns):
            await call.ask(f"what is {turn % 10} plus {turn // 10}")
        return [exchange.bytes_in for exchange in call.requests]
