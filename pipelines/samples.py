"""The recordings that come with the project."""

from pathlib import Path

from voice.errors import FixtureError

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
"""Conversations by synthesisers; an installed package does not contain them."""
PEOPLE = SAMPLES / "people"
"""Recordings of people. `pipelines.lab.fitted` lists those that endpointing was fitted to."""


def installed(folder: Path) -> Path:
    """A folder of these.

    Raises:
        FixtureError: it is not there.
    """
    if not folder.is_dir():
        raise FixtureError("The sample recordings are not installed; name a recording or a folder with some.")
    return folder
