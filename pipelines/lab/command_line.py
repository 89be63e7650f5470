"""Shared by the lab's commands: progress, recordings, folders for results."""

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from latency.command_line import RUNS
from voice.errors import ConfigurationError

if TYPE_CHECKING:
    from voice.client.fixtures.fixture import Fixture


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
