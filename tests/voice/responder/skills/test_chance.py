import pytest

from tests.voice.responder.skills.conversing import answer


@pytest.mark.parametrize("seed", range(8))
def test_chance_stays_within_its_bounds(seed: int) -> None:
    assert answer("flip a coin", seed) in ("It is heads.", "It is tails.")
    assert answer("roll a die", seed).split()[-1].rstrip(".") in list("123456")
    assert 1 <= int(answer("roll a twenty sided die", seed).split()[-1].rstrip(".")) <= 20
    assert 5 <= int(answer("pick a number between five and nine", seed).split()[-1].rstrip(".")) <= 9
    rolled = answer("roll two dice", seed).removeprefix("You rolled ").rstrip(".")
    first, second, total = (int(part) for part in rolled.replace(", which makes", " and").split(" and "))
    assert first + second == total


def test_the_same_seed_draws_the_same() -> None:
    for text in ("roll a die", "flip a coin", "tell me a joke", "tell me a story"):
        assert answer(text, 5) == answer(text, 5)
    assert len({answer("roll a die", seed) for seed in range(30)}) == 6


@pytest.mark.parametrize(
    "heard",
    ["roll two and a half dice", "pick a number between nine and five", "count to two point five"],
)
def test_impossible_requests_get_no_wrong_answer(heard: str) -> None:
    assert "language model" in answer(heard)
