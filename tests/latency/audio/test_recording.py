import os
from pathlib import Path

import numpy as np
import pytest
import soundfile

from latency.audio.recording import RecordedTime, RecordingError, extent, read, write

STEREO = np.arange(64000, dtype=np.int16).reshape(-1, 2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(tmp_path / "call.wav", STEREO)
    return tmp_path / "call.wav"


def test_a_recording_is_read_as_it_was_written_and_nothing_else_is_left(path: Path) -> None:
    found = read(path)
    assert found is not None
    assert np.array_equal(found, STEREO)
    assert extent(path) == RecordedTime(2.0, 2.0)
    assert [one.name for one in path.parent.iterdir()] == ["call.wav"]


def test_a_truncated_recording_is_read_to_its_last_whole_sample(path: Path) -> None:
    for size in range(44, 44 + 13):
        os.truncate(path, size)
        found = read(path)
        assert found is not None
        assert np.array_equal(found, STEREO[: (size - 44) // 4])
        assert extent(path) == RecordedTime((size - 44) // 4 / 16000, 2.0)
        write(path, STEREO)


def test_a_recording_without_its_header_counts_as_missing(path: Path) -> None:
    os.truncate(path, 43)
    assert (extent(path), read(path)) == (None, None)


@pytest.mark.parametrize(
    ("rate", "channels", "subtype", "complaint"),
    [
        (16000, 1, "PCM_16", "1 channel"),
        (44100, 2, "PCM_16", "44100 Hz"),
        (16000, 2, "PCM_24", "24 bit"),
        (16000, 2, "FLOAT", "not a readable recording"),
    ],
)
def test_another_format_is_refused_with_its_name(
    rate: int, channels: int, subtype: str, complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / "other.wav"
    soundfile.write(path, np.zeros((1000, channels)), rate, subtype=subtype)
    with pytest.raises(RecordingError, match=f"other.wav .*{complaint}"):
        extent(path)


def test_a_file_that_is_no_wav_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "call.wav"
    path.write_text("what time is it" * 10)
    with pytest.raises(RecordingError, match="is not a readable recording"):
        read(path)


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF])
def test_a_recording_without_its_size_is_read_to_its_end(tmp_path: Path, size: int) -> None:
    path = tmp_path / "s.wav"
    stereo = np.arange(2000, dtype=np.int16).reshape(-1, 2)
    write(path, stereo)
    data = bytearray(path.read_bytes())
    data[40:44] = size.to_bytes(4, "little")
    path.write_bytes(bytes(data))
    found, there = read(path), extent(path)
    assert found is not None
    assert found.tolist() == stereo.tolist()
    assert there is not None
    assert there.there == 1000 / 16000
