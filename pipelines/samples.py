"""The recordings that come with the project."""

from pathlib import Path

from voice.errors import FixtureError

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
"""Conversations by synthesisers; an installed package comes without them."""
PEOPLE = SAMPLES / "people"
"""Recordings of people. `pipelines.lab.fitted` says to which of them endpointing was fitted."""


def installed(folder: Path) -> Path:
    """A folder of these.

    Raises:
        FixtureError: it is not there.
    """
    if not folder.is_dir():
        raise FixtureError("The sample recordings are not installed; name a recording or a folder with some.")
    return folder
