import asyncio
import math

import pytest

from voice.second_pass import LONGEST_WAIT, WordCheck


async def test_nobody_waits_without_a_check() -> None:
    check = WordCheck()
    assert not check.is_pending
    assert await check.settled()


async def test_an_answer_waits_until_the_check_has_ended() -> None:
    check = WordCheck()
    number = check.begin(lambda _why: None)
    waiting = asyncio.ensure_future(check.settled())
    await asyncio.sleep(0)
    assert check.awaits(number)
    assert not waiting.done()
    check.end(number)
    assert await waiting
    assert not check.awaits(number)


async def test_corrected_words_void_the_answer_before_anybody_else_knows() -> None:
    check, told = WordCheck(), []
    check.voids.append(lambda: told.append(check.is_pending))
    number = check.begin(lambda _why: None)
    waiting = asyncio.ensure_future(check.settled())
    await asyncio.sleep(0)
    check.correct(number)
    assert told == [True]
    assert not await waiting
    assert await check.settled(), "the next answer is to the corrected words"


async def test_a_dropped_check_ends_once_with_its_reason() -> None:
    check, told = WordCheck(), []
    number = check.begin(told.append)
    check.drop("late")
    check.drop()
    assert told == ["late"]
    assert not check.awaits(number)
    assert await check.settled()


async def test_the_next_check_takes_the_place_of_the_last() -> None:
    check, told = WordCheck(), []
    first = check.begin(told.append)
    second = check.begin(told.append)
    assert told == ["withdrawn"]
    check.end(first)
    assert check.awaits(second)
    assert not check.awaits(first)


@pytest.mark.parametrize(("thinks", "pays"), [(0.4, True), (0.2, True), (0.1, False), (0.0, False), (None, True)])
def test_a_check_pays_if_the_model_takes_longer(thinks: float | None, pays: bool) -> None:
    assert WordCheck(thinks=lambda: thinks).pays(0.2) is pays


async def test_the_limit_is_the_recognisers_unless_a_wrong_word_could_do_harm() -> None:
    check = WordCheck()
    assert check.limit == LONGEST_WAIT
    check.begin(lambda _why: None, limit=0.1)
    assert check.limit == 0.1
    strict = WordCheck(is_strict=lambda: True)
    strict.begin(lambda _why: None, limit=0.1)
    assert strict.limit == math.inf
