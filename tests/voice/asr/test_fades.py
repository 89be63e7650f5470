"""When speech that fades is decoded."""

from voice.asr.fades import AGAIN, LEAST_AUDIO, PASSES, FadePasses


def test_a_fade_is_decoded_at_once_and_again_while_it_lasts_but_not_for_ever() -> None:
    fades, begun = FadePasses(), []
    for step in range(20):
        seconds = 2.0 + step * 0.02
        if fades.is_due(seconds):
            fades.begun(seconds)
            begun.append(seconds)
    assert len(begun) == PASSES
    assert begun[0] == 2.0
    assert AGAIN <= begun[1] - begun[0] < AGAIN + 0.021


def test_the_next_fade_is_decoded_at_once() -> None:
    fades = FadePasses()
    fades.begun(2.0)
    assert not fades.is_due(2.04)
    fades.rose()
    assert fades.is_due(2.04)


def test_the_first_sounds_are_too_short_to_decode() -> None:
    assert not FadePasses().is_due(LEAST_AUDIO - 0.01)
    assert FadePasses().is_due(LEAST_AUDIO)
