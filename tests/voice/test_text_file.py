"""Text files are read as editors save them: with byte order marks, in UTF-16, with other newlines."""

import codecs
from pathlib import Path

import pytest

from pipelines import settings
from voice.client.fixtures.fixture import load_fixtures
from voice.text_file import read_text

ROOT = Path(__file__).parents[2]
LABELS = "0.3\t1.7\tspeech\n"
SAVED = {
    "plain": LABELS.encode(),
    "mark": codecs.BOM_UTF8 + LABELS.encode(),
    "utf-16": LABELS.encode("utf-16"),
    "utf-16 big": codecs.BOM_UTF16_BE + LABELS.encode("utf-16-be"),
    "utf-32": LABELS.encode("utf-32"),
    "crlf": codecs.BOM_UTF8 + LABELS.replace("\n", "\r\n").encode(),
    "cr": LABELS.replace("\n", "\r").encode(),
}


@pytest.mark.parametrize("saved", SAVED.values(), ids=SAVED.keys())
def test_encodings_of_labels(tmp_path: Path, saved: bytes) -> None:
    (tmp_path / "a.wav").write_bytes((ROOT / "samples" / "tour" / "01.wav").read_bytes())
    (tmp_path / "a.txt").write_bytes(saved)
    assert read_text(tmp_path / "a.txt") == LABELS
    (turn,) = load_fixtures([tmp_path])[0].turns
    assert (turn.speech, turn.truth) == (((0.3, 1.7),), "labelled")


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        (b"0.3\t1.7\tspeech\nG\xe4ste", "line 2 is not UTF-8 text; save the file as UTF-8"),
        (LABELS.encode("utf-16-le"), "line 1 holds a NUL character; save the file as UTF-8 text"),
        (LABELS.encode() + b"\0", "line 2 holds a NUL character"),
        (LABELS.encode("utf-16")[:-1], "line 1 is not UTF-16-LE text"),
    ],
)
def test_what_is_no_text(tmp_path: Path, saved: bytes, said: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(saved)
    with pytest.raises(UnicodeError, match=said):
        read_text(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings_of_pipelines(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "mine.toml"
    text = (ROOT / "pipelines" / "presets" / "embedded.toml").read_text(encoding="utf-8")
    path.write_bytes(text.replace("\n", "\r\n").encode(encoding))
    assert settings.load(str(path)).name == "mine"
