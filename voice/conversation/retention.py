"""Deletes transcripts that have been kept long enough."""

import re
from datetime import datetime, timedelta
from pathlib import Path

from loguru import logger

_NAME = re.compile(r"(\d{8}-\d{6})(?:-\d+)?\.txt")


def delete_expired(folder: Path, *, days: int, now: datetime) -> None:
    """Delete the transcripts of calls that began more than `days` days ago; other files stay.

    What cannot be deleted is logged.

    Args:
        folder: of the transcripts.
        days: how long they are kept.
        now: local time.
    """
    for path in folder.iterdir():
        began = _began(path.name)
        if began is None or began > now - timedelta(days=days):
            continue
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning(f"The transcript {path} is too old, and cannot be deleted: {error.strerror}.")


def _began(name: str) -> datetime | None:
    """When the call of a transcript began, by the file's name; None for another file."""
    named = _NAME.fullmatch(name)
    if named is None:
        return None
    try:
        return datetime.strptime(named[1], "%Y%m%d-%H%M%S")
    except ValueError:
        return None
