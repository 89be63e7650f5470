import pytest

from latency.budget import Budget
from latency.record.requests import Price
from pipelines.lab.simulator.profiles import load_profiles
from pipelines.lab.whatif.advice import advice, baseline, best
from pipelines.lab.whatif.caller_turns import CallerTurn, Discarded
from pipelines.lab.whatif.contestants import Cell, Contestant, Quality
from pipelines.lab.whatif.draws import Randomness
from pipelines.lab.whatif.fast import FastPlan, fast_row, hold
from pipelines.lab.whatif.finding import window
from pipelines.lab.whatif.row import row, seconds_to_correct

PROFILES = load_profiles("field")
TURN = CallerTurn(
    commit=0.3, asked=0.3, noticed=0.0, hinted=0.1, synthesis=0.04, playout=0.02, speech=2.0, question="hello there",
    answer="I am well, thank you. And you?",
)  # fmt: skip


def tier(name: str, quality: float | None = None, measure: str = "exam", usd: float | None = None) -> Contestant:
    return Contestant(
        name=name,
        profile=PROFILES[name],
        price=None if usd is None else Price(input=usd, output=usd),
        quality=None if quality is None else Quality(share=quality, measure=measure),
    )


def plan(turns: int = 200, turn: CallerTurn = TURN, *, stalls: bool = True) -> FastPlan:
    return FastPlan(turns=[turn] * turns, chance=Randomness(stalls=stalls), budget=Budget(), chain=10)


def test_65_tokens_a_second_fit_26_to_32_into_the_window_if_the_first_takes_no_time() -> None:
    opus = window(tier("opus"), Randomness())
    assert opus.zero == (26, 32)
    assert opus.own == (0, 0)


def test_ten_turns_with_nine_right_in_ten_are_all_right_in_35_of_100_calls() -> None:
    found = fast_row(Cell(policy="single", large=tier("steady", 0.9)), plan())
    assert found.quality == 0.9
    assert found.chain == pytest.approx(0.349, abs=0.001)


def test_the_share_of_right_turns_counts_those_without_an_answer() -> None:
    found = fast_row(Cell(policy="single", large=tier("sonnet", 1.0)), plan(2000))
    assert found.quality == 1
    assert found.right is not None
    assert found.chain is not None
    assert 0.9 < found.right < 1
    assert found.chain == pytest.approx(found.right**10, abs=0.001)
    assert f"{found.right * 100:.1f} % of turns get a right answer" in advice([found], chain=10)


def test_a_mistake_costs_the_turn_and_saying_it_again() -> None:
    assert seconds_to_correct(0.8, 1.0, 2.0) == 0.8
    # Half of the answers are wrong: two attempts, one of them repeated.
    assert seconds_to_correct(0.8, 0.5, 2.0) == pytest.approx(0.8 / 0.5 + 2.0)
    found = fast_row(Cell(policy="single", large=tier("steady", 0.5)), plan())
    # 300 ms to the commit, 100 to the first token and some for the first clause, 60 to the loudspeaker.
    assert found.turn_p50_ms is not None
    assert found.seconds_to_correct == pytest.approx(found.turn_p50_ms / 1000 / 0.5 + 2.0, abs=0.02)


def test_quality_is_weighted_by_who_spoke_and_unknown_where_measures_differ() -> None:
    pair = Cell(policy="fallback", large=tier("sonnet", 1.0), fast=tier("groq-fast", 0.5))
    found = fast_row(pair, plan())
    assert found.by_fast is not None
    assert 0.5 < found.by_fast < 1
    assert found.quality == pytest.approx(1 - found.by_fast / 2, abs=0.001)
    other = Cell(policy="fallback", large=tier("sonnet", 1.0, "another exam"), fast=tier("groq-fast", 0.5))
    assert fast_row(other, plan(50)).quality is None


def test_requests_that_nobody_hears_are_paid_too() -> None:
    lone = Cell(policy="single", large=tier("steady", usd=10.0))
    thrice = CallerTurn(
        commit=0.3, asked=0.3, discarded=(Discarded(-0.8, -0.75), Discarded(-0.4, -0.35)), speech=2.0,
        question=TURN.question, answer=TURN.answer,
    )  # fmt: skip
    once, more = fast_row(lone, plan(100)), fast_row(lone, plan(100, thrice))
    assert (once.requests_per_turn, more.requests_per_turn) == (1, 3)
    assert once.usd_per_100_turns is not None
    assert more.usd_per_100_turns is not None
    # They were dropped before their first token, so their prompts alone are paid.
    assert 1.5 * once.usd_per_100_turns < more.usd_per_100_turns < 3 * once.usd_per_100_turns
    assert fast_row(Cell(policy="single", large=tier("steady")), plan(10)).usd_per_100_turns is None


def test_stalls_cost_what_they_cost_and_nothing_else_changes() -> None:
    cell = Cell(policy="single", large=tier("groq-fast"))
    calm, stalled = hold(cell, plan(2000, stalls=False)), hold(cell, plan(2000))
    pairs = [(a, b) for a, b in zip(calm.latencies, stalled.latencies, strict=True) if a is not None and b is not None]
    later = [b - a for a, b in pairs if abs(b - a) > 1e-6]
    assert 5 < len(later) < 50
    assert min(later) > 0


def test_a_row_whose_cost_is_unknown_is_advised_only_if_there_is_no_other() -> None:
    unknown, known = tier("steady", 1.0), tier("groq-fast", 0.9, usd=1.0)
    rows = [fast_row(Cell(policy="single", large=one), plan(50)) for one in (unknown, known)]
    assert best(rows) is rows[1]
    assert best(rows[:1]) is rows[0]


def test_the_advice_says_what_it_buys_and_what_it_costs() -> None:
    large, fast = tier("sonnet", 0.95, usd=10.0), tier("groq-fast", 0.9, usd=0.5)
    cells = [Cell(policy="single", large=large), Cell(policy="race", large=large, fast=fast)]
    rows = [row(cell, hold(cell, plan()), budget=0.45, chain=10) for cell in cells]
    assert best(rows) is rows[1]
    assert baseline(rows, rows[1]) is rows[0]
    said = advice(rows, chain=10)
    assert said.startswith("Take sim:sonnet + sim:groq-fast under race: ")
    assert "(sim:sonnet alone: " in said
    assert " instead of $" in said
    assert said.count(".  ") == 0
    assert said.endswith(".")
