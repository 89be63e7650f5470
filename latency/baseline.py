"""Named baselines: runs that later ones are compared with.

A baseline is a copy of a run folder in `baselines/`, beside `runs/`, with its recordings: it survives the deletion of
the run, can be reported like any run, and can be kept by CI as an artifact.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from latency.command_line import FINE, RUNS, Parser, complain, log_to_stderr, printing
from latency.record.run import Run, RunError, newest
from latency.report.checks import Check

BASELINES = Path("baselines")
"""The folder of the baselines, in which a baseline's folder has its name."""
_NAME = re.compile(r"\w[\w.-]*")
_REPLACED = ".old-"
"""Begins the folder's name of a baseline that is being replaced."""


def main(argv: Sequence[str]) -> int:
    """Keep runs as named baselines; returns the exit status: 0 fine, 2 bad usage or no such baseline, 3 no run."""
    parser = Parser(
        prog="latency baseline",
        description="Keep runs under a name, in baselines/, to compare later ones with.",
        epilog="exit status: 0 fine, 2 bad usage or no such baseline, 3 no run",
    )
    save = parser.add_command("save", "copy a run and its recordings; a baseline of that name is replaced")
    save.add_argument("name", metavar="NAME")
    save.add_argument("run", nargs="?", type=Path, metavar="RUN", help="run folder (default: the newest in runs/)")
    parser.add_command("list", "list the baselines")
    parser.add_command("remove", "delete a baseline").add_argument("name", metavar="NAME")
    chosen = parser.parse_args(argv)
    log_to_stderr(verbose=chosen.verbose)
    try:
        with printing():
            if chosen.command == "save":
                print(f"{chosen.name}: {save_baseline(chosen.name, chosen.run)}")
            elif chosen.command == "remove":
                remove_baseline(chosen.name)
            else:
                if not names():
                    print(f"there is no baseline in {BASELINES}")
                for name in names():
                    print(f"{name}: {_described(BASELINES / name)}")
    except RunError as error:
        complain("latency", str(error))
        return error.exit_code
    return FINE


def names() -> list[str]:
    """The names of the baselines."""
    for kept in BASELINES.glob(f"{_REPLACED}*/run.json"):
        _restore(kept.parent.name.removeprefix(_REPLACED))
    return sorted(path.parent.name for path in BASELINES.glob("*/run.json") if _NAME.fullmatch(path.parent.name))


def folder_of(name: str) -> Path:
    """The folder of a baseline.

    Raises:
        RunError: There is none of that name, or it cannot be a name.
    """
    _check(name)
    _restore(name)
    if not (BASELINES / name / "run.json").is_file():
        known = f"there is {', '.join(names())}" if names() else f"save one with `latency baseline save {name}`"
        raise RunError(f'there is no baseline "{name}" in {BASELINES}; {known}')
    return BASELINES / name


def run_or_baseline(word: str) -> Path:
    """The run folder that a word names: a folder's path, or else a baseline's name."""
    return Path(word) if Path(word).exists() or not _NAME.fullmatch(word) else folder_of(word)


def baseline_for(checks: Sequence[Check], name: str | None) -> Path | None:
    """The folder of the baseline for the checks; None if none is named.

    Raises:
        RunError: There is no such baseline, or it cannot be read; or a check needs one that is not named, or none does.
    """
    relative = next((check.expr for check in checks if check.is_relative), None)
    if name is None and relative:
        raise RunError(f'"{relative}" needs a baseline; name one with --baseline (`latency baseline list`)')
    if name is None:
        return None
    if not relative:
        raise RunError(f'no check names the baseline "{name}"; add one such as --check "turn p50 <= 1.05 * baseline"')
    folder = folder_of(name)
    Run.load(folder)
    return folder


def save_baseline(name: str, run: Path | None = None) -> Path:
    """Copy a run, or the newest one, and return the folder; an earlier baseline is kept until the copy is complete.

    Raises:
        RunError: It cannot be a name, or not a whole run, or there is none; something else has that place, or it cannot
            be written.
    """
    _check(name)
    target, part, old = (BASELINES / f"{before}{name}" for before in ("", ".new-", _REPLACED))
    _refuse_link(target)
    if target.exists() and not (target / "run.json").is_file():
        raise RunError(f"{target} is no baseline and is left as it is; move it away, or choose another name")
    run = run or newest(RUNS)
    loaded = Run.load(run)
    missing = loaded.unrecorded and f"the recording of {', '.join(loaded.unrecorded)} is missing"
    if lost := loaded.lost or missing:
        raise RunError(f"{run} cannot be a baseline: {lost}; replay again", exit_code=3)
    wanted = {"run.json", "turns.jsonl", "load.json", *(session.wav for session in loaded.sessions)}
    with _changing(target):
        _restore(name)
        for left in (part, old):
            shutil.rmtree(left, ignore_errors=True)
        part.mkdir(parents=True)
        for path in run.iterdir():
            if path.name in wanted:
                shutil.copyfile(path, part / path.name)
        if target.exists():
            target.rename(old)
        part.rename(target)
    shutil.rmtree(old, ignore_errors=True)
    return target


def remove_baseline(name: str) -> None:
    """Delete a baseline; if it is interrupted, no half of it is left under the name.

    Raises:
        RunError: There is none of that name, it is a link, or it cannot be deleted.
    """
    target, gone = folder_of(name), BASELINES / f".gone-{name}"
    _refuse_link(target)
    with _changing(target):
        # A killed `save_baseline` may have left the replaced one, which would come back.
        for left in (gone, BASELINES / f"{_REPLACED}{name}"):
            shutil.rmtree(left, ignore_errors=True)
        target.rename(gone)
        shutil.rmtree(gone)


def _restore(name: str) -> None:
    """Give the name back to the replaced baseline if `save_baseline` was killed before the new one had it."""
    target, replaced = BASELINES / name, BASELINES / f"{_REPLACED}{name}"
    if (replaced / "run.json").is_file() and not os.path.lexists(target):
        replaced.rename(target)


def _refuse_link(target: Path) -> None:
    if target.is_symlink():
        raise RunError(f"{target} is a symbolic link, which is left as it is; delete it, or choose another name")


@contextmanager
def _changing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(f"{target} cannot be changed: {error.strerror or error}") from error


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise RunError(f'"{name}" cannot be the name of a baseline: use letters, digits, ".", "-" and "_"')


def _described(folder: Path) -> str:
    try:
        run = Run.load(folder)
    except RunError as error:
        return str(error)
    commit = f", commit {run.header.commit}" if run.header.commit else ""
    return f"{len(run.turns)} turns, {run.header.created}{commit}"
