"""What a run's requests cost."""

import random
from dataclasses import replace
from typing import Any

import pytest

from latency.record.turn import TurnRecord
from latency.render.llm import cost_lines
from latency.report.llm.cost import Cost, cost_figures, turn_cost
from tests.latency.budgeted_turns import attempt, response, turn

OUTCOMES = ("spoken", "called", "cancelled", "failed", "withdrawn", "silent", None)


def request(outcome: str | None, usd: float | None, *, tier: str = "large", model: str = "opus", **more: Any) -> Any:
    tokens = {"in": 100, "out": 10, "estimated": more.pop("estimated", False)}
    return attempt(tier, 2.0, None, outcome, model=model, usd=usd, tokens=tokens, **more)


def lines(cost: Cost) -> list[str]:
    return [" ".join(line.split()) for line in cost_lines(cost)]


def test_winners_losers_and_speculation_add_up_to_the_whole() -> None:
    found = cost_figures(
        [
            turn([request("cancelled", 0.002, estimated=True), request("spoken", 0.001, tier="fast", model="groq")]),
            replace(turn([request("withdrawn", 0.0005), request("called", 0.003)]), turn=1),
            replace(turn([request("failed", 0.0)], wants_answer=False), turn=2),
        ]
    )
    assert (found.winners, found.losers, found.speculation) == (0.004, 0.002, 0.0005)
    assert found.usd == pytest.approx(0.0065)
    assert found.usd_per_100_turns == pytest.approx(0.325), "two turns want an answer"
    assert (found.estimated, found.simulated) == (0.002, 0)
    assert found.tiers == {"fast": 0.001, "large": pytest.approx(0.0055)}
    assert lines(found) == [
        "cost $0.0065 (30.8 % of it estimated) for 5 requests; $0.3250 for 100 turns",
        "winners $0.0040 (61.5 %): their words were spoken, or their tools run",
        "losers $0.0020 (30.8 %): cancelled, failed or rejected",
        "discarded $0.000500 (7.7 %): speculative answers that were not used",
        "tiers fast $0.0010, large $0.0055",
    ]


def test_an_answer_that_was_discarded_is_speculation_whatever_became_of_its_requests() -> None:
    ahead = {"turn": 0, "marks": {}, "responses": [response(0, deadline=None, limit=None, commit=None)]}
    ahead["attempts"] = [request("spoken", 0.002, response=0)]
    assert turn_cost(turn([], server_turns=[ahead])).speculation == 0.002


@pytest.mark.parametrize("seed", range(20))
def test_turns_add_up_to_calls_and_calls_tiers_and_kinds_to_the_run(seed: int) -> None:
    chance = random.Random(seed)

    def any_turn(number: int) -> TurnRecord:
        count = chance.randint(1, 4)
        made = [
            request(chance.choice(OUTCOMES), round(chance.random() / 100, 7), tier=chance.choice(("large", "fast")))
            for _ in range(count)
        ]
        return replace(turn(made), session=chance.choice("ab"), turn=number)

    turns = [any_turn(number) for number in range(chance.randint(1, 12))]
    found = cost_figures(turns)
    for name, usd in found.calls.items():
        assert usd == pytest.approx(sum(turn_cost(one).usd or 0 for one in turns if one.session == name))
    every = pytest.approx(sum(one.usd or 0 for made in turns for one in made.attempts))
    assert found.usd == every
    assert sum(usd or 0 for usd in found.calls.values()) == every
    assert sum(usd or 0 for usd in found.tiers.values()) == every
    assert (found.winners or 0) + (found.losers or 0) + (found.speculation or 0) == every


def test_one_request_without_a_price_leaves_the_whole_unknown_and_is_named() -> None:
    found = cost_figures([turn([request("spoken", 0.001), request("cancelled", None, tier="fast", model="groq")])])
    assert (found.usd, found.usd_per_100_turns, found.losers) == (None, None, None)
    assert found.tiers == {"large": 0.001, "fast": None}
    assert lines(found) == ["cost unknown: no price known for groq; the requests with a price cost $0.0010"]


def test_what_simulated_models_would_cost_is_named_so() -> None:
    (first, *_) = lines(cost_figures([turn([request("spoken", 0.001, model="sim:sonnet")])]))
    assert first == "cost $0.0010 (simulated) for 1 request; $0.1000 for 100 turns"


def test_a_speed_that_the_provider_does_not_confirm_makes_an_estimate() -> None:
    asked, confirmed = request("spoken", 0.002, speed="fast"), request("spoken", 0.001, speed="fast", served="standard")
    assert turn_cost(turn([asked, confirmed])).estimated == 0.002


def test_without_a_language_model_there_is_no_cost() -> None:
    found = cost_figures([turn([attempt("llm", 2.0, 2.1)])])
    assert (found.usd, found.requests, found.unpriced, lines(found)) == (None, 0, (), [])


def test_a_cap_that_was_reached_is_told() -> None:
    capped = turn([request("spoken", 0.001)], responses=[response(cap="call")])
    found = cost_figures([turn([request("spoken", 0.001)]), capped, replace(capped, turn=2)])
    assert found.capped == {"call": 2}
    assert lines(found)[-1] == "cap reached for a call: the cheapest tier alone was asked in 2 turns"
