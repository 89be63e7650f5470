import hashlib
import json
import os
import pty
import re
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from voice.asr.weights import cached, from_folder, resolve
from voice.errors import ComponentError, ConfigurationError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "Systran/faster-whisper-tiny.en"
OFFLINE = (
    "copy its folder from another machine and set VOICE_WHISPER_DIR=/path/to/folder or "
    'asr.model = "/path/to/folder", or use the embedded pipeline, which needs no download.'
)
# Runs apart from the tests, because huggingface_hub reads HF_ENDPOINT and its folders when it is imported.
PROGRAM = """
import dataclasses, json, sys
from voice.asr.weights import cached, resolve
from voice.errors import VoiceError
try:
    found = dataclasses.asdict(resolve(sys.argv[1]))
except VoiceError as error:
    found = {"error": type(error).__name__, "sentence": str(error)}
print(json.dumps(found | {"cached": str(cached(sys.argv[1]))}, default=str))
"""


@dataclass
class Hub:
    """A hub with one repository on loopback, with the parts of its interface that a download uses."""

    files: dict[str, bytes]
    large: set[str] = field(default_factory=lambda: {"model.bin"})
    announced: dict[str, str] = field(default_factory=dict)
    """Digests to announce in place of the true ones."""
    broken: set[str] = field(default_factory=set)
    """Files that the server fails to send."""
    fetched: list[str] = field(default_factory=list)
    url: str = ""

    def digest(self, name: str) -> str:
        content = self.files[name]
        if name in self.large:
            return self.announced.get(name, hashlib.sha256(content).hexdigest())
        return self.announced.get(name, hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest())

    def information(self) -> dict[str, Any]:
        siblings = []
        for name, content in self.files.items():
            entry: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": self.digest(name)}
            if name in self.large:
                entry["lfs"] = {"sha256": self.digest(name), "size": len(content), "pointerSize": 130}
            siblings.append(entry)
        return {"id": REPOSITORY, "modelId": REPOSITORY, "sha": COMMIT, "siblings": siblings, "tags": []}


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub(
        {
            "README.md": b"not fetched",
            "config.json": b"{}",
            "tokenizer.json": b'{"version": "1.0"}',
            "vocabulary.txt": b"a\nb\n",
            "model.bin": bytes(range(256)) * 8000,
        }
    )

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(b"", with_body=False)

        def do_GET(self) -> None:
            self.answer(b"", with_body=True)

        def answer(self, body: bytes, *, with_body: bool) -> None:
            path = self.path.partition("?")[0]
            headers = {"X-Repo-Commit": COMMIT}
            status = 404
            if path == f"/api/models/{REPOSITORY}/revision/main":
                status, body = 200, json.dumps(hub.information()).encode()
                headers["Content-Type"] = "application/json"
            elif path.startswith(f"/api/models/{REPOSITORY}"):
                headers["X-Error-Code"] = "RevisionNotFound"
            elif match := re.fullmatch(rf"/{REPOSITORY}/resolve/{COMMIT}/(.+)", path):
                name = match[1]
                status, body = (403, b"") if name in hub.broken else (200, hub.files[name])
                headers["ETag"] = f'"{hub.digest(name)}"'
                if with_body:
                    hub.fetched.append(name)
            else:
                headers["X-Error-Code"] = "RepoNotFound"
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield hub
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def unreachable() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


Resolve = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture
def resolve_at(tmp_path: Path) -> Resolve:
    """Resolves in a new process, with a hub cache of the test's own; gives what it printed on stdout and stderr."""

    def resolve_at(
        endpoint: str, model: str = "tiny.en", *, terminal: bool = False, **environment: str
    ) -> tuple[dict[str, Any], str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))}
        hub = {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_DISABLE_TELEMETRY": "1"}
        ours, theirs = pty.openpty() if terminal else (None, subprocess.PIPE)
        if ours is not None:
            termios.tcsetwinsize(ours, (24, 120))
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, model],
            env=inherited | hub | environment,
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=120,
        )
        shown = done.stderr
        if ours is not None:
            os.close(theirs)
            shown = os.read(ours, 100_000)
            os.close(ours)
        assert done.returncode == 0, shown
        return json.loads(done.stdout), shown.decode()

    return resolve_at


def kept(tmp_path: Path) -> set[str]:
    """Names of the files that the cache holds as parts of a snapshot."""
    return {path.name for path in (tmp_path / "hub").glob("hub/models--*/snapshots/*/*")}


def test_a_model_is_downloaded_checked_and_named_with_its_commit(hub: Hub, resolve_at: Resolve) -> None:
    found, _ = resolve_at(hub.url)
    folder = Path(found["path"])
    assert (found["name"], found["revision"]) == ("tiny.en", COMMIT)
    assert {path.name for path in folder.iterdir()} == {"config.json", "tokenizer.json", "vocabulary.txt", "model.bin"}
    assert (folder / "model.bin").read_bytes() == hub.files["model.bin"]


@pytest.mark.parametrize("terminal", [False, True])
def test_the_download_shows_its_source_size_and_progress_on_stderr(
    hub: Hub, resolve_at: Resolve, terminal: bool
) -> None:
    _, shown = resolve_at(hub.url, terminal=terminal)
    assert f"Downloading Whisper model tiny.en ({REPOSITORY}, 2.0 MB) from {hub.url}" in shown
    assert "checksums verified" in shown
    assert bool(re.search(r"model\.bin.*100%", shown)) == terminal


def test_a_copy_in_the_cache_needs_no_network(hub: Hub, resolve_at: Resolve, unreachable: str) -> None:
    first, _ = resolve_at(hub.url)
    second, shown = resolve_at(unreachable)
    assert second == first
    assert second["cached"] == second["path"]
    assert "Downloading" not in shown


@pytest.mark.parametrize("damaged", ["model.bin", "tokenizer.json"])
def test_a_wrong_checksum_is_an_error_and_the_file_is_not_kept(
    hub: Hub, resolve_at: Resolve, tmp_path: Path, damaged: str
) -> None:
    hub.announced[damaged] = "0" * (64 if damaged in hub.large else 40)
    found, _ = resolve_at(hub.url)
    assert found["error"] == "ComponentError"
    assert f"arrived damaged: {damaged} has not the hub's checksum and was deleted; {OFFLINE}" in found["sentence"]
    assert found["cached"] == "None"
    assert damaged not in kept(tmp_path)
    assert not [path for path in (tmp_path / "hub").rglob("*") if path.name == hub.announced[damaged]]


def test_a_download_that_failed_is_no_model_and_can_be_taken_up_again(
    hub: Hub, resolve_at: Resolve, tmp_path: Path
) -> None:
    hub.broken.add("model.bin")
    found, _ = resolve_at(hub.url)
    assert found["error"] == "ComponentError"
    assert OFFLINE in found["sentence"]
    assert found["cached"] == "None"
    assert "tokenizer.json" in kept(tmp_path)
    hub.broken.clear()
    hub.fetched.clear()
    found, _ = resolve_at(hub.url)
    assert found["cached"] == found["path"]
    assert hub.fetched == ["model.bin"]


def test_files_that_were_never_checked_are_no_model(hub: Hub, resolve_at: Resolve, tmp_path: Path) -> None:
    """As after a power failure between the download and the check."""
    found, _ = resolve_at(hub.url)
    reference = Path(found["path"]).parents[1] / "refs" / "main"
    assert reference.read_text() == COMMIT
    reference.unlink()
    assert kept(tmp_path) >= {"model.bin", "tokenizer.json"}
    (Path(found["path"]) / "model.bin").resolve().write_bytes(b"cut")
    found, _ = resolve_at(hub.url)
    assert "arrived damaged: model.bin" in found["sentence"]


def test_a_refused_connection_names_the_host_and_the_ways_without_it(resolve_at: Resolve, unreachable: str) -> None:
    found, _ = resolve_at(unreachable)
    assert found["error"] == "ComponentError"
    assert found["sentence"].startswith(f"Whisper model tiny.en cannot be downloaded from {unreachable}: ")
    assert "refused" in found["sentence"]
    assert found["sentence"].endswith(OFFLINE)
    assert "\n" not in found["sentence"]


def test_an_unknown_repository_is_said_to_be_unknown(hub: Hub, resolve_at: Resolve) -> None:
    found, _ = resolve_at(hub.url, "nobody/nothing")
    assert found["error"] == "ComponentError"
    assert "there is no such repository, or it is private; " + OFFLINE in found["sentence"]


def test_the_hubs_own_offline_switch_is_named(hub: Hub, resolve_at: Resolve) -> None:
    found, _ = resolve_at(hub.url, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE is set; " + OFFLINE in found["sentence"]


def test_a_repository_of_another_kind_is_a_wrong_setting(hub: Hub, resolve_at: Resolve) -> None:
    del hub.files["model.bin"]
    found, _ = resolve_at(hub.url)
    assert found["error"] == "ConfigurationError"
    assert "as it lacks model.bin" in found["sentence"]


def model_folder(path: Path, config: str = "{}") -> Path:
    path.mkdir()
    for name in ("tokenizer.json", "vocabulary.json", "model.bin"):
        (path / name).write_bytes(b"x")
    (path / "config.json").write_text(config)
    return path


def test_a_local_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "mine")
    found = resolve(str(folder))
    assert (found.name, found.revision, found.path) == ("mine", None, folder)


def test_a_folder_that_names_itself_keeps_its_name(tmp_path: Path) -> None:
    assert from_folder(model_folder(tmp_path / "mine", '{"name": "scripted:whisper"}')).name == "scripted:whisper"


def test_the_sentence_names_what_a_folder_lacks(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "mine")
    (folder / "model.bin").unlink()
    (folder / "vocabulary.json").unlink()
    with pytest.raises(ConfigurationError, match="it lacks model.bin, vocabulary.json or vocabulary.txt; copy"):
        resolve(str(folder))


def test_a_damaged_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"config\.json is not JSON"):
        resolve(str(model_folder(tmp_path / "mine", "{")))


def test_a_path_without_a_folder_is_not_looked_for_on_the_hub(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="There is no folder"):
        resolve(str(tmp_path / "absent"))


@pytest.mark.parametrize("name", ["enormous", "a/b/c", ""])
def test_a_name_that_cannot_be_a_model_is_answered_with_the_names_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"names no Whisper model: use tiny\.en, tiny, base\.en"):
        resolve(name, cache_dir=tmp_path)


def test_an_empty_cache_holds_no_model(tmp_path: Path) -> None:
    assert cached("tiny.en", cache_dir=tmp_path) is None


def test_errors_carry_the_exit_codes_of_their_remedies() -> None:
    assert (ConfigurationError.exit_code, ComponentError.exit_code) == (2, 4)
