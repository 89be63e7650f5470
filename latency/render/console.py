"""A rich console that also suits a pipe: plain text of bounded width, and no exit status of its own."""

import os
import re
from io import TextIOWrapper
from typing import Any, TextIO

from rich.console import Console

PIPE_WIDTH = 120
"""Characters of a line that goes into a pipe or a file, unless the environment's COLUMNS says otherwise."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave a closed pipe to the caller; rich would exit with status 1, whatever the verdict."""
        raise

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as rich does, but end no line of plain text with blanks."""
        if self.is_terminal:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        self.file.write(re.sub(r" +$", "", captured.get(), flags=re.MULTILINE))


def console_for(file: TextIO) -> Console:
    """A console on a text stream; colours only in a terminal, and characters that the stream lacks replaced."""
    if isinstance(file, TextIOWrapper) and not is_unicode(file):
        # Transcripts may hold any character.
        file.reconfigure(errors="replace")
    width = None if file.isatty() else _pipe_width()
    return _Console(file=file, width=width, markup=False, emoji=False, highlight=False)


def is_unicode(file: TextIO) -> bool:
    """Whether a text stream takes any character."""
    return (getattr(file, "encoding", None) or "utf-8").lower().startswith("utf")


def _pipe_width() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else PIPE_WIDTH
