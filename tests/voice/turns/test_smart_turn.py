"""Verdicts on whole turns, on the real Smart Turn with recorded sound."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from tests.voice.turns.turn_models import SILENCE, chunks, turn_models
from voice.turns import smart_turn
from voice.turns.smart_turn import SmartTurn, SmartTurnVerdict

Speak = Callable[[str], bytes]


def spoken(turn: SmartTurn, sound: bytes) -> None:
    for chunk in chunks(sound):
        turn.hear(chunk, speaking=True)


async def test_smart_turn_judges_speech_only(speak: Speak) -> None:
    turn = turn_models().smart_turn(start_secs=0.2)
    turn.hear(SILENCE * 50, speaking=False)
    assert await turn.judge() is None
    spoken(turn, speak("what time is it"))
    verdict = await turn.judge()
    assert verdict is not None
    assert 0 <= verdict.probability <= 1
    turn.clear()
    assert await turn.judge() is None


async def test_earlier_turns_do_not_change_the_verdict_on_the_same_speech(speak: Speak) -> None:
    fresh, used = turn_models().smart_turn(start_secs=0.2), turn_models().smart_turn(start_secs=0.2)
    spoken(used, speak("goodbye"))
    used.clear()
    verdicts = []
    for turn in (fresh, used):
        turn.hear(SILENCE * 50, speaking=False)
        spoken(turn, speak("what time is it"))
        verdict = await turn.judge()
        assert verdict is not None
        verdicts.append(verdict.probability)
    assert verdicts[0] == verdicts[1]


async def test_a_turn_that_goes_on_is_judged_as_a_whole(speak: Speak) -> None:
    once, twice = turn_models().smart_turn(start_secs=0.2), turn_models().smart_turn(start_secs=0.2)
    verdicts = []
    for turn, ended in ((once, False), (twice, True)):
        turn.hear(SILENCE * 50, speaking=False)
        spoken(turn, speak("goodbye"))
        if ended:
            turn.clear()
        turn.hear(SILENCE * 10, speaking=not ended)
        if ended:
            turn.resume()
        spoken(turn, speak("what time is it"))
        verdict = await turn.judge()
        assert verdict is not None
        verdicts.append(verdict.probability)
    assert verdicts[0] == verdicts[1]


async def test_without_the_model_there_is_no_verdict(speak: Speak) -> None:
    turn = SmartTurn(None, start_secs=0.2)
    spoken(turn, speak("what time is it"))
    assert await turn.judge() is None


class BrokenModel:
    """In the place of the shared model."""

    def __init__(self, outcome: SmartTurnVerdict | Exception | None) -> None:
        self._outcome = outcome

    def submit(self, _: bytes) -> "Future[SmartTurnVerdict]":
        future: Future[SmartTurnVerdict] = Future()
        if isinstance(self._outcome, Exception):
            future.set_exception(self._outcome)
        elif self._outcome is not None:
            future.set_result(self._outcome)
        return future


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (RuntimeError("out of memory"), "Smart Turn failed; silence decides: out of memory"),
        (SmartTurnVerdict(float("nan"), 0.01), "Smart Turn gave a probability of nan; silence decides"),
        (None, "Smart Turn gave no verdict within 0.05 s; silence decides"),
    ],
)
async def test_a_model_that_fails_gives_no_verdict(
    outcome: SmartTurnVerdict | Exception | None, said: str, caplog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smart_turn, "VERDICT_WITHIN", 0.05)
    turn = SmartTurn(BrokenModel(outcome), start_secs=0.2)  # type: ignore[arg-type]
    turn.hear(SILENCE, speaking=True)
    assert await turn.judge() is None
    assert caplog.messages == [said]
