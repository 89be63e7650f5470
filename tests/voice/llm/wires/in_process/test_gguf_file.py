"""Files are told to be GGUF, and named, by their beginning."""

from pathlib import Path

import pytest

from voice.errors import ComponentError
from voice.llm.wires.in_process.gguf_file import read_gguf


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    junk = tmp_path / "junk.gguf"
    junk.write_bytes(b"<html>not found</html>")
    with pytest.raises(ComponentError, match=r'is no GGUF file \(it does not begin with "GGUF"\)'):
        read_gguf(junk)
    with pytest.raises(ComponentError, match="There is no file"):
        read_gguf(tmp_path / "nothing.gguf")
    with pytest.raises(ComponentError, match="is a folder, and a language model in this process is a GGUF file"):
        read_gguf(tmp_path)


@pytest.mark.parametrize("length", [4, 20, 30, 60])
def test_a_file_that_ends_in_its_header_is_refused(length: int, tmp_path: Path) -> None:
    whole = b"GGUF" + (3).to_bytes(4, "little") + (1).to_bytes(8, "little") + (2).to_bytes(8, "little")
    for key, value in ((b"general.architecture", b"qwen2"), (b"general.name", b"scripted:gguf")):
        whole += len(key).to_bytes(8, "little") + key + (8).to_bytes(4, "little")
        whole += len(value).to_bytes(8, "little") + value
    file = tmp_path / "torn.gguf"
    file.write_bytes(whole)
    assert read_gguf(file).name == "scripted:gguf"
    file.write_bytes(whole[:length])
    with pytest.raises(ComponentError, match="damaged GGUF file"):
        read_gguf(file)


def test_a_file_has_its_name_in_the_table_or_else_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    header = b"GGUF" + (3).to_bytes(4, "little") + (0).to_bytes(8, "little") + (1).to_bytes(8, "little")
    for text in (b"general.name", b"qwen2.5 coder 0.5b instruct AWQ"):
        header += (
            len(text).to_bytes(8, "little") + text + ((8).to_bytes(4, "little") if text == b"general.name" else b"")
        )
    table = tmp_path / "turnaround" / "models" / "qwen2.5-coder-0.5b" / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    for file, name in ((table, "qwen2.5-coder-0.5b"), (tmp_path / "mine.gguf", "mine")):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(header)
        assert read_gguf(file).name == name
