import random

from voice.responder.language.amounts import BY_NAME, UNITS, to_unit


def test_converting_there_and_back_gives_the_same_value() -> None:
    rng = random.Random(3)
    for unit in UNITS:
        other = rng.choice([end for end in UNITS if end.quantity == unit.quantity])
        assert to_unit(to_unit(unit.factor + 7, unit, other), other, unit) == unit.factor + 7


def test_no_name_means_two_units() -> None:
    names = [name for unit in UNITS for name in {unit.singular, unit.plural}]
    assert len(names) == len(set(names))
    assert set(names) <= set(BY_NAME)
