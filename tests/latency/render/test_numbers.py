from latency.render.numbers import count, counted, ms, percent, plural


def test_figures_are_rounded_for_people_and_the_unknown_is_a_dash() -> None:
    assert (ms(449.6), percent(0.4567), count(3)) == ("450", "45.7 %", "3")
    assert (ms(None), percent(None), count(None)) == ("-", "-", "-")


def test_whole_percents_have_no_decimal() -> None:
    assert [percent(share) for share in (0.0, 0.0004, 1.0)] == ["0 %", "0 %", "100 %"]


def test_one_thing_has_no_plural() -> None:
    assert [plural(number, "turn") for number in (0, 1, 2, None)] == ["0 turns", "1 turn", "2 turns", "- turns"]


def test_counts_stand_with_the_most_frequent_first() -> None:
    assert counted({"turn": 1, "llm": 4, "floor": 1}) == "llm 4, turn 1, floor 1"
    assert counted({}) == ""
