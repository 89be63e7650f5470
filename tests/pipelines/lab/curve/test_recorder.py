"""What is recorded of real detectors on the samples, whose labels are exact."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count, pairwise

import pytest

from pipelines.lab.curve.recorded import STEP, Clip, MessageRun, Silence
from pipelines.lab.curve.recorder import record
from pipelines.lab.curve.word_times import WordAligner, spread
from pipelines.lab.scripted.spoken_words import Word
from tests.pipelines.lab.curve.rig import recorded, sample
from voice.errors import ComponentError
from voice.turns.end_of_turn import JUDGE_AFTER
from voice.turns.smart_turn import SmartTurn, SmartTurnVerdict


def clip(folder: str, turn: int) -> Clip:
    return recorded(folder, turn).clips[0]


def test_a_labelled_pause_and_the_end_are_found_where_the_labels_say() -> None:
    paused = clip("pauses", 1)
    assert paused.pauses == pytest.approx([0.9])
    pause = next(silence for silence in paused.silences if silence.kind == "pause")
    end = paused.silences[-1]
    assert (pause.pause, end.kind, end.resumed) == (0, "end", None)
    assert pause.began == pytest.approx(paused.speech[0][1], abs=0.15)
    assert pause.counted == pytest.approx(0.9, abs=0.15)
    assert end.began == pytest.approx(paused.end, abs=0.15)
    assert end.pauses == (pause.counted,)


def test_the_words_before_a_pause_are_those_spoken_before_it() -> None:
    paused = clip("pauses", 1)
    assert paused.alignment == "forced"
    pause, end = (next(one for one in paused.silences if one.kind == kind) for kind in ("pause", "end"))
    assert pause.text
    assert end.text == paused.text
    assert end.text.startswith(pause.text)
    assert 0 < pause.words < end.words
    assert pause.rate is not None
    assert 1 < pause.rate < 8


def test_smart_turn_is_asked_as_long_as_the_silence_lasts() -> None:
    paused = clip("pauses", 1)
    for silence in paused.silences:
        afters = [asked.after for asked in silence.asked]
        assert all(before < after for before, after in pairwise(afters))
        assert all(after <= silence.counted + STEP for after in afters)
    end = paused.silences[-1]
    assert len(end.asked) == 7
    assert end.asked[0].after == pytest.approx(JUDGE_AFTER)
    assert end.sound(0.05) is None
    assert end.sound(0.1) == end.asked[0].probability
    assert end.sound(9) == end.asked[-1].probability


def test_the_speech_so_far_leaves_out_pauses() -> None:
    paused = clip("pauses", 1)
    spoken = sum(end - start for start, end in paused.speech)
    assert paused.silences[-1].speech == pytest.approx(spoken, abs=0.4)


def record_with(
    judge: Callable[[SmartTurn], Awaitable[SmartTurnVerdict | None]], monkeypatch: pytest.MonkeyPatch
) -> Clip:
    monkeypatch.setattr(SmartTurn, "judge", judge)
    (found,) = record([sample("pauses", 1)], inserted=False, progress=lambda done, of: None).clips
    return found


def test_a_verdict_that_comes_too_late_on_a_busy_machine_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, asked = SmartTurn.judge, count()

    async def late(smart_turn: SmartTurn) -> SmartTurnVerdict | None:
        return await usual(smart_turn) if next(asked) % 2 else None

    before = clip("pauses", 1)
    assert record_with(late, monkeypatch) == before


def test_a_detector_that_gives_no_verdict_at_all_is_a_failed_component(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_smart_turn: SmartTurn) -> None:
        return None

    with pytest.raises(ComponentError, match="Smart Turn gave no verdict in 10 attempts"):
        record_with(never, monkeypatch)


def silence(*runs: MessageRun, resumed: float | None = None) -> Silence:
    return Silence(
        kind="end", pause=None, began=0.0, stopped=0.2, resumed=resumed, counted=0.0, runs=runs, asked=(), spoken=1.0,
        speech=1.0, text="", pauses=(),
    )  # fmt: skip


def test_a_turn_ends_at_the_first_message_after_enough_silence() -> None:
    steady = silence(MessageRun(at=1.2, counted=0.2, messages=10, doubtful=False))
    assert steady.reached(0.1) == 1.2
    assert steady.reached(0.2) == 1.2
    assert steady.reached(0.201) == pytest.approx(1.216)
    assert steady.reached(0.2 + STEP) == pytest.approx(1.216)
    assert steady.reached(2.2) == pytest.approx(1.2 + 2.0), "a silence without an end goes on"


def test_no_turn_ends_while_the_sound_is_in_doubt_or_after_speech_goes_on() -> None:
    runs = (
        MessageRun(at=1.2, counted=0.2, messages=5, doubtful=False),
        MessageRun(at=1.28, counted=0.28, messages=2, doubtful=True),
        MessageRun(at=1.6, counted=0.312, messages=3, doubtful=False),
    )
    interrupted = silence(*runs, resumed=1.7)
    assert interrupted.reached(0.25) == pytest.approx(1.264)
    assert interrupted.reached(0.29) == 1.6
    assert interrupted.reached(0.5) is None


def test_words_that_the_dictionary_lacks_lie_between_their_neighbours_or_are_spread() -> None:
    turn = sample("pauses", 1).turns[0]
    words, alignment = WordAligner().align(turn)
    assert alignment == "forced"
    assert all(before.end <= after.start + 0.011 for before, after in pairwise(words))
    unknown = replace(turn, text=turn.text.replace(turn.text.split()[1], "xyzzy"))
    placed, alignment = WordAligner().align(unknown)
    assert alignment == "forced"
    assert [word.text for word in placed] == unknown.text.split()
    assert placed[1].start == placed[0].end
    assert placed[1].end == placed[2].start
    assert list(spread(["ab", "cd"], ((1.0, 2.0), (3.0, 4.0)))) == [Word("ab", 1.0, 2.0), Word("cd", 2.0, 4.0)]
