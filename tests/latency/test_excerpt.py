import wave
from pathlib import Path

import numpy as np
import pytest

from latency.excerpt import ExcerptError, default_path, stretch_of, write_excerpt
from latency.record.turn import TurnRecord

STEREO = np.arange(2 * 16000 * 4, dtype=np.int16).reshape(-1, 2)


def turn(**values: object) -> TurnRecord:
    record = {"session": "two callers", "turn": 3, "wants_answer": False, "speech": [[5, 6]], **values}
    return TurnRecord.from_json(record)


@pytest.mark.parametrize(
    ("spoken", "following", "stretch"),
    [
        ([(6.5, 8.0)], None, (4.5, 8.5)),
        ([(6.5, 8.0), (8.5, 9.0), (12.0, 13.0)], 11.0, (4.5, 9.5)),
        ([(1.0, 4.0)], 9.0, (4.5, 6.5)),
        ([(1.0, 5.4)], 9.0, (4.5, 6.5)),
        ([(6.5, 30.0)], None, (4.5, 20.0)),
        ([], None, (4.5, 6.5)),
    ],
    ids=["answer", "answers until the next turn", "spoke before", "was interrupted", "to the end", "silent"],
)
def test_a_turn_is_its_speech_and_its_answers_with_a_margin(
    spoken: list[tuple[float, float]], following: float | None, stretch: tuple[float, float]
) -> None:
    assert stretch_of(turn(), spoken, following, 20.0) == stretch


def test_the_margin_ends_with_the_recording_and_noise_is_no_turn() -> None:
    assert stretch_of(turn(speech=[[0.2, 6]]), [], None, 6.1) == (0.0, 6.1)
    assert stretch_of(turn(speech=[]), [], None, 6.1) is None


def test_the_file_is_in_the_run_folder_and_named_after_session_and_turn() -> None:
    run = Path("runs/20261120-1703")
    assert default_path(run, turn(), several=True) == run / "two-callers-turn-3.wav"
    assert default_path(run, turn(), several=False) == run / "turn-3.wav"


def test_the_sound_is_that_of_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "turn.wav"
    write_excerpt(path, STEREO, (1.0, 2.5))
    with wave.open(str(path), "rb") as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, 16000)
        sound = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
    assert np.array_equal(sound, STEREO[16000:40000])
    assert [one.name for one in tmp_path.iterdir()] == ["turn.wav"]


def test_the_same_sound_is_left_as_it_is_and_any_other_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "turn.wav"
    write_excerpt(path, STEREO, (1.0, 2.0))
    before = path.read_bytes()
    write_excerpt(path, STEREO, (1.0, 2.0))
    with pytest.raises(ExcerptError, match=r"turn\.wav exists and holds something else; name another file with --wav"):
        write_excerpt(path, STEREO, (1.0, 2.1))
    assert path.read_bytes() == before
    path.write_text("notes of mine")
    with pytest.raises(ExcerptError, match="exists and holds something else"):
        write_excerpt(path, STEREO, (1.0, 2.0))
    assert path.read_text() == "notes of mine"


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ExcerptError, match="the audio cannot be written to .*: No such file or directory"):
        write_excerpt(tmp_path / "nowhere" / "turn.wav", STEREO, (1.0, 2.0))
