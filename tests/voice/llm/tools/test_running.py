"""What the caller hears while a tool runs."""

import asyncio
from collections.abc import Callable

import pytest

from tests.voice.llm.answer import budgeted_rig as rig
from voice.language.english.phrases import ENGLISH
from voice.llm.tools import Tool, Traits, describe, slow
from voice.llm.tools import running as running_tools
from voice.llm.tools.running import AGAIN, AT_ONCE, RunningTools


class Clock:
    """Time that passes only while something waits for it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.at: list[tuple[float, Callable[[], None]]] = []
        monkeypatch.setattr(running_tools.asyncio, "timeout", self.timeout)

    def timeout(self, seconds: float) -> asyncio.Timeout:
        """Runs out at once, unless something happens before."""
        until = self.now + seconds
        due = [event for event in self.at if event[0] <= until]
        self.now = min([until, *(at for at, _ in due)])
        for event in due[:1]:
            self.at.remove(event)
            event[1]()
        return asyncio.timeout_at(asyncio.get_running_loop().time() + (1.0 if due else 0.0))


@pytest.mark.parametrize(
    ("ends", "deadline", "said"),
    [
        (0.2, 0.4, []),
        (3.0, 0.4, [(0.4, "one", False)]),
        (3.0, -1.0, [(AT_ONCE, "one", False)]),
        (14.0, 0.4, [(0.4, "one", False), (0.4 + AGAIN, None, True), (0.4 + 2 * AGAIN, None, True)]),
    ],
)
async def test_something_is_said_by_the_deadline_and_again_while_a_tool_runs(
    ends: float, deadline: float, said: list[tuple[float, str | None, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, tools = Clock(monkeypatch), RunningTools()
    begun, heard = clock.now, []
    running = tools.running(Traits(saying="one"))
    running.__enter__()
    clock.at.append((begun + ends, lambda: running.__exit__(None, None, None) and None))

    async def say(text: str | None, again: bool) -> None:
        heard.append((round(clock.now - begun, 3), text, again))

    await tools.accompany(begun + deadline, lambda: clock.now, say)
    assert heard == said


async def spoken(tool: Tool) -> list[str]:
    """The phrases of a call in which a model calls a tool."""
    from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
    from pipecat.frames.frames import FunctionCallResultFrame

    tools = ToolsSchema(standard_tools=[describe(tool)])
    async with rig.serving(rig.large(tool=tool.__name__)) as server:
        call = rig.make_call("single", server)
        await call.run([rig.ask(tools=tools), lambda: call.pushed_of(FunctionCallResultFrame)])
    return [phrase.text for record in call.records for phrase in record.answer.said if phrase.kind == "progress"]


@pytest.mark.parametrize(("saying", "heard"), [(None, ENGLISH.progress[0]), ("I am looking.", "I am looking.")])
async def test_in_a_call_the_phrase_of_a_slow_tool_is_heard_and_recorded(saying: str | None, heard: str) -> None:
    @slow(saying=saying)
    async def order_status() -> str:
        """Look up the caller's order."""
        await asyncio.sleep(1.2)
        return "on its way"

    assert await spoken(order_status) == [heard]


async def test_of_a_quick_tool_nothing_is_said() -> None:
    async def order_status() -> str:
        """Look up the caller's order."""
        return "on its way"

    assert await spoken(order_status) == []
