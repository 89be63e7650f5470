"""Verdicts on whole turns, on the real Smart Turn with recorded sound."""

from collections.abc import Callable

from tests.voice.turns.turn_models import SILENCE, chunks, turn_models
from voice.turns.smart_turn import SmartTurn

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
