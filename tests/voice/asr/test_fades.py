"""When speech that fades is decoded."""

from voice.asr.fades import AFTER, LASTING, LEAST_AUDIO, FadePasses

STEP = 0.016


def passes(fades: FadePasses, since: float, seconds: float) -> list[float]:
    """How long the fade had lasted when each pass began."""
    begun = []
    for step in range(round(seconds / STEP)):
        if fades.is_due(since + step * STEP):
            fades.begun()
            begun.append(round(step * STEP, 3))
    return begun


def test_a_fade_is_decoded_at_once_and_when_its_words_have_settled_but_not_for_ever() -> None:
    fades = FadePasses()
    assert passes(fades, 2.0, 1.0) == list(AFTER)
    assert fades.settles


def test_the_next_fade_is_decoded_at_once() -> None:
    fades = FadePasses()
    assert passes(fades, 2.0, AFTER[1]) == [0.0]
    assert not fades.settles
    fades.rose()
    assert passes(fades, 2.2, AFTER[1]) == [0.0]


def test_the_first_sounds_are_too_short_to_decode() -> None:
    assert not FadePasses().is_due(LEAST_AUDIO - 0.01)
    assert FadePasses().is_due(LEAST_AUDIO)


def test_a_fade_lasts_once_and_only_if_a_pass_has_begun_at_it() -> None:
    fades = FadePasses()
    assert fades.is_due(2.0)
    assert not fades.lasts(2.0 + LASTING)
    fades.begun()
    assert not fades.lasts(2.0 + LASTING - STEP)
    assert fades.lasts(2.0 + LASTING)
    assert not fades.lasts(2.0 + 2 * LASTING)
    fades.rose()
    assert not fades.lasts(3.0)
