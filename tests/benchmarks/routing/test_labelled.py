"""The rules that route a turn carry over from the half of a list that they were written from."""

import pytest

from tests.benchmarks.routing.__main__ import main
from tests.benchmarks.routing.labelled import PARTS, Part, confusion, half_of, utterances


def of(part: Part) -> list:  # type: ignore[type-arg]
    return [one for one in utterances() if one.part == part]


def test_the_list_is_long_and_its_halves_are_disjoint_and_of_one_size() -> None:
    texts = [(one.text.casefold(), one.asked) for one in utterances()]
    assert len(set(texts)) == len(texts)
    tuning, test = of("tuning"), of("test")
    assert len(tuning) + len(test) >= 300
    assert 0.8 < len(tuning) / len(test) < 1.25
    assert {one.text for one in tuning} & {one.text for one in test} == set()
    assert [half_of(one.text) for one in test] == ["test"] * len(test)


@pytest.mark.parametrize("part", ["tuning", "test"])
def test_what_must_go_to_the_large_model_is_sent_there(part: Part) -> None:
    found = confusion(of(part))
    forced = found.share("large", "large")
    easy = found.share("fast", "fast")
    assert forced is not None
    assert forced >= 0.95
    assert easy is not None
    assert easy >= 0.85


def test_words_that_the_rules_miss_are_open_and_not_easy() -> None:
    found = confusion(of("indirect"))
    not_fast = found.share("large", "large", "open")
    assert not_fast is not None
    assert not_fast >= 0.9
    forced = found.share("large", "large")
    assert forced is not None
    assert forced < 0.5, "rules by words see little of what is said indirectly; say so where it has changed"


def test_the_command_prints_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    printed = capsys.readouterr().out
    assert all(f"{part}, " in printed for part in PARTS)
