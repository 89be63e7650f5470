"""Sums that caps are held against."""

import random
from datetime import date

import pytest

from voice.llm.spending.ledger import CallLedger, Caps, DayLedger

TODAY, TOMORROW = date(2026, 11, 23), date(2026, 11, 24)


def test_a_cap_is_reached_by_its_amount_and_that_of_the_call_comes_first() -> None:
    caps = Caps(per_call=0.5, per_day=20)
    assert caps.reached(call=0.49, day=19.9) is None
    assert caps.reached(call=0.5, day=19.9) == "call"
    assert caps.reached(call=0.1, day=20) == "day"
    assert caps.reached(call=0.5, day=20) == "call"
    assert Caps().reached(call=1e6, day=1e6) is None


@pytest.mark.parametrize("seed", range(10))
def test_the_call_costs_what_its_answers_cost_in_the_end(seed: int) -> None:
    chance, ledger = random.Random(seed), CallLedger()
    last: dict[int, float] = {}
    news = 0.0
    for _ in range(50):
        answer, usd = chance.randrange(5), chance.random()
        news += ledger.note(answer, usd)
        last[answer] = usd
    assert ledger.usd == pytest.approx(sum(last.values()))
    assert news == pytest.approx(ledger.usd)


def test_a_day_has_what_all_processes_spent_and_a_new_one_begins_at_nothing() -> None:
    ledger = DayLedger()
    ledger.add(1.0, TODAY)
    ledger.add(0.5, TODAY)
    ledger.stored(TODAY, total=4.0, added=1.0)
    assert (ledger.usd(TODAY), ledger.unstored(TODAY)) == (4.5, 0.5)
    assert ledger.usd(TOMORROW) == 0
    ledger.add(0.25, TOMORROW)
    assert (ledger.usd(TOMORROW), ledger.unstored(TOMORROW), ledger.usd(TODAY)) == (0.25, 0.25, 0)
