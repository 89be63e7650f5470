"""The file of a page: found unwritable before the work, replaced only if it is a page of ours, whole or not there."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from latency.record.run import RunError

HEAD = "<!doctype html>\n<!-- A report of Turnaround -->\n"
"""The beginning of every page, by which one of ours is known."""


def check_page(path: Path | None) -> None:
    """Find out whether a page, if one is asked for, can be written, before the work for it.

    Raises:
        RunError: Another file is there, or it cannot be written.
    """
    if path is None:
        return
    try:
        if path.exists() and not _is_page(path):
            raise RunError(f"{path} exists and is no page of ours; name another file with --html")
        _part(path).touch()
        _part(path).unlink()
    except OSError as error:
        raise _unwritable(path, error) from error


def write_page(path: Path, pieces: Iterable[str]) -> None:
    """Write a page and say so on standard error; the file appears only when it is complete.

    Args:
        pieces: Of its text; see `latency.page.document.document`.

    Raises:
        RunError: It cannot be written.
    """
    try:
        with _part(path).open("w", encoding="utf-8") as file:
            file.writelines(pieces)
        os.replace(_part(path), path)
    except OSError as error:
        _part(path).unlink(missing_ok=True)
        raise _unwritable(path, error) from error
    print(f"page written to {path} ({path.stat().st_size / 1e6:.1f} MB); open it in a browser", file=sys.stderr)


def _is_page(path: Path) -> bool:
    # A pipe would block, and a device would be replaced by a file.
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(HEAD)).startswith(HEAD.encode())


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def _unwritable(path: Path, error: OSError) -> RunError:
    return RunError(f"the page cannot be written to {path}: {error.strerror or error}")
