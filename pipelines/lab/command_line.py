"""Shared by the lab's commands: errors in one line, recordings, folders for results."""

import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from latency.command_line import INTERRUPTED, RUNS, complain
from latency.record.run import RunError
from voice.errors import AlreadyReported, ConfigurationError, VoiceError

if TYPE_CHECKING:
    from voice.client.fixtures.fixture import Fixture


def run(work: Callable[[], int]) -> int:
    """Run a command; returns its exit status, or that of the error that ended it, which is printed in one line."""
    try:
        return work()
    except AlreadyReported as error:
        return error.exit_code
    except (VoiceError, RunError) as error:
        complain("latency", str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("latency", "interrupted")
        return INTERRUPTED


def say(line: str) -> None:
    """Show a line on standard error."""
    print(line, file=sys.stderr, flush=True)


def recordings(names: Sequence[str]) -> "list[Fixture]":
    """The recordings with these names; without names, those of people.

    Raises:
        FixtureError, ConfigurationError: there are none, or they cannot be used.
    """
    from pipelines.samples import PEOPLE, installed
    from voice.client.fixtures.fixture import load_fixtures

    return load_fixtures(names or [installed(PEOPLE)])


def results_folder(out: str | None, command: str) -> Path:
    """The folder that `--out` names for the results, or a new one in runs/.

    Raises:
        ConfigurationError: it holds something already, or cannot be written.
    """
    from pipelines.replaying.run_folder import check_folder

    folder = Path(out) if out else RUNS / f"{command}-{datetime.now():%Y%m%d-%H%M%S}"
    check_folder(str(folder))
    refuse_filled(folder, "--out")
    return folder


def refuse_filled(folder: Path, option: str) -> None:
    """Refuse a folder that is not empty.

    Raises:
        ConfigurationError: it is not.
    """
    if folder.exists() and any(folder.iterdir()):
        thing = "folder" if option == "--out" else "file"
        raise ConfigurationError(f"{folder} is not empty; name another {thing} with {option}.")
