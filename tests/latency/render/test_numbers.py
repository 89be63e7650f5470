from latency.render.numbers import count, counted, ms, percent


def test_figures_are_rounded_for_people_and_the_unknown_is_a_dash() -> None:
    assert (ms(449.6), percent(0.4567), count(3)) == ("450", "45.7%", "3")
    assert (ms(None), percent(None), count(None)) == ("-", "-", "-")


def test_counts_stand_with_the_most_frequent_first() -> None:
    assert counted({"turn": 1, "llm": 4, "floor": 1}) == "llm 4, turn 1, floor 1"
    assert counted({}) == ""
