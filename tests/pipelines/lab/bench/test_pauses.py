"""Pauses put into made-up speech: bursts of noise with soft gaps between them, in room noise."""

import random
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pipelines.lab.bench.pauses import LONGEST, SHORTEST, insert_pause, pause_length, with_pauses, word_gaps
from voice.client.fixtures.fixture import Fixture, load_fixtures
from voice.client.sound.pcm import RATE
from voice.errors import FixtureError

WORDS = [(0.3, 1.2), (1.3, 2.0), (2.06, 3.0)]
ROOM = 20.0


def spoken(words: list[tuple[float, float]], folder: Path) -> Fixture:
    """A recording of words, with the label of one stretch of speech."""
    noise = np.random.default_rng(5)
    seconds = words[-1][1] + 0.3
    samples = noise.normal(0, ROOM, round(seconds * RATE))
    for start, end in words:
        samples[round(start * RATE) : round(end * RATE)] += noise.normal(
            0, 4000, round(end * RATE) - round(start * RATE)
        )
    folder.mkdir()
    soundfile.write(folder / "a.wav", samples.clip(-32768, 32767).astype(np.int16), RATE)
    (folder / "a.txt").write_text(f"{words[0][0]}\t{words[-1][1]}\tspeech\n")
    (fixture,) = load_fixtures([folder])
    return fixture


def test_gaps_between_words_are_found_the_longest_first(tmp_path: Path) -> None:
    (turn,) = spoken(WORDS, tmp_path / "in").turns
    gaps = word_gaps(turn)
    assert [pytest.approx(gap, abs=0.011) for gap in ((1.2, 1.3), (2.0, 2.06))] == gaps


def test_no_pause_goes_into_a_gap_near_the_edge_of_the_speech(tmp_path: Path) -> None:
    (turn,) = spoken([(0.3, 0.6), (0.7, 2.0), (2.1, 2.3)], tmp_path / "in").turns
    assert word_gaps(turn) == []


def test_a_pause_sounds_like_the_room_and_moves_what_follows(tmp_path: Path) -> None:
    (turn,) = spoken(WORDS, tmp_path / "in").turns
    gap = word_gaps(turn)[0]
    paused = insert_pause(turn, gap, 0.8, random.Random(1))
    assert len(paused.samples) == len(turn.samples) + round(0.8 * RATE)
    (first, second) = paused.speech
    assert first == (0.3, gap[0])
    assert second == (pytest.approx(gap[1] + 0.8), pytest.approx(3.8))
    before, behind = round((gap[0] - 0.01) * RATE), round((gap[1] + 0.8 + 0.01) * RATE)
    assert (paused.samples[:before] == turn.samples[:before]).all()
    assert (paused.samples[behind:] == turn.samples[behind - round(0.8 * RATE) :]).all()
    silence = paused.samples[round(first[1] * RATE) : round(second[0] * RATE)].astype(float)
    assert silence.std() == pytest.approx(ROOM, rel=0.3), "no dead line"
    assert np.abs(silence).max() < 8 * ROOM, "no click"


def test_each_copy_has_another_pause_and_the_same_seed_the_same_ones(tmp_path: Path) -> None:
    fixture = spoken(WORDS, tmp_path / "in")
    copies = load_fixtures([with_pauses([fixture], tmp_path / "out", copies=3)])
    again = load_fixtures([with_pauses([fixture], tmp_path / "again", copies=3)])
    turns = [turn for copy in copies for turn in copy.turns]
    assert len(copies) == len(turns) == 3
    pauses = [turn.speech[1][0] - turn.speech[0][1] for turn in turns]
    assert all(SHORTEST <= pause <= LONGEST + 0.11 for pause in pauses), "the pause and the gap it went into"
    assert len({round(pause, 3) for pause in pauses}) == 3
    assert all(turn.wants_answer and turn.truth == "labelled" for turn in turns)
    assert {turn.speaker for turn in turns} == {turn.speaker for turn in fixture.turns}
    assert [turn.sha256 for turn in turns] == [turn.sha256 for copy in again for turn in copy.turns]


def test_pauses_are_as_long_as_peoples() -> None:
    lengths = [pause_length((number + 0.5) / 1000) for number in range(1000)]
    longer = [sum(length > limit for length in lengths) / 1000 for limit in (0.3, 0.6, 1.0, 1.6, 2.5)]
    assert longer[:2] == [pytest.approx(0.556, abs=0.02), pytest.approx(0.217, abs=0.02)], "measured on 705 pauses"
    assert longer[2] <= 0.1
    assert longer[3] <= 0.05
    assert longer[4] == pytest.approx(0.013, abs=0.01)
    assert (pause_length(0.0), pause_length(1.0)) == (SHORTEST, pytest.approx(LONGEST))


def test_recordings_without_any_gap_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FixtureError, match="No recording has a gap between words"):
        with_pauses([spoken([(0.3, 2.0)], tmp_path / "in")], tmp_path / "out", copies=1)
