"""A rich console that behaves in a pipe: plain text of bounded width, and no opinion of its own about exit statuses."""

from io import TextIOWrapper
from typing import TextIO

from rich.console import Console

PIPE_WIDTH = 120


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave a reader that has gone to the caller; rich would exit with status 1 whatever the verdict."""
        raise


def console_for(file: TextIO) -> Console:
    """A console on a text stream; colours only when it is a terminal, and letters that it lacks replaced."""
    if isinstance(file, TextIOWrapper) and not is_unicode(file):
        # What was heard and said may hold any letter.
        file.reconfigure(errors="replace")
    width = None if file.isatty() else PIPE_WIDTH
    return _Console(file=file, width=width, markup=False, emoji=False, highlight=False)


def is_unicode(file: TextIO) -> bool:
    """Whether a text stream takes any character."""
    return (getattr(file, "encoding", None) or "utf-8").lower().startswith("utf")
