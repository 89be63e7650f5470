"""When speech that fades is decoded."""

import pytest

from voice.asr.fades import LEAST_AUDIO, SETTLED, FadePasses

STEP = 0.016


def passes(fades: FadePasses, since: float, seconds: float) -> list[float]:
    """How long the fade had lasted when each pass began."""
    begun = []
    for step in range(round(seconds / STEP)):
        if fades.is_due(since + step * STEP):
            fades.begun()
            begun.append(round(step * STEP, 3))
    return begun


@pytest.mark.parametrize(("at_once", "expected"), [(True, [0.0, SETTLED]), (False, [SETTLED])])
def test_a_fade_is_decoded_once_its_words_have_settled_and_also_at_once_if_asked(
    at_once: bool, expected: list[float]
) -> None:
    fades = FadePasses(at_once=at_once)
    assert passes(fades, 2.0, 1.0) == expected
    assert fades.settles


def test_each_fade_is_decoded_anew_and_a_short_one_not_at_all() -> None:
    fades = FadePasses(at_once=False)
    assert passes(fades, 2.0, SETTLED) == []
    fades.rose()
    assert passes(fades, 2.2, SETTLED) == []
    fades.rose()
    assert passes(fades, 2.4, 0.2) == [SETTLED]


def test_the_first_sounds_are_too_short_to_decode() -> None:
    assert not FadePasses(at_once=True).is_due(LEAST_AUDIO - 0.01)
    assert FadePasses(at_once=True).is_due(LEAST_AUDIO)
