from datetime import date

import pytest

from voice.responder.language.time.dates import parse_day

TODAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("today", TODAY), ("tomorrow", date(2026, 11, 21)), ("friday", TODAY), ("monday", date(2026, 11, 23)),
        ("next friday", date(2026, 11, 27)), ("this sunday", date(2026, 11, 22)), ("march third", date(2027, 3, 3)),
        ("the third of march", date(2027, 3, 3)), ("march the third", date(2027, 3, 3)),
        ("march 3 rd", date(2027, 3, 3)),
        ("december twenty first", date(2026, 12, 21)), ("november twenty", TODAY),
        ("july twentieth nineteen sixty nine", date(1969, 7, 20)), ("january 5 2030", date(2030, 1, 5)),
        ("february twenty ninth", date(2028, 2, 29)), ("on may first", date(2027, 5, 1)),
    ],
)  # fmt: skip
def test_a_day_is_the_next_one_of_its_name(said: str, day: date) -> None:
    parsed = parse_day(said)
    assert parsed is not None
    assert parsed.after(TODAY) == day


@pytest.mark.parametrize(
    "said", ["", "march", "third", "april thirty first", "march march third", "may", "march fortieth", "day", "next"]
)
def test_other_words_are_no_day(said: str) -> None:
    assert parse_day(said) is None


def test_february_29_of_another_year_does_not_exist() -> None:
    parsed = parse_day("february twenty ninth twenty twenty seven")
    assert parsed is not None
    assert parsed.after(TODAY) is None
