from itertools import islice

import numpy as np
import pytest

from latency.audio.recording import RATE
from latency.selftest.planted import LINES, Call, calls


@pytest.fixture(scope="module")
def planted() -> dict[str, Call]:
    return {call.name: call for call in calls(5)}


def test_there_is_a_call_of_every_kind_that_could_mislead_a_measurement(planted: dict[str, Call]) -> None:
    others = {"hold phrase", "cut off", "barge in", "drop out"}
    assert set(planted) == set(LINES) | others
    assert all(call.hidden and call.turns for call in planted.values())


def test_gaps_are_random_and_no_two_are_equal(planted: dict[str, Call]) -> None:
    gaps = [one.seconds for call in planted.values() for one in call.hidden if one.figure == "latency"]
    assert len(set(gaps)) == len(gaps)
    assert any(abs(gap * 100 - round(gap * 100)) > 0.1 for gap in gaps)
    other = [one.seconds for call in islice(calls(6), 3) for one in call.hidden if one.figure == "latency"]
    assert not set(gaps) & set(other)


def test_a_clean_answer_begins_with_the_sample_that_was_hidden(planted: dict[str, Call]) -> None:
    call = planted["clean"]
    for turn, hidden in zip(call.turns, call.hidden, strict=True):
        assert turn.end is not None
        first = round((turn.end + hidden.seconds) * RATE)
        # The first samples of a fade-in round to nothing.
        assert not call.samples[first - RATE // 10 : first, 1].any()
        assert call.samples[first : first + RATE // 200, 1].any()


def test_lines_sound_as_their_names_say(planted: dict[str, Call]) -> None:
    def level(name: str, channel: int, first: float, end: float) -> float:
        part = planted[name].stereo[round(first * RATE) : round(end * RATE), channel]
        return float(10 * np.log10(np.mean(part**2) + 1e-12))

    assert level("noise 10 dB", 0, 0.0, 0.6) == pytest.approx(-30, abs=2)
    assert level("noise 20 dB", 0, 0.0, 0.6) == pytest.approx(-40, abs=2)
    assert level("comfort noise", 1, 0.0, 0.6) == pytest.approx(-52, abs=1)
    assert level("quiet voices", 0, 0.7, 1.7) == pytest.approx(-50, abs=2)
    assert level("clean", 1, 0.0, 0.6) < -100
    spectrum = np.abs(np.fft.rfft(planted["8 kHz"].stereo[:, 1]))
    assert spectrum[len(spectrum) // 2 + 200 :].max() < 0.01 * spectrum.max()


def test_only_calls_without_labels_are_estimated(planted: dict[str, Call]) -> None:
    estimated = {name for name, call in planted.items() for turn in call.turns if turn.truth == "estimated"}
    assert estimated == {name for name, line in LINES.items() if not line.labelled}
